"""`takara-sync adopt`: make Takaras the controllers of Deployments that exist already. A person decides that."""

from __future__ import annotations

import logging
import select
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from takara_sync.adoption import Declined, Offer
from takara_sync.cli.adopter import Adopter
from takara_sync.cli.connect import api_of, cluster_of, policy_of
from takara_sync.cli.plan import PlannedDocument, planned_document
from takara_sync.cli.render import fitted, show, style, write
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError, CutShort, PassStopped, TakaraSyncError
from takara_sync.objects import Key
from takara_sync.report import ErrorDocument, Exit, describe, error_document
from takara_sync.sync import utcnow
from takara_sync.text import one_line

log = logging.getLogger("takara_sync")

Action = Literal["adopt", "adopted", "keep", "refused", "failed"]

_WORDS: dict[Action, tuple[str, str, str]] = {
    "adopt": ("+", "yellow", "to adopt"),
    "adopted": ("+", "green", "adopted"),
    "keep": (" ", "", "unchanged"),
    "refused": ("!", "red", "refused"),
    "failed": ("!", "red", "failed"),
}
"""The mark and colour of a line, and the words of the last line, in this order."""
_GLANCE_SECONDS = 0.1  # how soon a signal ends the question


# ------------------------------------------------------------------ the form of -o json (docs/adopt.schema.json)


class Owner(Struct, frozen=True):
    """The owner reference that the Deployment gets: of its Takara, as the controller."""

    kind: str
    name: str
    uid: str


class AdoptedDocument(Struct, frozen=True):
    """One Deployment, and its Takara of the same name.

    `action`: `adopt` was shown only, `adopted` was done. `next`: what the next pass does after an adoption, as in the
    output of plan. `warnings`: other tools that may manage the Deployment.
    """

    namespace: str
    name: str
    action: Action
    why: str = ""
    owner: Owner | None = None
    next: PlannedDocument | None = None
    warnings: tuple[str, ...] = ()


class AdoptDocument(Struct, frozen=True):
    """Every Deployment. `exit` is the exit code, `using` the kubeconfig, its context and the server."""

    schema: Literal["takara-sync/adopt/v1"]
    exit: int
    error: ErrorDocument | None
    using: str
    deployments: tuple[AdoptedDocument, ...]


# ------------------------------------------------------------------ the command


def run(settings: Settings, stop: Stop) -> Exit:
    """Show what would be adopted, ask, and do it. 1 if something failed or was not done, 6 if something is refused.

    Raises:
        ConfigurationError: there are no usable credentials, or the arguments do not fit together.
    """
    _check(settings)
    api = api_of(settings, stop)
    deadline = stop.watch(Deadline(settings.pass_timeout))
    adopter = Adopter(cluster_of(settings, api), policy_of(settings), deadline, settings.concurrency)
    text, done, error = settings.output != "json", list[Offer | Declined](), None
    documents: tuple[AdoptedDocument, ...] = ()
    try:
        keys = list(dict.fromkeys(_key(name, settings.namespace) for name in settings.name))
        found = adopter.restored() if settings.restored else adopter.named(keys)
        documents = tuple(_document(each) for each in found)
        if text:
            write("".join(f"{line}\n" for line in (fitted(f"using: {one_line(api.source)}"), *_preview(documents))))
        offers = [each for each in found if isinstance(each, Offer)]
        if offers and _agreed(settings, len(offers), stop):
            adopter = adopter._replace(deadline=stop.watch(Deadline(settings.pass_timeout)))
            done = adopter.adopt(offers)
            documents = _merged(documents, done)
    except (PassStopped, ConfigurationError) as stopped:
        error = stopped
    code = _exit(documents, error)
    document = AdoptDocument("takara-sync/adopt/v1", int(code), error_document(error), api.source, documents)
    show(document, settings.output, _results(documents) if done else (), error)
    return code


def _key(name: str, namespaces: Sequence[str]) -> Key:
    """The key of NAME or NAMESPACE/NAME."""
    namespace, _, rest = name.rpartition("/")
    return Key(namespace or namespaces[0], rest)


def _check(settings: Settings) -> None:
    """Raises ConfigurationError."""
    usage = "takara-sync adopt NAME... -n NAMESPACE, or takara-sync adopt --restored"
    if bool(settings.name) == settings.restored:
        what = "adopt takes names or --restored, not both" if settings.name else "adopt needs a name"
        raise ConfigurationError(what, f"Write {usage}.")
    if len(settings.namespace) != 1 and not all("/" in name for name in settings.name):
        raise ConfigurationError("adopt needs the one namespace of these names", f"Write {usage}.")
    if settings.name and settings.selector:
        raise ConfigurationError("--selector chooses among --restored, not among names", f"Write {usage}.")
    if settings.restored and settings.yes == "any":
        hint = "Run it without --yes first: it shows the Deployments and their number."
        raise ConfigurationError("adopt --restored needs --yes=COUNT", hint)


def _exit(documents: Sequence[AdoptedDocument], error: TakaraSyncError | None) -> Exit:
    actions = {each.action for each in documents}
    if error is not None:
        return Exit(error.exit_code)
    if actions & {"failed", "adopt"}:
        return Exit.FAILED
    return Exit.BLOCKED if "refused" in actions else Exit.OK


def _agreed(settings: Settings, count: int, stop: Stop) -> bool:
    """Whether a person agreed to adopt so many Deployments.

    Raises:
        ConfigurationError: the number is another one, or there is nobody to ask.
        CutShort: a signal ended the question.
    """
    them = f"{count} Deployment{'' if count == 1 else 's'}"
    if settings.yes not in (None, "any", count):
        raise ConfigurationError(f"{them} would be adopted, not {settings.yes}; none was", "Look at them again.")
    if settings.yes is not None:
        return True
    if settings.output == "json" or not sys.stdin.isatty():
        hint = f"Give --yes={count}." if settings.restored else "Give --yes."
        raise ConfigurationError(f"There is no terminal to ask on, so nothing was adopted: {them}", hint)
    sys.stderr.write(f"Adopt {them}? [y/N] ")
    sys.stderr.flush()
    while not select.select([sys.stdin], [], [], _GLANCE_SECONDS)[0]:
        if stop.asked:
            raise CutShort("Nothing was adopted: a signal ended the question", "Run the command again.")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# ------------------------------------------------------------------ the document


def _document(each: Offer | Declined) -> AdoptedDocument:
    if isinstance(each, Declined):
        return AdoptedDocument(*each.key, each.action, each.why)
    owner = Owner("Takara", each.takara.metadata.name, each.takara.uid)
    return AdoptedDocument(*each.key, "adopt", "", owner, planned_document(each.next, utcnow()), each.warnings)


def _merged(shown: Sequence[AdoptedDocument], done: Sequence[Offer | Declined]) -> tuple[AdoptedDocument, ...]:
    """The documents after the writes."""
    results = {each.key: each for each in done}

    def after(document: AdoptedDocument) -> AdoptedDocument:
        result = results.get(Key(document.namespace, document.name))
        if isinstance(result, Declined):
            return structs.replace(document, action=result.action, why=result.why)
        return document if result is None else structs.replace(document, action="adopted")

    return tuple(map(after, shown))


# ------------------------------------------------------------------ in words


def _preview(documents: Sequence[AdoptedDocument]) -> Iterator[str]:
    for document in documents:
        yield _line(document)
        if document.next is not None:
            for change in document.next.changes:
                yield "    " + fitted(describe(change), indent=4)
        for warning in document.warnings:
            yield "    " + style(fitted(one_line(f"warning: {warning}"), indent=4), "yellow")
    yield _counts(documents)
    if any(document.action == "adopt" for document in documents):
        yield fitted("After that, deleting one of these Takaras deletes its Deployment.")


def _results(documents: Sequence[AdoptedDocument]) -> Iterator[str]:
    yield from (_line(document) for document in documents if document.action == "failed")
    yield _counts(documents)


def _line(document: AdoptedDocument) -> str:
    mark, colour, _ = _WORDS[document.action]
    what = document.why
    if document.action == "adopt" and document.owner and document.next:
        owner = f"controller: {document.owner.kind} {document.owner.name} (uid {document.owner.uid})"
        what = f"{owner}; next pass: {_next(document.next)}"
    line = f"{document.namespace}/{document.name}: {document.action}  {one_line(what)}"
    return f"{style(mark, colour)} {fitted(line, indent=2)}"


def _next(planned: PlannedDocument) -> str:
    rollout = "a rollout follows" if planned.rollout else "no rollout"
    return ", ".join(filter(None, (planned.action, planned.why, rollout)))


def _counts(documents: Sequence[AdoptedDocument]) -> str:
    counts = Counter(document.action for document in documents)
    counted = [f"{counts[action]} {words}" for action, (*_, words) in _WORDS.items() if counts[action]]
    return fitted(f"adopt: {', '.join(counted) or 'no Deployment to adopt'}")
