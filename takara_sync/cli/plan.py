"""`takara-sync plan`: what a pass would do, and who made it necessary."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import msgspec

from takara_sync.changes import Change
from takara_sync.cli.connect import api_of, cluster_of, policy_of
from takara_sync.cli.documents import Action, PlanDocument, PlannedDocument
from takara_sync.cli.output import json_line, write
from takara_sync.cli.render import fitted, style_of
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cluster import Cluster, Deadline
from takara_sync.errors import ObjectError, PassStopped
from takara_sync.objects import Key
from takara_sync.plan import Apply, Block, Create, Decision, Keep, Plan
from takara_sync.reasons import INVALID, one_line
from takara_sync.report import Exit, describe, error_document
from takara_sync.sync import guard, plan_once, utcnow

log = logging.getLogger("takara_sync")

_MARKS = {"create": ("+", "green"), "apply": ("~", "yellow"), "take over": ("~", "yellow"), "keep": (" ", "")}
_TROUBLE = ("!", "red")


def run(settings: Settings, stop: Stop) -> Exit:
    """Print the plan; 1 where changes are pending, 6 where a Takara needs a person.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    api = api_of(settings, stop)
    deadline = Deadline(settings.pass_timeout)
    stop.watch(deadline)
    policy = policy_of(settings)
    plan, verdicts, error = Plan(()), dict[Key, str](), None
    try:
        plan = plan_once(cluster_of(settings, api, deadline), policy, workers=settings.concurrency)
        if settings.server:
            trial = cluster_of(settings, api, deadline, server_dry_run=True)
            verdicts = _verdicts(trial, plan, settings.concurrency)
        guard(plan, policy)
    except PassStopped as stopped:
        error = stopped
        log.error("the plan stopped: %s", error)  # noqa: TRY400 - an expected error has no use for a traceback
    lines = _lines(plan, verdicts, utcnow())
    code = _exit(lines, error, settings)
    _print(PlanDocument("takara-sync/plan/v1", int(code), error_document(error), lines), settings.output)
    return code


def _exit(lines: Sequence[PlannedDocument], error: PassStopped | None, settings: Settings) -> Exit:
    actions = {line.action for line in lines}
    refused = any(line.server.startswith("refused") for line in lines)
    if error is not None:
        return Exit(error.exit_code)
    if refused or actions & {"failed"} or any(map(_changes, lines)):
        return Exit.FAILED
    return Exit.BLOCKED if actions & {"blocked", "invalid"} - set(settings.tolerate) else Exit.OK


def _changes(line: PlannedDocument) -> bool:
    return line.action in ("create", "take over") or bool(line.changes)


# ------------------------------------------------------------------ the server's own verdict


def _verdicts(trial: Cluster, plan: Plan, workers: int) -> dict[Key, str]:
    """What the server says of each pending apply, by a dry run of its own; nothing is stored.

    A take-over is judged without handing the fields over first: that is a write which no dry run can build on.
    """
    pending = [decision for decision in plan.decisions if isinstance(decision, Create | Apply)]
    with ThreadPoolExecutor(workers, "takara-sync") as pool:
        return dict(pool.map(lambda decision: (decision.takara.key, _verdict(trial, decision)), pending))


def _verdict(trial: Cluster, decision: Create | Apply) -> str:
    try:
        if isinstance(decision, Create):
            trial.create(decision.body)
            return "accepted"
        after = trial.apply(decision.deployment, decision.body)
    except ObjectError as error:
        return f"refused: {error.message}"
    same = after.as_body()["spec"]["template"] == decision.deployment.as_body()["spec"]["template"]
    return "accepted, no rollout" if same else "accepted, rollout"


# ------------------------------------------------------------------ lines


def _lines(plan: Plan, verdicts: dict[Key, str], now: datetime) -> tuple[PlannedDocument, ...]:
    undecided = [(key, why) for key, why in plan.unread.items()]
    undecided += [(key, f"{type(bug).__name__}: {bug}") for key, bug in plan.broken.items()]
    lines = [PlannedDocument(key.namespace, key.name, "failed", why) for key, why in undecided]
    lines += [_line(decision, verdicts.get(decision.takara.key, ""), now) for decision in plan.decisions]
    return tuple(sorted(lines, key=lambda line: (line.namespace, line.name)))


def _line(decision: Decision, server: str, now: datetime) -> PlannedDocument:
    key = decision.takara.key
    changes = decision.changes if isinstance(decision, Apply) else ()
    rollout = any(change.field.startswith("spec.template") for change in changes)
    ages = tuple(_age(change, now) for change in changes)
    return PlannedDocument(key.namespace, key.name, _action(decision), _why(decision), changes, ages, rollout, server)


def _action(decision: Decision) -> Action:
    if isinstance(decision, Create):
        return "create"
    if isinstance(decision, Apply):
        return "take over" if decision.managed_fields is not None else "apply"
    if isinstance(decision, Block):
        return "invalid" if decision.verdict.reason in INVALID else "blocked"
    return "keep"


def _why(decision: Decision) -> str:
    if isinstance(decision, Create):
        return "1 replica" if decision.takara.size == 1 else f"{decision.takara.size} replicas"
    if isinstance(decision, Apply):
        return "" if decision.changes else "no value changes"
    verdict = decision.verdict
    if verdict is not None:
        return f"{verdict.reason}: {verdict.message}"
    skipped = isinstance(decision, Keep) and (decision.takara.deleting or decision.takara.paused)
    return ("being deleted" if decision.takara.deleting else "paused") if skipped else ""


def _age(change: Change, now: datetime) -> float | None:
    """Seconds since the holder of the field last wrote; None where the server does not know."""
    try:
        return max(0.0, (now - datetime.fromisoformat(change.time)).total_seconds())
    except (ValueError, TypeError):
        return None


# ------------------------------------------------------------------ printing


def _print(document: PlanDocument, output: str) -> None:
    if output == "json":
        write(json_line(document) + "\n")
    else:
        write("".join(f"{line}\n" for line in _text(document, every=output == "wide")))


def _text(document: PlanDocument, *, every: bool) -> Iterator[str]:
    style = style_of(sys.stdout)
    for line in document.takaras:
        if every or line.action != "keep" or line.why:
            mark, colour = _MARKS.get(line.action, _TROUBLE)
            parts = (line.why, _template(line), _says(line.server))
            tail = ", ".join(part for part in parts if part)
            words = f"{line.namespace}/{line.name}: {line.action}{'  ' if tail else ''}{one_line(tail)}"
            yield f"{style(mark, colour)} {fitted(words, sys.stdout, indent=2)}".rstrip()
            for change, age in zip(line.changes, line.ages, strict=True):
                yield "    " + fitted(_described(change, age), sys.stdout, indent=4)
    if document.takaras or document.error is None:
        yield fitted(_total(document), sys.stdout, indent=0)
    if document.error is not None:
        error = one_line(f"error: {document.error.message}. {document.error.hint}")
        yield style(fitted(error, sys.stdout, indent=0), "red")


def _template(line: PlannedDocument) -> str:
    return "rollout" if line.rollout else "no rollout" if line.changes else ""


def _says(server: str) -> str:
    return f"server: {server}" if server else ""


def _described(change: Change, age: float | None) -> str:
    text = describe(msgspec.structs.replace(change, time=""))
    return f"{text[:-1]}, {_ago(age)})" if age is not None and text.endswith(")") else text


def _ago(seconds: float) -> str:
    units: list[tuple[str, Callable[[float], float]]] = [
        ("d", lambda s: s / 86400),
        ("h", lambda s: s / 3600),
        ("m", lambda s: s / 60),
    ]
    for unit, scaled in units:
        if scaled(seconds) >= 1:
            return f"{int(scaled(seconds))}{unit} ago"
    return f"{int(seconds)}s ago"


def _total(document: PlanDocument) -> str:
    counts: dict[str, int] = {}
    for line in document.takaras:
        counts[line.action] = counts.get(line.action, 0) + 1
    told = ", ".join(f"{counts[action]} to {action}" for action in ("create", "apply", "take over") if action in counts)
    rest = ", ".join(f"{counts[what]} {what}" for what in ("blocked", "invalid", "failed") if what in counts)
    kept = f"{counts.get('keep', 0)} unchanged"
    return "plan: " + ", ".join(part for part in (told, rest, kept) if part)
