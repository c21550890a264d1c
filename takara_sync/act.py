"""One Takara from its decision to what was done. A conflict means: read again, decide again, a few times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import structs

from takara_sync.account import Handled
from takara_sync.cluster import Cluster
from takara_sync.desired import FORMAT, config_hash, fields_hash
from takara_sync.errors import Changed, ObjectError, PassStopped, Refused, Vanished
from takara_sync.fields import REPLICAS, holds, own_fields, take_over
from takara_sync.objects import Applied, Deployment, Takara
from takara_sync.plan import Apply, Block, Create, Decision, Keep, Policy, decide
from takara_sync.reasons import INVALID, NOT_OURS, Reason
from takara_sync.report import CHANGED, Result

ROUNDS = 5
"""How often one Takara is decided in a pass before the conflicts around it make it failed."""

Clock = Callable[[], datetime]


def carry_out(cluster: Cluster, policy: Policy, handled: Handled, now: Clock) -> Handled:
    """Do what was decided; read and decide again as often as somebody got in between.

    Where the time is nearly over nothing is begun: what was changed is to be told, or the next pass, which finds no
    record of it, would change it again and come no further than this one.

    Raises nothing that a cluster can cause: what went wrong is the result's `failure`.
    """
    if isinstance(handled.decision, Create | Apply) and cluster.deadline.nearly_over():
        return handled
    conflict: ObjectError | None = _hasty(handled.decision)
    lost: list[Decision] = []
    for _ in range(ROUNDS):
        try:
            if conflict:
                again = _decide_again(cluster, handled.decision, policy, now)
                if isinstance(conflict, Refused) and isinstance(again, Create):
                    return handled.failed(conflict)
                handled = replace(handled, decision=again)
            conflict = None
            handled = _with_what_was_lost(lost, _execute(cluster, handled))
            if not _left_by_first_apply(handled, policy):
                return handled
            again = decide(handled.takara, handled.deployment, policy, now())
            handled = replace(handled, decision=remembering(handled.decision, again))
        except Changed as error:
            conflict = error
            lost += [handled.decision] if error.perhaps_by_us else []
        except (ObjectError, PassStopped) as error:
            if not (isinstance(error, Refused) and isinstance(handled.decision, Create)):
                return _as_seen(handled).failed(error)
            # Behind it there may be a Deployment that the list, which goes by our label, does not hold.
            conflict = error
    return handled.failed(conflict) if conflict else handled


def _with_what_was_lost(lost: Sequence[Decision], handled: Handled) -> Handled:
    """This Takara, with the writes in its account whose answers were lost: nothing was left to do, so they were done.

    Another copy may have done it meanwhile; that cannot be told, and the change counts as this one's.
    """
    applies = [decision for decision in lost if isinstance(decision, Apply)]
    taken = [apply for apply in applies if apply.managed_fields is not None]
    if taken and handled.result in (Result.UNCHANGED, Result.UPDATED):
        return replace(handled, result=Result.TAKEN_OVER, changes=taken[0].changes)
    if handled.result != Result.UNCHANGED or not lost:
        return handled
    if applies:
        return replace(handled, result=Result.UPDATED, changes=applies[0].changes)
    return replace(handled, result=Result.CREATED)


def _as_seen(handled: Handled) -> Handled:
    """This Takara with its Deployment as it was decided on last: of that its status tells where an apply failed."""
    decision = handled.decision
    return replace(handled, deployment=decision.deployment) if isinstance(decision, Apply) else handled


def _hasty(decision: Decision) -> Changed | None:
    """An accusation that no write would put to the test and that is new: it is looked at once more before it is told.

    The Deployment was listed before the Takara, and another pass may have put it right, or a deletion have gone on,
    between the two.
    """
    ready, stalled = decision.takara.condition("Ready"), decision.takara.condition("Stalled")
    if isinstance(decision, Keep):
        new = decision.contest.left and ready.get("reason") != Reason.REPLICAS_CONTESTED
    else:
        not_ours = isinstance(decision, Block) and decision.verdict.reason in NOT_OURS
        new = not_ours and str(stalled.get("reason")) not in NOT_OURS
    return Changed(f"Takara {decision.takara.key} may have been changed between two lists") if new else None


def _decide_again(cluster: Cluster, before: Decision, policy: Policy, now: Clock) -> Decision:
    deployment, fresh = as_they_are(cluster, before.takara)
    return remembering(before, decide(fresh, deployment, policy, now()))


def remembering(before: Decision, again: Decision) -> Decision:
    """`again`, with from whom `before` took the replicas back: its write may be done, and only the answer was lost.

    Then the replicas are ours already, and nothing else tells that they ever were another's.
    """
    if not isinstance(before, Apply) or not isinstance(again, Apply | Keep) or again.deployment is None:
        return again
    recorded, noted = before.takara.applied.replicas_taken_by, before.contest.record
    unknown = noted != recorded and again.contest.record == recorded
    same = before.takara.metadata.generation == again.takara.metadata.generation
    if unknown and same and holds(own_fields(again.deployment.managed_fields), REPLICAS):
        return structs.replace(again, contest=structs.replace(again.contest, record=noted))
    return again


def as_they_are(cluster: Cluster, takara: Takara) -> tuple[Deployment | None, Takara]:
    """The Deployment, then the Takara, as they are now: the desire is to be the fresher one.

    The other way round an older size would be applied to the very Deployment that had just got a newer one.
    Raises Vanished where the Takara is gone or another one took its name.
    """
    deployment = cluster.deployment(takara.key)
    fresh = cluster.takara(takara.key)
    if fresh is None or fresh.uid != takara.uid:
        raise Vanished(f"Takara {takara.key} is gone")
    return deployment, fresh


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
    return replace(before, result=result, deployment=decision.deployment, applied=_record_of(decision))


def _record_of(decision: Keep | Block) -> Applied | None:
    """The record, where a contest is to be remembered that is not in it; else None: it stays as it is."""
    was = decision.takara.applied
    if isinstance(decision, Block) or decision.contest.record in (None, was.replicas_taken_by):
        return None
    return structs.replace(was, replicas_taken_by=decision.contest.record)


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
