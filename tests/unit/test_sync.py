"""The pass: what is read, what stops it, what one bad Takara costs, in which order."""

from __future__ import annotations

import pytest

from takara_sync.cluster import Deadline
from takara_sync.errors import Unauthorized, Unreadable
from takara_sync.objects import Key
from takara_sync.plan import Policy
from tests.unit.build import (
    NOW,
    PAUSED,
    Json,
    condition,
    deployment_json,
    legacy,
    owner,
    pod_json,
    scaled,
    settled,
    takara_json,
)
from tests.unit.fake import EVERYTHING, FakeCluster
from tests.unit.passing import once, passed, raising, results

LISTS = ["list deployments", "list takaras", "list pods"]


# ------------------------------------------------------------------ the way of a pass


def test_a_first_pass_reads_everything_then_writes_then_tells() -> None:
    cluster = FakeCluster(takara_json("b"), takara_json("a"))
    report = passed(cluster)
    a, b = Key("ns", "a"), Key("ns", "b")
    assert cluster.requests == [
        ("list deployments", EVERYTHING),
        ("list takaras", EVERYTHING),
        ("create", a),
        ("create", b),
        ("list pods", EVERYTHING),
        ("tell", a),
        ("tell", b),
    ]
    assert (results(report), report.exit) == ({"a": "created", "b": "created"}, 0)
    assert all(outcome.told for outcome in report.outcomes)
    assert report.started == NOW


def test_a_converged_pass_is_three_lists() -> None:
    cluster = FakeCluster(settled(), deployment_json(), pod_json("one", "p"))
    passed(cluster)
    cluster.requests.clear()
    report = passed(cluster)
    assert [verb for verb, _ in cluster.requests] == LISTS
    assert results(report) == {"one": "unchanged"}


def test_the_status_tells_the_pods_of_after_the_writes() -> None:
    cluster = FakeCluster(takara_json())

    def pod_appears(verb: str, _: Key) -> None:
        if verb == "create":
            cluster.stored["Pod"][Key("ns", "p")] = pod_json("one", "p")

    cluster.before = pod_appears
    passed(cluster)
    assert cluster.status()["nodes"] == ["p"]


def test_the_deployments_of_the_go_operator_are_found_and_taken_over() -> None:
    cluster = FakeCluster(takara_json(), legacy(deployment_json()))
    assert results(passed(cluster)) == {"one": "taken over"}
    assert cluster.verbs("one") == ["create", "get deployment", "get takara", "take over", "apply", "tell"]
    cluster.requests.clear()
    assert results(passed(cluster)) == {"one": "unchanged"}
    assert cluster.writes == []


def test_the_size_is_read_again_behind_a_deployment_that_was_looked_up() -> None:
    """Else the size of before would be applied to the Deployment of after."""
    cluster = FakeCluster(takara_json(), legacy(deployment_json(replicas=9)))
    once(cluster, "get deployment", lambda: cluster.edit("one", 5))
    (outcome,) = passed(cluster, Policy(max_changes=9)).outcomes
    assert [(c.old, c.new) for c in outcome.changes if c.field == "spec.replicas"] == [(9, 5)]
    assert cluster.verbs("one") == ["get deployment", "get takara", "take over", "apply", "tell"]


def test_who_never_gets_a_deployment_is_looked_up() -> None:
    unlabelled: Json = {"labels": None, "ownerReferences": [owner("blocked", uid="older")]}
    cluster = FakeCluster(
        takara_json("paused", annotations=PAUSED),
        takara_json("invalid", size=-1),
        takara_json("blocked", status={"conditions": [condition("Stalled", "True", "DeploymentOfPredecessor")]}),
        deployment_json("blocked", **unlabelled),
    )
    report = passed(cluster)
    assert all(cluster.verbs(name) == ["get deployment", "tell"] for name in results(report))
    assert results(report) == {"blocked": "blocked", "invalid": "invalid", "paused": "skipped"}
    assert report.exit == 6


def test_being_deleted_costs_no_request() -> None:
    cluster = FakeCluster(takara_json(deletionTimestamp="2026-01-01T00:00:00Z"))
    assert passed(cluster).exit == 0
    assert cluster.verbs("one") == []


# ------------------------------------------------------------------ what stops a pass


@pytest.mark.parametrize("which", ["list deployments", "list takaras"])
def test_a_list_that_fails_means_no_write(which: str) -> None:
    cluster = FakeCluster(takara_json())
    cluster.before = raising(Unreadable("no answer"), which)
    report = passed(cluster)
    assert (report.exit, report.outcomes, cluster.writes) == (3, (), [])
    assert report.error is not None
    assert report.error.message == "no answer"


def test_a_list_of_pods_that_fails_means_no_status() -> None:
    cluster = FakeCluster(takara_json())
    cluster.before = raising(Unreadable("no answer"), "list pods")
    report = passed(cluster)
    assert [verb for verb, _ in cluster.writes] == ["create"]
    assert (results(report), report.exit) == ({"one": "created"}, 3)


@pytest.mark.parametrize("verb", ["create", "tell"])
def test_a_401_stops_the_pass(verb: str) -> None:
    cluster = FakeCluster(*(takara_json(name) for name in "abcd"))
    cluster.before = raising(Unauthorized("who?"), verb, "b")
    report = passed(cluster)
    assert [key.name for asked, key in cluster.writes if asked == verb] == ["a", "b"]
    assert (type(report.error), report.exit) == (Unauthorized, 3)
    rest = "not reached" if verb == "create" else "created"
    assert results(report) == {"a": "created"} | dict.fromkeys("bcd", rest)


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 4, 7])
def test_a_deadline_cuts_and_the_offset_says_whom(offset: int) -> None:
    seconds = [0.0]
    cluster = FakeCluster(*(takara_json(name) for name in "dcba"), deadline=Deadline(50, lambda: seconds[0]))
    turn = "abcd"[offset % 4 :] + "abcd"[: offset % 4]

    def late(verb: str, key: Key) -> None:
        if (verb, key.name) == ("create", turn[1]):
            seconds[0] = 51

    cluster.before = late
    report = passed(cluster, offset=offset)
    assert [key.name for _, key in cluster.writes] == list(turn[:2])
    assert cluster.requests[-1] == ("create", Key("ns", turn[1]))
    assert results(report) == {name: "created" if name in turn[:2] else "not reached" for name in "abcd"}
    assert [outcome.key.name for outcome in report.outcomes] == list("abcd")
    assert report.exit == 4


def test_a_deadline_before_the_read_reads_nothing() -> None:
    cluster = FakeCluster(takara_json(), deadline=Deadline(0))
    assert (passed(cluster).exit, cluster.requests) == (4, [])


def test_a_deadline_while_telling_leaves_the_rest_untold() -> None:
    seconds = [0.0]
    cluster = FakeCluster(*(takara_json(name) for name in "abc"), deadline=Deadline(50, lambda: seconds[0]))
    cluster.before = lambda verb, key: seconds.__setitem__(0, 51 if (verb, key.name) == ("tell", "a") else seconds[0])
    report = passed(cluster)
    assert [outcome.told for outcome in report.outcomes] == [True, False, False]
    assert (results(report), report.exit) == (dict.fromkeys("abc", "created"), 4)


@pytest.mark.parametrize(("limit", "code"), [(0, 5), (1, 5), (2, 0)])
def test_more_changes_than_allowed_mean_no_write(limit: int, code: int) -> None:
    fleet = [takara_json("a"), settled("b"), scaled(deployment_json("b"), 7), settled("c"), deployment_json("c")]
    cluster = FakeCluster(*fleet, takara_json("d"), deployment_json("d"))
    report = passed(cluster, Policy(max_changes=limit))
    assert report.exit == code
    assert bool(cluster.writes) is (code == 0)
    assert set(results(report).values()) == ({"not reached"} if code else {"created", "updated", "unchanged"})
