"""The command: reads the facts, and shows them as lines or as one document."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from msgspec import Struct

from takara_sync import __version__
from takara_sync.cli import check
from takara_sync.cli.connect import api_of, cluster_of
from takara_sync.cli.installed import leftovers
from takara_sync.cli.render import fitted, show
from takara_sync.cli.screen import screen
from takara_sync.cli.settings import Settings
from takara_sync.cli.status import detail, overview
from takara_sync.cli.status.copies import CopyDocument, copies
from takara_sync.cli.status.reads import Reader, UncheckedDocument
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.desired import selector_text
from takara_sync.errors import ConfigurationError, ObjectError, TakaraSyncError
from takara_sync.report import ErrorDocument, Exit, error_document
from takara_sync.sync import utcnow
from takara_sync.text import one_line, rfc3339

log = logging.getLogger("takara_sync")


class StatusDocument(Struct, frozen=True, rename="camel"):
    """The status. `exit` is the exit code. `using`: the kubeconfig, the context and the address. `version`: of this
    takara-sync. `unchecked`: what the caller may not read, or what the server does not serve. Either `overview` or
    `takara` is not null, unless there is an error."""

    schema: Literal["takara-sync/status/v1"]
    exit: int
    error: ErrorDocument | None
    time: str
    using: str
    server: str
    version: str
    unchecked: tuple[UncheckedDocument, ...]
    overview: overview.OverviewDocument | None
    takara: detail.DetailDocument | None


def run(settings: Settings, stop: Stop) -> Exit:
    """Print the status; 0 if the server could be read, whatever it says, and 1 if there is no such Takara.

    Raises:
        ConfigurationError: there are no usable credentials, or more than one NAME.
    """
    if len(settings.name) > 1:
        raise ConfigurationError("status shows one Takara", "Give one NAME, or none for all of it.")
    api = api_of(settings, stop)
    reader, now = Reader(api, stop.watch(Deadline(settings.pass_timeout))), utcnow()
    server, whole, one, error = "", None, None, None
    try:
        server = check.server_version(api, reader.deadline)
        if settings.name:
            one = _detail(reader, settings)
        else:
            whole = _overview(reader, settings, now)
    except TakaraSyncError as failed:
        error = failed
        log.error("the status could not be read: %s", error, extra={"reported": True})  # noqa: TRY400 - expected
    screen().finish()
    code = Exit(error.exit_code) if error else Exit.OK
    document = StatusDocument(
        "takara-sync/status/v1",
        int(code),
        error_document(error),
        rfc3339(now),
        one_line(api.source),
        one_line(server),
        __version__,
        tuple(reader.unchecked),
        whole,
        one,
    )
    show(document, settings.output, _lines(document, now), error)
    return code


def _overview(reader: Reader, settings: Settings, now: datetime) -> overview.OverviewDocument:
    cluster = cluster_of(settings, reader.api)
    found = copies(reader, settings.namespace, now)
    listed = reader.attempt("Takaras", lambda: cluster.takaras(reader.deadline))
    takaras = None if listed is None else overview.takaras_document(listed.items)
    rights = tuple(_rights(reader, settings, found or ()))
    installed = tuple(_install(reader)) if found else ()
    steps = tuple(overview.next_steps(found, takaras))
    return overview.OverviewDocument(found, takaras, rights, installed, steps)


def _install(reader: Reader) -> Iterator[check.CheckedDocument]:
    """What `check` finds about the installed copies."""
    for proof in reader.attempt("the install", lambda: list(leftovers(reader.api, reader.deadline))) or ():
        if proof.ok is None:
            reader.unchecked.append(UncheckedDocument(proof.what, proof.detail))
        else:
            yield check.CheckedDocument(proof.what, proof.ok, proof.detail)


def _rights(reader: Reader, settings: Settings, copies: Sequence[CopyDocument]) -> Iterator[overview.RightsDocument]:
    """The rights of the account of each copy, and those of the caller, as `check` asks for them."""
    for copy in copies:
        account, name = (copy.namespace, copy.account), f"{copy.namespace}/{copy.account}"
        needed = check.rights_of(copy.watches, name)
        found = _checked(reader, f"the rights of ServiceAccount {name}", needed, settings, account)
        yield from [] if found is None else [overview.RightsDocument(name, found)]
    found = _checked(reader, "your rights", check.rights_of(settings.namespace, None), settings, None)
    yield from [] if found is None else [overview.RightsDocument("", found)]


def _checked(
    reader: Reader,
    what: str,
    rights: Sequence[tuple[check.Right, str]],
    settings: Settings,
    account: tuple[str, str] | None,
) -> tuple[check.CheckedDocument, ...] | None:
    return reader.attempt(
        what, lambda: check.check_rights(reader.api, reader.deadline, rights, settings.concurrency, account)
    )


def _detail(reader: Reader, settings: Settings) -> detail.DetailDocument:
    """Raises ObjectError: the Takara is malformed. PassStopped: there is none, or Takaras cannot be listed."""
    cluster = cluster_of(settings, reader.api)
    listed = cluster.takaras(reader.deadline)
    for why in listed.unread.values():
        raise ObjectError(f"Takara {settings.name[0]} cannot be read: {why}")
    (takara,) = listed.items
    key = takara.key
    space = quote(key.namespace, safe="")
    deployments = reader.attempt("the Deployment", lambda: (cluster.deployment(key, reader.deadline),))
    pods = reader.attempt(
        "pods",
        lambda: reader.items(
            f"/api/v1/namespaces/{space}/pods", detail.PodAndStatus, labelSelector=selector_text(key.name)
        ),
    )
    events = reader.attempt(
        "events",
        lambda: reader.items(
            f"/apis/events.k8s.io/v1/namespaces/{space}/events",
            detail.Event,
            fieldSelector=f"regarding.uid={takara.uid}",
        ),
    )
    deployment = deployments[0] if deployments else None
    return detail.document(takara, deployment, pods, events, checked=deployments is not None)


def _lines(document: StatusDocument, now: datetime) -> Iterator[str]:
    yield fitted(f"using    {document.using}", indent=9)
    yield fitted(f"server   {document.server or 'not reached'}, at {document.time}", indent=9)
    part = document.overview or document.takara
    if isinstance(part, overview.OverviewDocument):
        yield from overview.lines(part, now)
    elif part is not None:
        yield from detail.lines(part, now)
    if document.unchecked:
        yield ""
        yield "Not checked"
        yield from (fitted(f"  {each.what}: {each.why}", indent=4) for each in document.unchecked)
    if part is not None:
        yield ""
        yield "Next"
        yield from (fitted(f"  {step}", indent=4) for step in part.next or ("Nothing to do.",))
