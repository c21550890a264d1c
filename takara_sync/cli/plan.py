"""`takara-sync plan`: what a pass would change, and which manager caused it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Literal

from msgspec import Struct

from takara_sync.attempt import result_of
from takara_sync.change_limit import check_plan
from takara_sync.cli.connect import api_of, cluster_of, policy_of
from takara_sync.cli.render import danger, fitted, show, style, unmatched
from takara_sync.cli.screen import screen
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cluster import Cluster
from takara_sync.conditions import Reason
from takara_sync.deadline import Deadline
from takara_sync.diff import Change
from takara_sync.errors import ObjectError, PassStopped
from takara_sync.objects import Key
from takara_sync.plan import Apply, Create, Decision, Keep, Plan
from takara_sync.report import (
    ROLLOUT,
    ErrorDocument,
    Exit,
    Result,
    describe,
    error_document,
    replicas_change,
)
from takara_sync.sync import plan_once, utcnow
from takara_sync.text import one_line

log = logging.getLogger("takara_sync")

Action = Literal["create", "apply", "take over", "waiting", "keep", "skip", "contested", "blocked", "invalid", "failed"]

_WORDS: dict[Action, tuple[str, str, str]] = {
    "create": ("+", "green", "to create"),
    "apply": ("~", "yellow", "to apply"),
    "take over": ("~", "yellow", "to take over"),
    "waiting": ("~", "yellow", "waiting"),
    "blocked": ("!", "red", "blocked"),
    "invalid": ("!", "red", "invalid"),
    "failed": ("!", "red", "failed"),
    "keep": (" ", "", "unchanged"),
    "skip": (" ", "", "skipped"),
    "contested": ("!", "yellow", "contested"),
}
"""The mark and colour of a line, and the words of the last line, in this order."""
_ACTIONS: dict[Result, Action] = {
    Result.UNCHANGED: "keep",
    Result.SKIPPED: "skip",
    Result.CONTESTED: "contested",
    Result.BLOCKED: "blocked",
    Result.INVALID: "invalid",
    Result.FAILED: "failed",
}
"""The action for the result of a pass that writes nothing."""
_NOT_DONE = ("create", "take over", "waiting", "failed")
"""With these actions a change is pending; an `apply` may change no value."""


# ------------------------------------------------------------------ the form of -o json (docs/plan.schema.json)


class PlannedDocument(Struct, frozen=True):
    """What a pass would do with one Takara.

    `ages`: for each change, seconds since the last write of its manager, null if unknown. `rollout`: whether the pod
    template changes. `server`: the response of the server to the dry run of --server, else empty.
    """

    namespace: str
    name: str
    action: Action
    why: str = ""
    changes: tuple[Change, ...] = ()
    ages: tuple[float | None, ...] = ()
    rollout: bool = False
    server: str = ""


class PlanDocument(Struct, frozen=True):
    """A plan. `exit` is the exit code."""

    schema: Literal["takara-sync/plan/v1"]
    exit: int
    error: ErrorDocument | None
    takaras: tuple[PlannedDocument, ...]


# ------------------------------------------------------------------ the command


def run(settings: Settings, stop: Stop) -> Exit:
    """Print the plan; 1 if changes are pending, 6 if a person has to act.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    api = api_of(settings, stop)
    deadline = stop.watch(Deadline(settings.pass_timeout))
    policy = policy_of(settings)
    plan, responses, error = Plan(()), dict[Key, str](), None
    try:
        cluster, progress = cluster_of(settings, api), screen().progress
        plan = plan_once(cluster, policy, workers=settings.concurrency, seconds=deadline, progress=progress)
        if settings.server:
            trial = cluster_of(settings, api, server_dry_run=True)
            responses = _responses(trial, plan, settings.concurrency, deadline)
        check_plan(plan, policy.max_changes)
    except PassStopped as stopped:
        error = stopped
        log.error("the plan stopped: %s", error, extra={"reported": True})  # noqa: TRY400 - an expected error needs no traceback
    screen().finish()
    takaras = _planned(plan, responses, utcnow())
    code = Exit(error.exit_code) if error else _exit(takaras, settings.tolerate)
    document = PlanDocument("takara-sync/plan/v1", int(code), error_document(error), takaras)
    remarks = [] if error else unmatched(settings, {takara.namespace for takara in takaras})
    lines = [*_lines(document, every=settings.output == "wide"), *map(fitted, remarks)]
    show(document, settings.output, lines, error)
    return code


def _exit(takaras: Sequence[PlannedDocument], tolerated: Sequence[str]) -> Exit:
    if any(each.action in _NOT_DONE or each.changes or each.server.startswith("refused") for each in takaras):
        return Exit.FAILED
    need_a_person = {each.action for each in takaras} & {"blocked", "invalid"}
    return Exit.BLOCKED if need_a_person - set(tolerated) else Exit.OK


# ------------------------------------------------------------------ --server


def _responses(trial: Cluster, plan: Plan, workers: int, deadline: Deadline) -> dict[Key, str]:
    """The response of the server to a dry run of each create and apply; it stores nothing.

    Of a take-over only the apply is sent: the response does not depend on the managedFields.
    """

    def response(decision: Create | Apply) -> str:
        try:
            if isinstance(decision, Create):
                trial.create(decision.manifest, deadline)
                return "accepted"
            after = trial.apply(decision.deployment, decision.manifest, deadline)
        except ObjectError as error:
            return f"refused: {error.message}"
        same = after.as_manifest()["spec"]["template"] == decision.deployment.as_manifest()["spec"]["template"]
        return "accepted, no rollout" if same else "accepted, rollout"

    writes = [decision for decision in plan.decisions if isinstance(decision, Create | Apply)]
    with ThreadPoolExecutor(workers, "takara-sync") as pool:
        return dict(zip((decision.takara.key for decision in writes), pool.map(response, writes), strict=True))


# ------------------------------------------------------------------ the document


def _planned(plan: Plan, responses: dict[Key, str], now: datetime) -> tuple[PlannedDocument, ...]:
    failed = dict(plan.unread) | {key: f"{type(bug).__name__}: {bug}" for key, bug in plan.broken.items()}
    planned = [PlannedDocument(key.namespace, key.name, "failed", why) for key, why in failed.items()]
    planned += [planned_document(each, now, responses.get(each.takara.key, "")) for each in plan.decisions]
    return tuple(sorted(planned, key=lambda each: (each.namespace, each.name)))


def planned_document(decision: Decision, now: datetime, server: str = "") -> PlannedDocument:
    """A decision as -o json has it. server: the response of --server."""
    changes = decision.changes if isinstance(decision, Apply) else ()
    rollout = any(change.field.startswith("spec.template") for change in changes)
    ages = tuple(_age(change, now) for change in changes)
    return PlannedDocument(*decision.takara.key, *_described(decision), changes, ages, rollout, server)


def _described(decision: Decision) -> tuple[Action, str]:
    """What a pass would do, and why."""
    takara = decision.takara
    if isinstance(decision, Create):
        return "create", "1 replica" if takara.size == 1 else f"{takara.size} replicas"
    if isinstance(decision, Apply):
        why = "" if decision.changes else "no value changes"
        return "apply" if decision.managed_fields is None else "take over", why
    verdict = decision.verdict
    if verdict is None:
        paused = takara.unclear_pause or "paused"
        why = "being deleted" if takara.deleting else paused if takara.paused else ""
    else:
        why = f"{verdict.reason}: {verdict.message}"
    waits = isinstance(decision, Keep) and why.startswith(Reason.PREDECESSOR) and not takara.paused
    return "waiting" if waits else _ACTIONS[result_of(decision)], why


def _age(change: Change, now: datetime) -> float | None:
    try:
        return max(0.0, (now - datetime.fromisoformat(change.time)).total_seconds())
    except (ValueError, TypeError):  # no time, or a time without a time zone
        return None


# ------------------------------------------------------------------ in words


def _lines(document: PlanDocument, *, every: bool) -> Iterator[str]:
    for takara in document.takaras:
        if every or takara.action != "keep" or takara.why:
            mark, colour, _ = _WORDS[takara.action]
            yield danger(f"{style(mark, colour)} {fitted(_headline(takara), indent=2)}".rstrip())
            for change in takara.changes:
                yield "    " + fitted(describe(change), indent=4)
    if document.takaras or document.error is None:
        counts = Counter(takara.action for takara in document.takaras)
        counted = [f"{counts[each]} {word}" for each, (*_, word) in _WORDS.items() if counts[each] or each == "keep"]
        yield fitted(f"plan: {', '.join(counted)}")


def _headline(takara: PlannedDocument) -> str:
    template = ROLLOUT if takara.rollout else "no rollout" if takara.changes else ""
    server = takara.server.replace("accepted, rollout", f"accepted, {ROLLOUT}")
    parts = (takara.why, template, replicas_change(takara.changes), f"server: {server}" if server else "")
    tail = one_line(", ".join(filter(None, parts)))
    return f"{takara.namespace}/{takara.name}: {takara.action}{'  ' if tail else ''}{tail}"
