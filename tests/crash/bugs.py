"""Programs that do not survive being stopped: the right one with one thing wrong, for the tests of the tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from takara_sync import Report, account, act, plan, sync, tell
from takara_sync.desired import FORMAT, config_hash, fields_hash
from takara_sync.errors import Unreadable
from takara_sync.kube import cluster as kube
from takara_sync.kube.answers import Request
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import FIELD_MANAGER, Applied
from takara_sync.plan import Apply, Keep
from takara_sync.status import patch_for
from tests.crash import simulation

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from takara_sync.account import Handled

# Looked up when they are defined, before anything is put in their place.
_carry_out, _decide, _wanted = act.carry_out, plan.decide, tell.wanted_status
_tell, _take_over, _deployments = KubeCluster.tell, KubeCluster.take_over, KubeCluster.deployments


def _acting(monkeypatch: pytest.MonkeyPatch, carry_out: Any) -> None:
    monkeypatch.setattr(sync, "carry_out", carry_out)


def a_create_that_adopts(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    monkeypatch.setattr(kube, "_CREATE_ONLY", "")


def what_has_no_record_is_made_anew(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def carry_out(cluster: Any, policy: Any, handled: Handled, now: Any) -> Handled:
        decision = handled.decision
        if isinstance(decision, Apply) and not decision.takara.applied.uid:
            namespace, name = handled.key
            path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
            cluster._api.send(Request("DELETE", path), cluster.deadline)
            handled = account.begin(_decide(decision.takara, None, policy, now()))
        return _carry_out(cluster, policy, handled, now)

    _acting(monkeypatch, carry_out)


def what_has_no_record_is_applied_twice(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def carry_out(cluster: Any, policy: Any, handled: Handled, now: Any) -> Handled:
        decision = handled.decision
        if isinstance(decision, Apply) and not decision.takara.applied.uid:
            cluster.apply(decision.deployment, decision.body)
        return _carry_out(cluster, policy, handled, now)

    _acting(monkeypatch, carry_out)


def an_apply_that_is_recorded_before_it_is_done(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def carry_out(cluster: Any, policy: Any, handled: Handled, now: Any) -> Handled:
        decision = handled.decision
        if isinstance(decision, Apply):
            live = decision.deployment
            record = Applied(live.uid, config_hash(decision.body), fields_hash(live), FORMAT)
            wanted = tell.wanted_status(replace(handled, applied=record), [], now())
            cluster.tell(handled.takara, patch_for(handled.takara, wanted))
            handled = replace(handled, decision=structs.replace(decision, takara=cluster.takara(handled.key)))
        return _carry_out(cluster, policy, handled, now)

    _acting(monkeypatch, carry_out)


def a_status_that_is_told_before_the_apply(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def carry_out(cluster: Any, policy: Any, handled: Handled, now: Any) -> Handled:
        decision = handled.decision
        if isinstance(decision, Apply):
            wanted = tell.wanted_status(handled, [], now())
            cluster.tell(handled.takara, patch_for(handled.takara, wanted))
            handled = replace(handled, decision=structs.replace(decision, takara=cluster.takara(handled.key)))
        return _carry_out(cluster, policy, handled, now)

    _acting(monkeypatch, carry_out)


def a_take_over_in_two_halves(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    """First what was the other's is put aside, under a name that no later pass looks for; then it becomes ours."""

    def take_over(self: KubeCluster, deployment: Any, managed_fields: Any) -> Any:
        entries = deployment.metadata.managed_fields
        aside = tuple(structs.replace(one, manager=f"before-{FIELD_MANAGER}", subresource="") for one in entries[:1])
        return _take_over(self, _take_over(self, deployment, aside), managed_fields)

    monkeypatch.setattr(KubeCluster, "take_over", take_over)


def who_says_that_all_is_well_is_believed(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def decide(takara: Any, deployment: Any, policy: Any, now: Any) -> Any:
        told = takara.told.get("observedGeneration") == takara.metadata.generation
        believed = told and takara.applied.uid and deployment is not None
        return Keep(takara, deployment) if believed else _decide(takara, deployment, policy, now)

    monkeypatch.setattr(plan, "decide", decide)


def a_record_that_is_believed(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def as_recorded(deployment: Any, takara: Any, body: Any, *, contested: bool) -> bool:
        was = takara.applied
        return (was.uid, was.config_hash) == (deployment.uid, config_hash(body, contested=contested))

    monkeypatch.setattr(plan, "as_recorded", as_recorded)


def a_lock_that_is_left_behind(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    lock = folder / "lock"

    def sync_once(*args: Any, **options: Any) -> Report:
        if lock.exists():
            lock.unlink()  # it is taken for stale, but only after that pass
            return Report((), options["now"](), 0.0, Unreadable("another copy is at work"))
        lock.touch()
        report = sync.sync_once(*args, **options)
        lock.unlink()
        return report

    monkeypatch.setattr(simulation, "sync_once", sync_once)


def a_status_that_tells_the_time(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def wanted_status(handled: Handled, nodes: list[str], now: Any) -> Any:
        wanted = _wanted(handled, nodes, now)
        return wanted | {"selector": f"{wanted['selector']},at={now.timestamp():.0f}"}

    monkeypatch.setattr(tell, "wanted_status", wanted_status)


def lists_that_are_read_twice(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    monkeypatch.setattr(KubeCluster, "deployments", lambda self: (_deployments(self), _deployments(self))[1])


def a_status_that_is_written_unseen(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    def tell(self: KubeCluster, takara: Any, patch: Any) -> None:
        _tell(self, takara, [one for one in patch if one["op"] != "test"])

    monkeypatch.setattr(KubeCluster, "tell", tell)


def a_conflict_that_is_a_failure(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    for module in (act, tell):
        monkeypatch.setattr(module, "ROUNDS", 1)


def a_take_that_is_forgotten(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    for module in (act, tell):
        monkeypatch.setattr(module, "remembering", lambda _before, again: again)
