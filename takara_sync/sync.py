"""The pass: read, decide, act, observe, write statuses."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from takara_sync.announce import announce
from takara_sync.attempt import Attempt, begin, finished, undecided
from takara_sync.change_limit import ChangeLimit
from takara_sync.cluster import Cluster
from takara_sync.deadline import Deadline
from takara_sync.errors import PassStopped
from takara_sync.look import look_at_pods
from takara_sync.objects import Key
from takara_sync.order import in_turn, next_start, start_at
from takara_sync.plan import Plan, Policy, make_plan
from takara_sync.progress import Progress
from takara_sync.reconcile import Reconciler
from takara_sync.report import Report
from takara_sync.snapshot import read
from takara_sync.status import nodes_of
from takara_sync.work_queue import WorkQueue, counted


def utcnow() -> datetime:
    """The current time, timezone-aware, in UTC."""
    return datetime.now(UTC)


def sync_once(
    cluster: Cluster,
    policy: Policy = Policy(),  # noqa: B008 - frozen, so one instance can serve every call
    *,
    workers: int = 16,
    seconds: float | Deadline = 50.0,
    start: Key | None = None,
    now: Callable[[], datetime] = utcnow,
    progress: Progress | None = None,
) -> Report:
    """One pass over every Takara of the cluster.

    workers: the number of concurrent requests. seconds: how long the pass may take; another thread can stop a Deadline.
    start: the Takara to write first, usually `next_start` of the last report. None: the start depends on the clock, so
    that a short deadline does not always skip the same Takaras. now: the clock for statuses, timezone-aware, in UTC.
    progress: is told how far the writes are; a KubeCluster has one of its own for the lists.

    Errors of the cluster do not raise: they are in the report, even if the pass stopped early.
    """
    deadline = seconds if isinstance(seconds, Deadline) else Deadline(seconds)
    begun, started = time.monotonic(), now()
    plan, order, error = Plan(()), list[Attempt](), None
    try:
        plan = make_plan(read(cluster, policy, deadline, workers, progress=progress), policy, now())
        attempts = begin(plan)
        start = start or start_at(attempts, started)
        order = in_turn(attempts, start)
        limit, writes = ChangeLimit(plan, policy.max_changes), deadline.for_writes()
        reconciler = Reconciler(cluster, policy, limit, writes, deadline, now)
        writing = [attempt for attempt in order if attempt.writes]
        act = counted(reconciler.act, progress, "writing Deployments", len(writing))
        WorkQueue(writing, workers, writes, policy.rejections).run(act)
        nodes = nodes_of(cluster.pods(deadline).items, (attempt.takara for attempt in order))
        reconciler.plan_statuses(order, nodes)
        reconciler.plan_statuses(look_at_pods(cluster, order, deadline, now()), nodes)
        differing = [attempt for attempt in order if attempt.patch]
        write_status = counted(reconciler.write_status, progress, "writing statuses", len(differing))
        complete = WorkQueue(differing, workers, deadline).run(write_status)
        announce(cluster, order, workers, deadline, now())
        limit.check()
        if not complete:
            deadline.check()
    except PassStopped as stopped:
        error = stopped
    outcomes = [*undecided(plan), *map(finished, order)]
    return Report(
        tuple(sorted(outcomes, key=lambda outcome: outcome.key)),
        started,
        time.monotonic() - begun,
        error,
        cluster.dry_run,
        next_start(order, start),
    )


def plan_once(
    cluster: Cluster,
    policy: Policy = Policy(),  # noqa: B008 - frozen, so one instance can serve every call
    *,
    workers: int = 16,
    seconds: float | Deadline = 50.0,
    now: Callable[[], datetime] = utcnow,
    progress: Progress | None = None,
) -> Plan:
    """What a pass would do, exactly: it reads every Deployment. The arguments are the same as for `sync_once`.

    Raises:
        PassStopped: the cluster could not be read.
    """
    deadline = seconds if isinstance(seconds, Deadline) else Deadline(seconds)
    return make_plan(read(cluster, policy, deadline, workers, certain=True, progress=progress), policy, now())
