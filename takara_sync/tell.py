"""A Takara is told its status, where that differs. A generation that moved meanwhile is acted on again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from msgspec import structs, to_builtins

from takara_sync.account import Handled, begin, reason_of
from takara_sync.act import ROUNDS, Clock, as_they_are, carry_out, remembering
from takara_sync.cluster import Cluster
from takara_sync.errors import Changed, ObjectError, PassStopped, Refused
from takara_sync.objects import Takara
from takara_sync.plan import Apply, Block, Keep, Policy, contested_verdict, decide
from takara_sync.reasons import Reason, Verdict
from takara_sync.report import CHANGED, Result
from takara_sync.status import Json, patch_for, readiness, status_for


def tell(cluster: Cluster, policy: Policy, handled: Handled, nodes: list[str], now: Clock) -> Handled:
    """Write the status where it differs. A generation that moved meanwhile means: act again on the new one.

    Raises nothing that a cluster can cause: what went wrong is the result's `failure`.
    """
    conflict: Changed | None = None
    for _ in range(ROUNDS):
        try:
            if conflict:
                before = handled.takara
                handled = _catch_up(cluster, policy, handled, now)
                nodes = _nodes_of_now(nodes, before, handled.takara)
            if handled.takara.deleting or _untold(handled):
                return handled
            if _is_newer(handled):
                wanted = {"deployment": to_builtins(handled.applied)}
            else:
                wanted = wanted_status(handled, nodes, now())
                handled = replace(handled, ready=readiness(wanted))
            patch = patch_for(handled.takara, wanted)
            if not patch:
                return replace(handled, told=conflict is not None and conflict.perhaps_by_us)
            cluster.deadline.check()
            cluster.tell(handled.takara, patch)
            return replace(handled, told=not cluster.dry_run)
        except Changed as error:
            conflict = error
        except (ObjectError, PassStopped) as error:
            return replace(handled, telling=True).failed(error)
    return handled.failed(conflict or AssertionError("unreachable"))


def _catch_up(cluster: Cluster, policy: Policy, handled: Handled, now: Clock) -> Handled:
    """The Takara and its Deployment as they are now: the same desire with the same account, or carried out anew.

    What another pass recorded meanwhile is not overwritten by an older apply of this one: it is decided anew. Where
    that was a newer program, whose body ours may have replaced before it said so, its record is made void: it would
    take what is there for its own.
    """
    live, fresh = as_they_are(cluster, handled.takara)
    same_desire = fresh.metadata.generation == handled.takara.metadata.generation and not fresh.deleting
    if same_desire and fresh.applied in (handled.takara.applied, handled.applied):
        known = handled.deployment
        seen = live if live is not None and known is not None and live.uid == known.uid else known
        return replace(handled, decision=structs.replace(handled.decision, takara=fresh), deployment=seen)
    decision = remembering(handled.decision, decide(fresh, live, policy, now()))
    again = carry_out(cluster, policy, begin(decision), now)
    if _is_newer(again) and handled.applied is not None:
        return replace(again, applied=structs.replace(fresh.applied, config_hash=""))
    nothing = again.result in (Result.UNCHANGED, Result.SKIPPED)
    kept = handled.result if nothing and handled.result in CHANGED else again.result
    return replace(again, result=kept, changes=handled.changes + again.changes)


def _nodes_of_now(nodes: list[str], before: Takara, fresh: Takara) -> list[str]:
    """What another pass told of the pods since this one read the Takara: its list may be the newer one."""
    told = fresh.told.get("nodes")
    return told if isinstance(told, list) and told != before.told.get("nodes") else nodes


def wanted_status(handled: Handled, nodes: list[str], now: datetime) -> Json:
    """The status that this Takara should have, given how far it has come."""
    nodes = nodes if handled.deployment else []
    verdict = _verdict(handled)
    return status_for(handled.takara, handled.deployment, nodes, now, verdict=verdict, applied=handled.applied)


def _untold(handled: Handled) -> bool:
    """A newer program's Takara is left alone; what may pass by itself is not told; what was not done neither."""
    newer = _is_newer(handled) and handled.applied is None
    transient = handled.failure is not None and not isinstance(handled.failure, Refused)
    return newer or transient or handled.result == Result.NOT_REACHED


def _is_newer(handled: Handled) -> bool:
    """Whether this is a newer program's."""
    return isinstance(handled.decision, Block) and handled.decision.verdict.reason == Reason.NEWER_FORMAT


def _verdict(handled: Handled) -> Verdict | None:
    decision = handled.decision
    if isinstance(handled.failure, Refused):
        return Verdict(reason_of(handled.failure), handled.failure.message)
    if isinstance(decision, Apply):
        return contested_verdict(decision.takara, decision.contest) if decision.contest.left else None
    return decision.verdict if isinstance(decision, Keep | Block) else None
