"""One bad Takara costs itself, in any order, whatever is bad about it."""

from __future__ import annotations

from itertools import permutations

import pytest

from takara_sync.desired import deployment_for
from takara_sync.errors import Refused, Unavailable
from takara_sync.objects import Key, Listing, Takara
from takara_sync.plan import Policy
from tests.unit.build import (
    PAUSED,
    Json,
    condition,
    deployment_json,
    legacy,
    takara_json,
)
from tests.unit.fake import FakeCluster
from tests.unit.passing import passed, raising, results

# ------------------------------------------------------------------ one bad apple


@pytest.mark.parametrize("order", sorted(set(permutations(["good", "good", "refused", "invalid", "buggy"]))))
def test_a_bad_apple_costs_itself(order: tuple[str, ...]) -> None:
    names = [f"{place}-{kind}" for place, kind in enumerate(order)]
    cluster = FakeCluster(*(takara_json(name, size="x" if "invalid" in name else 3) for name in names))

    def desired(one: Takara) -> Json:
        return {} if "buggy" in one.key.name else deployment_for(one)

    cluster.before = raising(Refused("quota"), "create", next(name for name in names if "refused" in name))
    report = passed(cluster, Policy(desired=desired), workers=3)
    expected = {"good": "created", "refused": "failed", "invalid": "invalid", "buggy": "failed"}
    assert results(report) == {name: expected[name[2:]] for name in names}
    assert {name[2:]: cluster.reason(name) for name in names} == {
        "good": "Progressing",
        "refused": "ApplyFailed",
        "invalid": "InvalidSize",
        "buggy": "",
    }
    assert report.exit == 70


def test_what_cannot_be_read_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster(takara_json("a"), takara_json("b"), takara_json("c"))
    unread = {Key("ns", "b"): "malformed", Key("ns", "nobody"): "malformed"}
    monkeypatch.setattr(cluster, "deployments", lambda: Listing((), unread))
    report = passed(cluster)
    assert results(report) == {"a": "created", "b": "failed", "c": "created"}
    assert "malformed" in report.outcomes[1].message
    assert (cluster.verbs("b"), report.exit) == ([], 1)


def test_a_failed_look_up_is_no_absence() -> None:
    cluster = FakeCluster(takara_json("a", annotations=PAUSED), takara_json("b"))
    cluster.before = raising(Unavailable("busy"), "get deployment")
    report = passed(cluster)
    assert results(report) == {"a": "failed", "b": "created"}
    assert (cluster.verbs("a"), report.exit) == (["get deployment"], 1)


def test_an_odd_status_costs_nobody_anything() -> None:
    odd = {"conditions": [condition("Stalled", "True", "x") | {"reason": ["x"]}, 5], "deployment": [], "nodes": 5}
    cluster = FakeCluster(takara_json("a", status=odd), takara_json("b", status="text"), takara_json("c", status=[]))
    assert passed(cluster).exit == 0
    assert {cluster.reason(name) for name in "abc"} == {"Progressing"}


def test_a_bug_in_the_desire_while_acting_costs_one() -> None:
    cluster = FakeCluster(takara_json("a"), takara_json("b"), legacy(deployment_json("a")))
    calls: list[str] = []

    def desired(one: Takara) -> Json:
        calls.append(one.key.name)
        if calls.count("a") == 2:
            raise ZeroDivisionError
        return deployment_for(one)

    report = passed(cluster, Policy(desired=desired))
    assert (results(report), report.exit) == ({"a": "failed", "b": "created"}, 70)
    assert [outcome.bug for outcome in report.outcomes] == [True, False]
    assert cluster.reason("a") == ""
