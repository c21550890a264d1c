"""Programs that break one promise each. A bug is an object, the name of one of its attributes, and its wrong value."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from takara_sync import plan, reconcile
from takara_sync.change_limit import ChangeLimit
from takara_sync.kube import cluster as kube
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.response import Request
from takara_sync.objects import FIELD_MANAGER
from takara_sync.plan import Apply, Create
from takara_sync.reconcile import Reconciler

Bug = tuple[object, str, object]

# Looked up when they are defined, before anything is put in their place.
_act, _decide, _patch_again = Reconciler.act, plan.decide, Reconciler._patch_again
_allows, _apply, _take_over = ChangeLimit.allows, KubeCluster.apply, KubeCluster.take_over
_write_status = KubeCluster.write_status


def _deletes_what_has_no_record(self: Reconciler, attempt: Any) -> Any:
    if isinstance(attempt.decision, Apply) and not attempt.takara.applied.uid:
        path = "/apis/apps/v1/namespaces/{}/deployments/{}".format(*attempt.key)
        assert isinstance(self.cluster, KubeCluster)
        self.cluster._api.send(Request("DELETE", path), self.deadline)
        attempt.decision = _decide(attempt.takara, None, self.policy, self.now())
    return _act(self, attempt)


def _in_two_halves(self: KubeCluster, deployment: Any, managed_fields: Any, deadline: Any) -> Any:
    """First the other's entry gets a name that no later pass looks for; then it becomes ours."""
    entries = deployment.managed_fields
    aside = tuple(structs.replace(one, manager=f"before-{FIELD_MANAGER}", subresource="") for one in entries[:1])
    return _take_over(self, _take_over(self, deployment, aside, deadline), managed_fields, deadline)


def _recorded(deployment: Any, takara: Any, *_: Any) -> bool:
    """The record of the Deployment is compared with what is asked for, and not with what is there."""
    return bool(takara.applied.uid == deployment.uid)


def _over_any_other(self: KubeCluster, takara: Any, patch: Any, deadline: Any) -> None:
    _write_status(self, takara, [one for one in patch if one["op"] != "test"], deadline)


def _without_version(self: KubeCluster, deployment: Any, manifest: Any, deadline: Any) -> Any:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "resourceVersion"}
    return _apply(self, deployment, manifest | {"metadata": metadata}, deadline)


def _takara_first(self: Reconciler, attempt: Any) -> None:
    """The Takara that is decided again is read ahead of its Deployment."""
    takara = self.cluster.takara(attempt.key, self.writes)
    assert takara is not None
    attempt.deployment = self.cluster.deployment(attempt.key, self.writes)
    attempt.decision = _decide(takara, attempt.deployment, self.policy, self.now())
    attempt.stale = False


def _applies(self: Reconciler, attempt: Any) -> None:
    """A Takara that moved is decided again while its status is written: nobody counts or logs that."""
    deployment, takara = self.cluster.deployment(attempt.key, self.deadline), attempt.takara
    takara = self.cluster.takara(attempt.key, self.deadline) or takara
    decision = _decide(takara, deployment, self.policy, self.now())
    if isinstance(decision, Create):
        self.cluster.create(decision.manifest, self.deadline)
    elif isinstance(decision, Apply) and decision.managed_fields is None:
        self.cluster.apply(decision.deployment, decision.manifest, self.deadline)
    _patch_again(self, attempt)


def _only_the_plan(self: ChangeLimit, decision: Any) -> bool:
    return not self._plan_exceeds or _allows(self, decision)


A_CREATE_THAT_ADOPTS: Bug = (kube, "_CREATE_ONLY", "")
WHAT_HAS_NO_RECORD_IS_MADE_ANEW: Bug = (Reconciler, "act", _deletes_what_has_no_record)
A_TAKE_OVER_IN_TWO_HALVES: Bug = (KubeCluster, "take_over", _in_two_halves)
A_RECORD_IS_BELIEVED: Bug = (plan, "is_as_recorded", _recorded)
A_STATUS_OVER_ANY_OTHER: Bug = (KubeCluster, "write_status", _over_any_other)
AN_APPLY_WITHOUT_VERSION: Bug = (KubeCluster, "apply", _without_version)
A_SPEC_READ_BEFORE_THE_DEPLOYMENT: Bug = (Reconciler, "_decide_again", _takara_first)
ONE_TRY_ONLY: Bug = (reconcile, "TRIES", 1)
A_LOST_RESPONSE_IS_FORGOTTEN: Bug = (Reconciler, "_count_if_executed", lambda *_: None)
A_LIMIT_ON_THE_PLAN_ONLY: Bug = (ChangeLimit, "allows", _only_the_plan)
A_STATUS_WRITE_THAT_APPLIES: Bug = (Reconciler, "_patch_again", _applies)
