"""Reads the pods of a few Takaras that are not Ready, to find out what keeps them away."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from heapq import nlargest

from takara_sync.attempt import Attempt
from takara_sync.causes import Cause, from_pods, is_worth_a_look, state_of, waited
from takara_sync.cluster import Cluster
from takara_sync.deadline import Deadline
from takara_sync.errors import TakaraSyncError
from takara_sync.objects import Deployment

log = logging.getLogger("takara_sync")

READS_MAX = 5
"""Per pass. So a thousand Takaras without pods cost hardly more than one, and a few passes find every cause."""


def look_at_pods(cluster: Cluster, attempts: Iterable[Attempt], deadline: Deadline, now: datetime) -> list[Attempt]:
    """Set `found` of at most READS_MAX attempts, and return these: first of those that have waited longest.

    It needs the planned statuses. A read that fails is left out, because the next pass reads again.
    """
    due = [
        (attempt, attempt.deployment)
        for attempt in attempts
        if attempt.condition
        and attempt.deployment
        and not attempt.writes  # what this pass has changed needs time
        and is_worth_a_look(attempt.takara, attempt.deployment, attempt.condition.reason, now)
    ]
    chosen = nlargest(READS_MAX, due, key=lambda each: waited(each[0].takara, now))
    if not chosen:
        return []
    with ThreadPoolExecutor(READS_MAX, "takara-sync") as pool:
        looked = list(pool.map(lambda each: _look(cluster, each[0], each[1], deadline, now), chosen))
    return [attempt for (attempt, _), done in zip(chosen, looked, strict=True) if done]


def _look(cluster: Cluster, attempt: Attempt, deployment: Deployment, deadline: Deadline, now: datetime) -> bool:
    """Returns whether the pods could be read."""
    try:
        verdict = from_pods(cluster.pods_of(attempt.key, deadline), attempt.key, now)
    except TakaraSyncError as error:
        log.debug("the pods of %s could not be read: %s", attempt.key, error)
        return False
    except Exception:
        log.exception("bug in takara-sync, met on the pods of %s", attempt.key)
        return False
    attempt.found = Cause(verdict, state_of(deployment))
    return True
