"""The steps of a pass for one Takara: from its decision to its status.

| result of a write to a Deployment    | next step                                                                    |
|--------------------------------------|------------------------------------------------------------------------------|
| success                              | log and count the change, here and nowhere else                              |
| conflict                             | re-read the Deployment and the Takara, and decide again                      |
| no response, 5xx: perhaps executed   | the same; if the re-read shows the write, it counts as a change of this pass |
| 429                                  | send the same write again                                                    |
| connection refused                   | send the same write again; all Takaras wait, and it does not count as a try  |
| 500 without a reason, twice          | if the Takara has its own template: a rejection; else as any other 5xx       |
| rejection (403, 422 and similar)     | the Takara failed; its status says so                                        |
| not found: the namespace, the Takara | the Takara is skipped                                                        |
| failure of the fifth try             | the Takara failed; after a transient failure no status is written            |

| result of a status update            | next step                                                                    |
|--------------------------------------|------------------------------------------------------------------------------|
| conflict, no response                | re-read the Takara, and build only the patch again                           |
| the generation is newer now          | write the status for the generation of this pass, unless a newer one has one |
| not found                            | nothing: there is no status to write                                         |
| rejection, or failure of fifth try   | the Takara failed                                                            |

Each try goes through the work queue. No try starts after the deadline. A status update never writes a Deployment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec
from msgspec import structs, to_builtins

from takara_sync.attempt import Attempt
from takara_sync.change_limit import ChangeLimit
from takara_sync.cluster import Cluster
from takara_sync.deadline import Deadline
from takara_sync.desired import comparable
from takara_sync.diff import Change, changed_on_admission, made_changes
from takara_sync.errors import (
    Conflict,
    InternalError,
    NotFound,
    ObjectError,
    PassStopped,
    Rejected,
    Retryable,
    TemplateRejected,
)
from takara_sync.managed_fields import own_fields, take_over
from takara_sync.objects import Deployment, Key, Takara
from takara_sync.ownership import controlled_by
from takara_sync.plan import Apply, Create, Policy, decide
from takara_sync.record import FORMAT, record_of
from takara_sync.report import Result, describe
from takara_sync.status import Json, patch_for, readiness, status_for, verdict_of
from takara_sync.work_queue import DONE, Step, backoff

log = logging.getLogger("takara_sync")

TRIES = 5
"""The maximum number of tries of a write for one Takara in a pass."""


@dataclass(frozen=True)
class Reconciler:
    """The steps for one Takara. writes: the deadline for writes to Deployments. now: timezone-aware, in UTC.

    The steps raise PassStopped if no further request can succeed, or if the deadline is over.
    """

    cluster: Cluster
    policy: Policy
    limit: ChangeLimit
    writes: Deadline
    deadline: Deadline
    now: Callable[[], datetime]

    # -------------------------------------------------------------- Deployments

    def act(self, attempt: Attempt) -> Step:
        """One try of the decision."""
        return _guarded(self._act, attempt, self._failed)

    def _act(self, attempt: Attempt) -> Step:
        attempt.tries += 1
        if attempt.stale:
            self._decide_again(attempt)
        decision, step = attempt.decision, DONE
        if isinstance(decision, Create | Apply):
            attempt.limited = not self.limit.allows(decision)
            step = DONE if attempt.limited else self._write(attempt, decision)
        attempt.error = None
        return step

    def _decide_again(self, attempt: Attempt) -> None:
        """Re-read the Deployment, then the Takara (so that its spec is newer), and decide again.

        Raises NotFound if the Takara does not exist any more, or if another Takara has its name.
        """
        deployment = self.cluster.deployment(attempt.key, self.writes)
        takara = self.cluster.takara(attempt.key, self.writes)
        if takara is None or takara.uid != attempt.takara.uid:
            raise NotFound(f"Takara {attempt.key} is gone")
        self._count_if_executed(attempt, deployment)
        attempt.decision = decide(takara, deployment, self.policy, self.now())
        attempt.deployment = attempt.decision.deployment
        attempt.stale = False

    def _count_if_executed(self, attempt: Attempt, live: Deployment | None) -> None:
        """Count a write without a response if the re-read shows it. Perhaps another copy did it; we cannot know."""
        write, attempt.unanswered = attempt.unanswered, None
        if live is None or not controlled_by(live, attempt.takara):
            return
        if isinstance(write, Create):
            if own_fields(live.managed_fields) and live.uid != attempt.takara.applied.uid:  # else it existed before
                self._changed(attempt, Result.CREATED)
        elif isinstance(write, Apply) and live.uid == write.deployment.uid:
            made = made_changes(write.changes, live.as_manifest(), exact=True)
            taken = write.managed_fields is not None and not self._has_legacy_fields(live)
            if made or taken:
                self._changed(attempt, Result.TAKEN_OVER if taken else Result.UPDATED, made)

    def _write(self, attempt: Attempt, decision: Create | Apply) -> Step:
        if isinstance(decision, Create):
            live = self.cluster.create(decision.manifest, self.writes)
        else:
            live = self._apply(attempt, decision)
        self._record(attempt, decision, live)
        if self._has_legacy_fields(live) and attempt.tries < TRIES:  # fields of nobody are now `before-first-apply`
            attempt.stale = True
            return Step(retry_after=0.0)
        return DONE

    def _apply(self, attempt: Attempt, decision: Apply) -> Deployment:
        manifest, live = decision.manifest, decision.deployment
        if decision.managed_fields is not None:
            live = self.cluster.take_over(live, decision.managed_fields, self.writes)
            attempt.unanswered = decision  # if the apply fails, the take-over is already done
            version = {"resourceVersion": live.metadata.resource_version}
            manifest = manifest | {"metadata": manifest["metadata"] | version}
        return self.cluster.apply(live, manifest, self.writes)

    def _has_legacy_fields(self, live: Deployment) -> bool:
        return take_over(live.managed_fields, self.policy.legacy_managers) is not None

    # -------------------------------------------------------------- the result of an apply

    def _record(self, attempt: Attempt, decision: Create | Apply, live: Deployment) -> None:
        """Count the changes of an apply, and build the record for the status."""
        attempt.unanswered, attempt.deployment = None, live
        if isinstance(decision, Create):
            self._changed(attempt, Result.CREATED)
        returned = live.as_manifest()
        if isinstance(decision, Apply):
            taken = decision.managed_fields is not None
            if taken or live.metadata.resource_version != decision.deployment.metadata.resource_version:
                made = made_changes(decision.changes, returned)
                self._changed(attempt, Result.TAKEN_OVER if taken else Result.UPDATED, made)
        taken_by = decision.contest.record if isinstance(decision, Apply) else None
        differs = "" if self.cluster.dry_run else changed_on_admission(comparable(decision.manifest), returned)
        attempt.applied = record_of(attempt.takara, decision.manifest, live, differs, taken_by, self.now())

    def _changed(self, attempt: Attempt, result: Result, changes: tuple[Change, ...] = ()) -> None:
        """Log and count a change; no other function does. The first result of a pass stays."""
        attempt.changed = attempt.changed or result
        attempt.changes += changes
        remark = " (dry run)" if self.cluster.dry_run else ""
        details = f": {'; '.join(map(describe, changes))}" if changes else ""
        extra: dict[str, object] = {"takara": str(attempt.key), "result": str(result)}
        if changes:
            extra["changes"] = [to_builtins(change) for change in changes]
        log.info("Deployment %s %s%s%s", attempt.key, result, remark, details, extra=extra)

    # -------------------------------------------------------------- the errors of a write

    def _failed(self, attempt: Attempt, error: ObjectError) -> Step:
        """Do what the first table says."""
        again = isinstance(error, InternalError) and isinstance(attempt.error, InternalError)
        if again and attempt.takara.spec.get("template") is not None:
            error = TemplateRejected(error.message)
        attempt.error = error
        if isinstance(error, Retryable) and error.executed and not attempt.stale:  # if it is stale, a read has failed
            attempt.unanswered = attempt.decision
        attempt.stale = attempt.stale or isinstance(error, Conflict) or attempt.unanswered is not None
        return self._retry(attempt, error, self.writes)

    # -------------------------------------------------------------- statuses

    def plan_statuses(self, attempts: Iterable[Attempt], nodes: Mapping[Key, list[str]]) -> None:
        """Build the patches of the statuses; a patch is empty if there is nothing to write."""
        for attempt in attempts:
            attempt.nodes = nodes.get(attempt.key, []) if attempt.deployment else []
            _guarded(self._plan_status, attempt, self._failed)

    def _plan_status(self, attempt: Attempt) -> Step:
        if not attempt.writes_no_status:
            wanted = self._wanted_status(attempt, attempt.takara)
            attempt.condition, attempt.ready = verdict_of(wanted), readiness(wanted)
            attempt.patch = patch_for(attempt.takara, wanted)
            attempt.tries, attempt.stale = 0, False
        return DONE

    def _wanted_status(self, attempt: Attempt, takara: Takara) -> Json:
        return status_for(
            takara,
            attempt.deployment,
            attempt.nodes,
            self.now(),
            verdict=attempt.verdict(),
            applied=attempt.applied,
            found=attempt.found,
        )

    def write_status(self, attempt: Attempt) -> Step:
        """One try to write the status."""
        return _guarded(self._write_status, attempt, self._failed_status)

    def _write_status(self, attempt: Attempt) -> Step:
        attempt.tries += 1
        try:
            if attempt.stale:
                self._patch_again(attempt)
            if attempt.patch:
                self.cluster.write_status(attempt.takara, attempt.patch, self.deadline)
                attempt.status_sent = True
        except NotFound:  # there is no status to write
            attempt.status_sent = False
        attempt.status_sent = attempt.status_sent and not self.cluster.dry_run  # nothing is stored then
        attempt.patch = []
        return DONE

    def _patch_again(self, attempt: Attempt) -> None:
        """Re-read the Takara and build the patch again, for the generation of this pass."""
        acted, fresh = attempt.takara, self.cluster.takara(attempt.key, self.deadline)
        attempt.patch = []
        if fresh is None or fresh.uid != acted.uid or fresh.deleting or fresh.applied.format > FORMAT:
            return
        moved = fresh.metadata.generation != acted.metadata.generation
        if not moved or not _records(fresh, acted.metadata.generation):
            wanted = self._wanted_status(attempt, structs.replace(acted, status=fresh.status))
            attempt.patch = patch_for(fresh, wanted)

    def _failed_status(self, attempt: Attempt, error: ObjectError) -> Step:
        """Do what the second table says."""
        attempt.stale = True
        attempt.status_sent = attempt.status_sent or (isinstance(error, Retryable) and error.executed)
        step = self._retry(attempt, error, self.deadline)
        if step.retry_after is None:
            attempt.error, attempt.status_rejected = error, isinstance(error, Rejected)
        return step

    # -------------------------------------------------------------- another try

    def _retry(self, attempt: Attempt, error: ObjectError, deadline: Deadline) -> Step:
        """Another try after a backoff, unless this was the last one or the next cannot start before the deadline.

        Only after a conflict or a transient failure. A refused connection does not count as a try.
        """
        if not isinstance(error, Conflict | Retryable):
            return Step(rejected=isinstance(error, Rejected))
        transient = error if isinstance(error, Retryable) else Retryable("")
        after = max(transient.retry_after, backoff(attempt.tries))
        if transient.refused:
            attempt.tries -= 1
            after = 0.0
        if attempt.tries >= TRIES or after >= deadline.left_for_requests():
            return Step(timed_out=transient.timed_out)
        level = logging.WARNING if isinstance(error, Retryable) else logging.DEBUG
        follows, extra = (attempt.tries + 1, TRIES), {"retry": transient.kind} if transient is error else {}
        log.log(level, "%s; takara-sync tries again (try %d of %d)", error.message, *follows, extra=extra)
        return Step(after, transient.refused, transient.timed_out)


def _records(takara: Takara, generation: int) -> bool:
    """Whether the status was written for this generation or a newer one."""
    recorded = takara.recorded_status.get("observedGeneration")
    return isinstance(recorded, int) and recorded >= generation


def _guarded(step: Callable[[Attempt], Step], attempt: Attempt, failed: Callable[[Attempt, ObjectError], Step]) -> Step:
    """Run the step. An error, even a bug, affects only this Takara."""
    try:
        return step(attempt)
    except ObjectError as error:
        return failed(attempt, error)
    except (msgspec.MsgspecError, RecursionError) as error:
        return failed(attempt, ObjectError(f"Takara {attempt.key} or its Deployment is malformed: {error}"))
    except PassStopped:
        raise
    except Exception as bug:
        log.exception("bug in takara-sync, met on %s", attempt.key)
        attempt.error = bug
        return DONE
