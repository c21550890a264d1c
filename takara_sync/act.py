"""One Takara from its decision to its told status. A conflict means: read again, decide again, a few times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from msgspec import structs

from takara_sync.changes import Change
from takara_sync.cluster import Cluster
from takara_sync.desired import FORMAT, config_hash, fields_hash
from takara_sync.errors import Changed, ObjectError, PassStopped, Refused, Rejected, TakaraSyncError, Vanished
from takara_sync.fields import take_over
from takara_sync.objects import Applied, Deployment, Key, Takara
from takara_sync.plan import Apply, Block, Create, Decision, Keep, Policy, contested_verdict, decide
from takara_sync.reasons import INVALID, Reason, Verdict
from takara_sync.report import CHANGED, Outcome, Result
from takara_sync.status import Json, patch_for, readiness, status_for

ROUNDS = 5
"""How often one Takara is decided in a pass before the conflicts around it make it failed."""

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Handled:
    """How far one Takara has come in this pass."""

    decision: Decision
    result: Result = Result.NOT_REACHED
    deployment: Deployment | None = None
    applied: Applied | None = None
    changes: tuple[Change, ...] = ()
    failure: Exception | None = None
    told: bool = False
    ready: str = ""

    @property
    def takara(self) -> Takara:
        return self.decision.takara

    @property
    def key(self) -> Key:
        return self.takara.key

    def failed(self, failure: Exception) -> Handled:
        """This Takara with what went wrong. What stops the pass leaves the result as far as it had come."""
        if isinstance(failure, PassStopped):
            return replace(self, failure=failure)
        result = Result.SKIPPED if isinstance(failure, Vanished) else Result.FAILED
        return replace(self, result=result, failure=failure)

    def outcome(self) -> Outcome:
        verdict = self.decision.verdict if isinstance(self.decision, Keep | Block) else None
        if self.failure is not None:
            reason, message = type(self.failure).__name__, str(self.failure)
        elif self.result == Result.NOT_REACHED:
            reason, message = "NotReached", "The pass ended before its turn; the next one goes on from here."
        elif self.result in CHANGED or verdict is None:
            reason, message = _why_kept(self.takara) if self.result == Result.SKIPPED else ("", "")
        else:
            reason, message = str(verdict.reason), verdict.message
        bug = self.failure is not None and not isinstance(self.failure, TakaraSyncError)
        return Outcome(self.key, self.result, reason, message, self.changes, self.told, bug, self.ready)


def _why_kept(takara: Takara) -> tuple[str, str]:
    if takara.deleting:
        stuck = "" if type(takara.size) is int else " It has no usable size: if it does not go, set spec.size."
        return "Deleting", f"The Takara is being deleted; garbage collection takes its Deployment.{stuck}"
    return str(Reason.PAUSED), "The Takara is paused."


# ------------------------------------------------------------------ act


def carry_out(cluster: Cluster, policy: Policy, handled: Handled, now: Clock) -> Handled:
    """Do what was decided; read and decide again as often as somebody got in between.

    Where the time is nearly over nothing is begun: what was changed is to be told, or the next pass, which finds no
    record of it, would change it again and come no further than this one.

    Raises nothing that a cluster can cause: what went wrong is the result's `failure`.
    """
    if isinstance(handled.decision, Create | Apply) and cluster.deadline.nearly_over():
        return handled
    conflict: Changed | None = None
    for _ in range(ROUNDS):
        try:
            if conflict:
                handled = replace(handled, decision=_decide_again(cluster, handled.takara, policy, now))
            conflict = None
            handled = _execute(cluster, handled)
            if not _left_by_first_apply(handled, policy):
                return handled
            again = decide(handled.takara, handled.deployment, policy, now())
            handled = replace(handled, decision=again)
        except Changed as error:
            conflict = error
        except (ObjectError, PassStopped) as error:
            return handled.failed(error)
    return handled.failed(conflict) if conflict else handled


def begin(decision: Decision) -> Handled:
    """A Takara of which nothing is done yet."""
    return Handled(decision, deployment=None if isinstance(decision, Create) else decision.deployment)


def _decide_again(cluster: Cluster, takara: Takara, policy: Policy, now: Clock) -> Decision:
    fresh = _same(cluster, takara)
    return decide(fresh, cluster.deployment(takara.key), policy, now())


def _same(cluster: Cluster, takara: Takara) -> Takara:
    """The Takara as it is now. Raises Vanished where it is gone or another one took its name."""
    fresh = cluster.takara(takara.key)
    if fresh is None or fresh.uid != takara.uid:
        raise Vanished(f"Takara {takara.key} is gone")
    return fresh


def _execute(cluster: Cluster, before: Handled) -> Handled:
    decision = before.decision
    if isinstance(decision, Create):
        cluster.deadline.check()
        deployment = cluster.create(decision.body)
        return _applied(before, Result.CREATED, decision, deployment)
    if isinstance(decision, Apply):
        cluster.deadline.check()
        return _apply(cluster, before, decision)
    if isinstance(decision, Block):
        result = Result.INVALID if decision.verdict.reason in INVALID else Result.BLOCKED
    else:
        result = before.result if before.result in CHANGED else _kept(decision)
    return replace(before, result=result, deployment=decision.deployment, applied=None)


def _kept(decision: Keep) -> Result:
    if decision.contest.left:
        return Result.CONTESTED
    skipped = decision.takara.deleting or decision.takara.paused or decision.verdict is not None
    return Result.SKIPPED if skipped else Result.UNCHANGED


def _apply(cluster: Cluster, before: Handled, decision: Apply) -> Handled:
    body, live = decision.body, decision.deployment
    if decision.managed_fields is not None:
        live = cluster.take_over(live, decision.managed_fields)
        body = body | {"metadata": body["metadata"] | {"resourceVersion": live.metadata.resource_version}}
    deployment = cluster.apply(live, body)
    if decision.managed_fields is not None:
        result = Result.TAKEN_OVER
    else:
        moved = deployment.metadata.resource_version != live.metadata.resource_version
        result = Result.UPDATED if moved else Result.UNCHANGED
    return _applied(before, result, decision, deployment)


def _applied(before: Handled, result: Result, decision: Create | Apply, deployment: Deployment) -> Handled:
    """What an apply leaves behind. What an earlier round of this pass changed stays in the account."""
    contested = isinstance(decision, Apply) and decision.contest.left
    applied = Applied(
        deployment.uid,
        config_hash(decision.body, contested=contested),
        fields_hash(deployment, contested=contested),
        FORMAT,
        decision.contest.record if isinstance(decision, Apply) else None,
    )
    found = decision.changes if isinstance(decision, Apply) else ()
    result = before.result if before.result in CHANGED else result
    return replace(
        before,
        result=result,
        deployment=deployment,
        applied=applied,
        changes=before.changes or found,
    )


def _left_by_first_apply(handled: Handled, policy: Policy) -> bool:
    """Whether the apply itself made a legacy entry: the server calls what nobody owned `before-first-apply`."""
    deployment = handled.deployment if handled.applied else None
    return deployment is not None and take_over(deployment.managed_fields, policy.legacy_managers) is not None


# ------------------------------------------------------------------ tell


def tell(cluster: Cluster, policy: Policy, handled: Handled, nodes: list[str], now: Clock) -> Handled:
    """Write the status where it differs. A generation that moved meanwhile means: act again on the new one.

    Raises nothing that a cluster can cause: what went wrong is the result's `failure`.
    """
    conflict: Changed | None = None
    for _ in range(ROUNDS):
        try:
            if conflict:
                handled = _catch_up(cluster, policy, handled, now)
            if handled.takara.deleting or _untold(handled):
                return handled
            wanted = wanted_status(handled, nodes, now())
            handled = replace(handled, ready=readiness(wanted))
            patch = patch_for(handled.takara, wanted)
            if not patch:
                return handled
            cluster.deadline.check()
            cluster.tell(handled.takara, patch)
            return replace(handled, told=not cluster.dry_run)
        except Changed as error:
            conflict = error
        except (ObjectError, PassStopped) as error:
            return handled.failed(error)
    return handled.failed(conflict or AssertionError("unreachable"))


def _catch_up(cluster: Cluster, policy: Policy, handled: Handled, now: Clock) -> Handled:
    """The Takara as it is now: the same desire with the same account, or carried out anew."""
    fresh = _same(cluster, handled.takara)
    if fresh.metadata.generation == handled.takara.metadata.generation and not fresh.deleting:
        return replace(handled, decision=structs.replace(handled.decision, takara=fresh))
    decision = decide(fresh, cluster.deployment(fresh.key), policy, now())
    again = carry_out(cluster, policy, begin(decision), now)
    nothing = again.result in (Result.UNCHANGED, Result.SKIPPED)
    kept = handled.result if nothing and handled.result in CHANGED else again.result
    return replace(again, result=kept, changes=handled.changes + again.changes)


def wanted_status(handled: Handled, nodes: list[str], now: datetime) -> Json:
    """The status that this Takara should have, given how far it has come."""
    nodes = nodes if handled.deployment else []
    verdict = _verdict(handled)
    return status_for(handled.takara, handled.deployment, nodes, now, verdict=verdict, applied=handled.applied)


def _untold(handled: Handled) -> bool:
    """A newer program's Takara is left alone; what may pass by itself is not told; what was not done neither."""
    newer = isinstance(handled.decision, Block) and handled.decision.verdict.reason == Reason.NEWER_FORMAT
    transient = handled.failure is not None and not isinstance(handled.failure, Refused)
    return newer or transient or handled.result == Result.NOT_REACHED


def _verdict(handled: Handled) -> Verdict | None:
    decision = handled.decision
    if isinstance(handled.failure, Refused):
        reason = Reason.APPLY_REJECTED if isinstance(handled.failure, Rejected) else Reason.APPLY_FAILED
        return Verdict(reason, handled.failure.message)
    if isinstance(decision, Apply):
        return contested_verdict(decision.takara, decision.contest) if decision.contest.left else None
    return decision.verdict if isinstance(decision, Keep | Block) else None
