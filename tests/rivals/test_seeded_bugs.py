"""Tests of these tests: a rule that is broken on purpose makes the check of its promise fail."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync import KubeCluster, act, tell
from takara_sync.cluster import Cluster
from takara_sync.contest import Contest
from takara_sync.objects import Deployment, Takara
from takara_sync.report import Report, Result
from takara_sync.status import patch_for
from tests.rivals import test_slow_pass as slow
from tests.rivals.newer import become_newer
from tests.rivals.passes import Passes
from tests.rivals.test_autoscaler import SECOND, Fight, check_a_fight_of
from tests.rivals.test_deadline import RESTLESS, Passing, check_a_restless_fleet, passing
from tests.rivals.test_gitops import SIZE, check_a_contest_over_the_replicas
from tests.rivals.test_go_operator import Both, check_pods_survive
from tests.rivals.test_single_scales import Person, check_single_scales
from tests.rivals.test_two_formats import Versions, check_no_flip_flop
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Callable

    Bug = Callable[[pytest.MonkeyPatch], None]

__all__ = ["passing"]


def seen() -> Any:
    """The check has to fail."""
    return pytest.raises(AssertionError)


# ------------------------------------------------------------------ a slow pass


def apply_without_version(patch: pytest.MonkeyPatch) -> None:
    right = KubeCluster.apply

    def apply(self: KubeCluster, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        metadata = {key: value for key, value in body["metadata"].items() if key != "resourceVersion"}
        return right(self, deployment, body | {"metadata": metadata})

    patch.setattr(KubeCluster, "apply", apply)


def create_that_is_not_create_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("takara_sync.kube.cluster._CREATE_ONLY", None)


def desire_read_before_the_deployment(patch: pytest.MonkeyPatch) -> None:
    def as_they_are(cluster: Cluster, of: Takara) -> tuple[Deployment | None, Takara]:
        fresh = cluster.takara(of.key)
        assert fresh is not None
        return cluster.deployment(of.key), fresh

    for module in (act, tell):
        patch.setattr(module, "as_they_are", as_they_are)


def status_without_tests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tell, "patch_for", lambda *args: [one for one in patch_for(*args) if one["op"] != "test"])


def pods_of_before(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tell, "_nodes_of_now", lambda nodes, *_: nodes)


def accusation_at_first_sight(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(act, "_hasty", lambda _: None)


@pytest.mark.parametrize(
    ("bug", "found", "meanwhile"),
    [
        (apply_without_version, slow.scaled, slow.resized),
        (create_that_is_not_create_only, slow.new, slow.resized),
        (desire_read_before_the_deployment, slow.left_by_the_go_operator, slow.resized),
        (status_without_tests, slow.grown, slow.resized),
        (pods_of_before, slow.status_lost, slow.resized_and_run),
        (accusation_at_first_sight, slow.scaled, slow.resized_and_run),
        (accusation_at_first_sight, slow.grown, slow.made_anew),
    ],
    ids=lambda each: each.__name__,
)
def test_a_slow_pass_is_seen(
    new_arena: Callable[[], World], monkeypatch: pytest.MonkeyPatch, bug: Bug, found: slow.Step, meanwhile: slow.Step
) -> None:
    bug(monkeypatch)
    with seen():
        slow.check_held_up_anywhere(new_arena, found, meanwhile)


# ------------------------------------------------------------------ a contest


def without_the_rule(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("takara_sync.plan.contest_of", lambda takara, *_: Contest(record=takara.applied.replicas_taken_by))


def with_a_wait_that_does_not_grow(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("takara_sync.contest._wait", lambda _: timedelta(minutes=10))


@pytest.mark.parametrize("bug", [without_the_rule, with_a_wait_that_does_not_grow], ids=lambda bug: bug.__name__)
def test_a_fight_against_the_rule_is_seen(arena: World, monkeypatch: pytest.MonkeyPatch, bug: Bug) -> None:
    bug(monkeypatch)
    with seen():
        check_a_fight_of(31, 20 * SECOND, Fight(arena))


def test_a_gitops_tool_that_is_fought_is_seen(arena: World, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = Passes(arena)
    arena.create(takara("one", SIZE))
    passes.settle()
    without_the_rule(monkeypatch)
    with seen():
        check_a_contest_over_the_replicas(passes)


def test_a_manual_scale_that_is_left_is_seen(arena: World, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takara_sync.contest.AGAIN_WITHIN", timedelta(days=30))
    with seen():
        check_single_scales(Person(arena, seed), 60)


# ------------------------------------------------------------------ two versions, the Go operator


def test_a_format_that_is_ignored_is_seen(arena: World) -> None:
    arena.create(takara("one", 1))
    with seen():
        check_no_flip_flop(Versions(arena, accept_newer_format=True))


def test_a_pod_that_restarts_at_the_take_over_is_seen(arena: World, monkeypatch: pytest.MonkeyPatch) -> None:
    become_newer(monkeypatch)
    with seen():
        check_pods_survive(Both(arena))


# ------------------------------------------------------------------ the deadline


def always_from_the_start(_: Report, __: int) -> int:
    return 0


def by_what_was_gone_through(report: Report, offset: int) -> int:
    return offset + sum(outcome.result != Result.NOT_REACHED for outcome in report.outcomes)


@pytest.mark.parametrize("rule", [always_from_the_start, by_what_was_gone_through])
def test_a_takara_that_starves_is_seen(
    passing: Passing, monkeypatch: pytest.MonkeyPatch, rule: Callable[[Report, int], int]
) -> None:
    monkeypatch.setattr("takara_sync.cli.loop.next_offset", rule)
    numbers = RESTLESS["so many that half a fleet is gone through"]
    with seen():
        check_a_restless_fleet(passing, [f"t{number:03}" for number in numbers], rounds=1)
