"""A size edit before or after each request of a pass: no change without a log line, none beyond --max-changes, and the
next pass settles it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from takara_sync import plan, reconcile
from takara_sync.change_limit import ChangeLimit
from takara_sync.kube.api import Response
from takara_sync.plan import Policy
from takara_sync.report import Report
from tests.support.takaras import takara
from tests.unit.world import Call, World

SITUATIONS = ("create", "drift", "take-over", "contest", "converged")
LIMITS = (None, 0, 1)


def situation(name: str) -> World:
    world = World(takara("one", 3), takara("two", 3))
    world.sync()
    if name in ("create", "take-over"):
        world.delete("Deployment")
    if name == "take-over":
        world.deploy(replicas=4)
    for minute in range({"drift": 1, "contest": 2}.get(name, 0)):
        world.minutes = minute
        _ = minute and world.sync()
        world.scale()
    world.minutes = 2
    return world


def specs(world: World) -> dict[str, Any]:
    return {one["metadata"]["name"]: one["spec"] for one in world.items("Deployment")}


def check(name: str, limit: int | None, at: int, *, after: bool) -> bool:
    """One pass with an edit at its request number `at`; whether it had so many requests."""
    world, number = situation(name), [0]

    def around(call: Call, send: Callable[[], Response]) -> Response:  # noqa: ARG001
        number[0] += 1
        if number[0] != at:
            return send()
        _ = after or world.edit(size=5)
        response = send()
        _ = after and world.edit(size=5)
        return response

    world.around = around
    before = specs(world)
    report = world.sync(Policy(max_changes=limit))
    changed = [one for one, spec in specs(world).items() if spec != before.get(one)]
    assert world.logged == Counter(world.changed)
    assert limit is None or len(changed) <= limit
    assert report.exit in ((0,) if limit is None else (0, 5))
    assert report.exit == 5 or settles(world).exit == 0
    return number[0] >= at


def settles(world: World) -> Report:
    """The next pass does what is left, and the one after it has nothing to write."""
    world.calm()
    report = world.sync()
    assert world.reason() == "ReplicasContested" or world.replicas() == world.get("Takara")["spec"]["size"]
    world.sync()
    assert world.writes == []
    return report


def every_edit(name: str, limit: int | None) -> int:
    """How many requests a pass had at most."""
    at = 1
    while check(name, limit, at, after=False) + check(name, limit, at, after=True):
        at += 1
    return at - 1


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", SITUATIONS)
def test_an_edit_at_any_moment(name: str, limit: int | None) -> None:
    assert every_edit(name, limit) >= 3


@pytest.mark.parametrize(
    ("where", "attribute", "bug"),
    [
        (reconcile.Reconciler, "_changed", lambda *_: None),
        (ChangeLimit, "allows", lambda *_: True),
        (plan, "is_as_recorded", lambda *_: False),
    ],
    ids=["a change without a line", "a change beyond the limit", "no end"],
)
def test_a_seeded_bug_of_each_kind_is_caught(
    where: Any, attribute: str, bug: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, attribute, bug)
    with pytest.raises(AssertionError):
        all(every_edit(name, limit) for name in SITUATIONS for limit in LIMITS)
