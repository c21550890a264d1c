"""Programs that break one promise each, for the tests of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from takara_sync import plan, reconcile, status
from takara_sync.change_limit import ChangeLimit
from takara_sync.kube import cluster as kube
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.response import Request
from takara_sync.objects import FIELD_MANAGER
from takara_sync.plan import Apply, Create, Keep
from takara_sync.reconcile import Reconciler

if TYPE_CHECKING:
    import pytest


# Looked up when they are defined, before anything is put in their place.
_act, _decide, _status_for = Reconciler.act, plan.decide, status.status_for
_allows, _take_over, _write_status = ChangeLimit.allows, KubeCluster.take_over, KubeCluster.write_status


def a_create_that_adopts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube, "_CREATE_ONLY", "")


def what_has_no_record_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(self: Reconciler, attempt: Any) -> Any:
        if isinstance(attempt.decision, Apply) and not attempt.takara.applied.uid:
            path = "/apis/apps/v1/namespaces/{}/deployments/{}".format(*attempt.key)
            assert isinstance(self.cluster, KubeCluster)
            self.cluster._api.send(Request("DELETE", path), self.deadline)
            attempt.decision = _decide(attempt.takara, None, self.policy, self.now())
        return _act(self, attempt)

    monkeypatch.setattr(Reconciler, "act", act)


def a_take_over_in_two_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """First what was the other's is put aside, under a name that no later pass looks for; then it becomes ours."""

    def take_over(self: KubeCluster, deployment: Any, managed_fields: Any, deadline: Any) -> Any:
        entries = deployment.metadata.managed_fields
        aside = tuple(structs.replace(one, manager=f"before-{FIELD_MANAGER}", subresource="") for one in entries[:1])
        return _take_over(self, _take_over(self, deployment, aside, deadline), managed_fields, deadline)

    monkeypatch.setattr(KubeCluster, "take_over", take_over)


def a_status_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a status of this generation says of the Deployment is not looked at again."""

    def decide(takara: Any, deployment: Any, *rest: Any) -> Any:
        believed = takara.is_recorded and takara.applied.uid and deployment is not None
        return Keep(takara, deployment) if believed else _decide(takara, deployment, *rest)

    monkeypatch.setattr(plan, "decide", decide)


def a_record_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of the Deployment is compared with what is asked for, and not with what is there."""

    monkeypatch.setattr(plan, "is_as_recorded", lambda deployment, takara, *_: takara.applied.uid == deployment.uid)


def a_status_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def status_for(takara: Any, deployment: Any, nodes: Any, now: Any, **more: Any) -> Any:
        wanted = _status_for(takara, deployment, nodes, now, **more)
        return wanted | {"selector": f"{wanted['selector']},at={now.timestamp():.0f}"}

    monkeypatch.setattr(reconcile, "status_for", status_for)


def a_status_over_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_status(self: KubeCluster, takara: Any, patch: Any, deadline: Any) -> None:
        _write_status(self, takara, [one for one in patch if one["op"] != "test"], deadline)

    monkeypatch.setattr(KubeCluster, "write_status", write_status)


def one_try_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "TRIES", 1)


def a_lost_response_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reconciler, "_count_if_executed", lambda *_: None)


def a_limit_on_the_plan_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChangeLimit, "allows", lambda self, decision: not self._plan_exceeds or _allows(self, decision))


def a_status_write_that_applies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Takara that moved is decided again while its status is written: nobody counts or logs that."""
    patch_again = Reconciler._patch_again

    def apply(self: Reconciler, attempt: Any) -> None:
        deployment, takara = self.cluster.deployment(attempt.key, self.deadline), attempt.takara
        takara = self.cluster.takara(attempt.key, self.deadline) or takara
        decision = _decide(takara, deployment, self.policy, self.now())
        if isinstance(decision, Create):
            self.cluster.create(decision.manifest, self.deadline)
        elif isinstance(decision, Apply) and decision.managed_fields is None:
            self.cluster.apply(decision.deployment, decision.manifest, self.deadline)
        patch_again(self, attempt)

    monkeypatch.setattr(Reconciler, "_patch_again", apply)
