"""Sends the Events of a pass. Nothing depends on them: a pass with and without Events is otherwise the same."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from takara_sync.attempt import Attempt
from takara_sync.cluster import Cluster
from takara_sync.deadline import Deadline
from takara_sync.errors import ApiNotServed, Conflict, NotFound, Rejected, TakaraSyncError
from takara_sync.events import Event, change_event, condition_event

log = logging.getLogger("takara_sync")

SECONDS_MAX = 5.0
"""How long a pass may send Events: a slow server must not delay the next pass."""


def announce(cluster: Cluster, attempts: Iterable[Attempt], workers: int, deadline: Deadline, now: datetime) -> None:
    """Send the Events of these attempts, each once. Raises nothing; a dry run sends none.

    After the first refusal or transient failure the pass sends no more; only a refusal is logged.
    """
    telling = [attempt for attempt in attempts if attempt.changed or attempt.status_sent]
    events = [event for attempt in telling for event in events_of(attempt)]
    if cluster.dry_run or not events:
        return
    events.sort(key=lambda event: not event.warning)
    sender = _Sender(cluster, deadline.at_most(SECONDS_MAX), now)
    with ThreadPoolExecutor(min(workers, len(events)), "takara-sync") as pool:
        list(pool.map(sender.send, events))


def events_of(attempt: Attempt) -> Iterator[Event]:
    """The change of this pass, and what its status update changed."""
    takara, deployment = attempt.takara, attempt.deployment
    found = [change_event(takara, deployment, attempt.changed, attempt.changes)]
    if attempt.status_written and attempt.condition:
        found.append(condition_event(takara, deployment, attempt.condition))
    return filter(None, found)


class _Sender:
    def __init__(self, cluster: Cluster, deadline: Deadline, now: datetime) -> None:
        self._cluster, self._deadline, self._now = cluster, deadline, now
        self._lock = threading.Lock()
        self._off = False

    def send(self, event: Event) -> None:
        if self._off:
            return
        try:
            self._cluster.send_event(event.manifest(self._now), self._deadline)
        except (Conflict, NotFound):  # sent before, or the namespace is gone
            pass
        except TakaraSyncError as error:
            with self._lock:
                first, self._off = not self._off, True
            if first:
                refused = isinstance(error, Rejected | ApiNotServed)
                level = logging.WARNING if refused else logging.DEBUG
                log.log(level, "this pass sends no more Events: %s", error.message)
        except Exception:
            self._off = True
            log.exception("bug in takara-sync, met on an Event about %s", event.takara.key)
