"""Tests of these tests: a promise that is broken on purpose makes its check fail."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync import KubeCluster
from takara_sync.contest import Contest
from takara_sync.plan import decide
from takara_sync.reconcile import Reconciler
from tests.rivals import test_slow_pass as slow
from tests.rivals.newer import become_newer
from tests.rivals.test_autoscaler import SECOND, Fight, check_a_fight_of
from tests.rivals.test_deadline import Passing, check_a_restless_fleet, passing
from tests.rivals.test_go_operator import Both, check_pods_survive
from tests.rivals.test_single_scales import Person, check_single_scales
from tests.rivals.test_two_formats import Versions, check_no_flip_flop
from tests.support.takaras import takara
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    Bug = Callable[[pytest.MonkeyPatch], None]

__all__ = ["passing"]


def caught() -> Any:
    """The check has to fail."""
    return pytest.raises(AssertionError)


# ------------------------------------------------------------------ an older size over a newer one


def apply_without_version(patch: pytest.MonkeyPatch) -> None:
    right = KubeCluster.apply

    def apply(self: KubeCluster, deployment: Any, manifest: dict[str, Any], deadline: Any) -> Any:
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "resourceVersion"}
        return right(self, deployment, manifest | {"metadata": metadata}, deadline)

    patch.setattr(KubeCluster, "apply", apply)


def create_that_is_not_create_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("takara_sync.kube.cluster._CREATE_ONLY", None)


def spec_read_before_the_deployment(patch: pytest.MonkeyPatch) -> None:
    """The Takara that is decided on again was read ahead of its Deployment."""

    def decide_again(self: Reconciler, attempt: Any) -> None:
        takara = self.cluster.takara(attempt.key, self.writes)
        assert takara is not None
        attempt.deployment = self.cluster.deployment(attempt.key, self.writes)
        attempt.decision = decide(takara, attempt.deployment, self.policy, self.now())
        attempt.stale = False

    patch.setattr(Reconciler, "_decide_again", decide_again)


def status_over_any_other(patch: pytest.MonkeyPatch) -> None:
    right = KubeCluster.write_status

    def write_status(self: KubeCluster, takara: Any, changes: Any, deadline: Any) -> None:
        right(self, takara, [one for one in changes if one["op"] != "test"], deadline)

    patch.setattr(KubeCluster, "write_status", write_status)


@pytest.mark.parametrize(
    ("bug", "found", "meanwhile"),
    [
        (apply_without_version, slow.scaled, slow.resized),
        (create_that_is_not_create_only, slow.new, slow.resized),
        (spec_read_before_the_deployment, slow.left_by_the_go_operator, slow.resized),
        (status_over_any_other, slow.grown, slow.resized),
    ],
    ids=lambda each: each.__name__,
)
def test_a_slow_pass(
    new_arena: Callable[[], World], monkeypatch: pytest.MonkeyPatch, bug: Bug, found: slow.Step, meanwhile: slow.Step
) -> None:
    bug(monkeypatch)
    with caught():
        slow.check_held_up_anywhere(new_arena, found, meanwhile)


# ------------------------------------------------------------------ fights without end


def without_the_rule(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("takara_sync.plan.contest_of", lambda takara, *_: Contest(record=takara.applied.replicas_taken_by))


def with_a_wait_that_does_not_grow(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("takara_sync.contest.wait_after", lambda _: timedelta(minutes=10))


@pytest.mark.parametrize("bug", [without_the_rule, with_a_wait_that_does_not_grow], ids=lambda bug: bug.__name__)
def test_a_fight_against_the_rule(arena: World, monkeypatch: pytest.MonkeyPatch, bug: Bug) -> None:
    bug(monkeypatch)
    with caught():
        check_a_fight_of(31, 20 * SECOND, Fight(arena))


def test_a_manual_scale_that_is_left(arena: World, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takara_sync.contest.SHORTEST", timedelta(days=30))
    with caught():
        check_single_scales(Person(arena, seed), 60)


def test_a_format_that_is_ignored(arena: World) -> None:
    arena.create(takara("one", 1))
    with caught():
        check_no_flip_flop(Versions(arena, accept_newer_format=True))


def test_a_pod_that_restarts_at_the_take_over(arena: World, monkeypatch: pytest.MonkeyPatch) -> None:
    become_newer(monkeypatch)
    with caught():
        check_pods_survive(Both(arena))


# ------------------------------------------------------------------ left undone


def test_a_takara_that_starves(passing: Passing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takara_sync.sync.next_start", lambda order, _: min(attempt.key for attempt in order))
    with caught():
        check_a_restless_fleet(passing, rounds=1)
