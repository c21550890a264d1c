"""The pass: read, decide, act, observe, tell."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

from msgspec import to_builtins

from takara_sync.account import STATUS_OVERWRITTEN, Book, Handled
from takara_sync.act import carry_out
from takara_sync.cluster import Cluster
from takara_sync.errors import CutShort, PassStopped, TooManyChanges
from takara_sync.plan import Plan, Policy, make_plan
from takara_sync.report import CHANGED, NEEDS_A_PERSON, Report, Result
from takara_sync.snapshot import read
from takara_sync.status import nodes_of
from takara_sync.tell import tell

log = logging.getLogger("takara_sync")


def utcnow() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


def sync_once(
    cluster: Cluster,
    policy: Policy = Policy(),  # noqa: B008 - frozen, so one instance can serve every call
    *,
    workers: int = 16,
    offset: int = 0,
    now: Callable[[], datetime] = utcnow,
) -> Report:
    """One pass over every Takara of the cluster.

    workers: how many requests are in flight at once. offset: where in the sorted order the execution starts, so
    that a deadline does not always starve the same Takaras. now: the clock of statuses, aware, in UTC.

    Raises nothing for what a cluster does: the report says what happened, also where the pass stopped half-way.
    """
    book = Book(now(), dry_run=cluster.dry_run)
    with ThreadPoolExecutor(workers, "takara-sync") as pool:
        try:
            plan = make_plan(read(cluster, policy, pool), policy, now())
            book.open(plan)
            guard(plan, policy)
            acting = _careful(cluster, lambda one: _acted(cluster, carry_out(cluster, policy, one, now)))
            book.enter(pool.map(acting, book.in_turn(offset)))
            nodes = nodes_of(cluster.pods().items, book.takaras())
            telling = _careful(cluster, lambda one: _told(one, tell(cluster, policy, one, nodes.get(one.key, []), now)))
            book.enter(pool.map(telling, book.in_turn(offset)))
        except PassStopped as stopped:
            book.error = stopped
    return book.report()


def plan_once(
    cluster: Cluster,
    policy: Policy = Policy(),  # noqa: B008 - frozen, so one instance can serve every call
    *,
    workers: int = 16,
    now: Callable[[], datetime] = utcnow,
) -> Plan:
    """What a pass would do, with nothing left to be found out by a write.

    Raises:
        PassStopped: the cluster could not be read.
    """
    with ThreadPoolExecutor(workers, "takara-sync") as pool:
        return make_plan(read(cluster, policy, pool, certain=True), policy, now())


def guard(plan: Plan, policy: Policy) -> None:
    """Raise TooManyChanges where the plan holds more changes than allowed."""
    limit, pending = policy.max_changes, plan.pending
    if limit is not None and len(pending) > limit:
        names = ", ".join(str(decision.takara.key) for decision in pending)
        raise TooManyChanges(f"{len(pending)} changes are planned, {limit} allowed; nothing was written: {names}")


def _careful(cluster: Cluster, step: Callable[[Handled], Handled]) -> Callable[[Handled], Handled]:
    """`step`, so that a bug costs one Takara, and what stops the pass stops the others from being started."""

    def careful(handled: Handled) -> Handled:
        try:
            after = step(handled)
        except Exception as bug:
            log.exception("bug in takara-sync, met on %s", handled.key)
            return replace(handled, result=Result.FAILED, failure=bug)
        if isinstance(after.failure, PassStopped) and not isinstance(after.failure, CutShort):
            cluster.deadline.stop(f"an error: {after.failure.message}")
        return after

    return careful


def _acted(cluster: Cluster, handled: Handled) -> Handled:
    """A line in the log as soon as something was changed or went wrong, so that a killed pass has told it."""
    if handled.result in CHANGED:
        _note(logging.INFO, handled, " (dry run)" if cluster.dry_run else "")
    elif handled.result == Result.FAILED:
        _note(logging.ERROR, handled)
    else:
        overwritten = handled.outcome().reason == STATUS_OVERWRITTEN
        _note(logging.WARNING if overwritten else logging.DEBUG, handled)
    return handled


def _told(before: Handled, after: Handled) -> Handled:
    """A line for who has become blocked or contested, and for a status that could not be written.

    Who stays so is named by the last line of each pass.
    """
    if after.told and after.result in _WORTH_A_LOOK:
        _note(logging.INFO, after)
    elif after.failure is not before.failure and after.result == Result.FAILED:
        _note(logging.ERROR, after)
    return after


_WORTH_A_LOOK = NEEDS_A_PERSON | {Result.CONTESTED}


def _note(level: int, handled: Handled, remark: str = "") -> None:
    outcome = handled.outcome()
    words = f"{handled.result}{remark}{': ' if outcome.detail else ''}{outcome.detail}"
    extra = {"takara": str(handled.key), "result": str(handled.result)}
    changes = [to_builtins(change) for change in outcome.changes]
    log.log(level, "Deployment %s %s", handled.key, words, extra=extra | {"changes": changes} if changes else extra)
