"""One Takara within a pass: conflicts, and failures with what is told of them."""

from __future__ import annotations

import pytest

from takara_sync.cluster import Deadline
from takara_sync.errors import Changed, Refused, Rejected, TakaraSyncError, Unavailable, Vanished
from tests.unit.build import (
    Json,
    deployment_json,
    legacy,
    own_entry,
    pod_json,
    scaled,
    settled,
    takara_json,
)
from tests.unit.fake import FakeCluster
from tests.unit.passing import ONE, always, drifted, once, result, run

# ------------------------------------------------------------------ conflicts while acting


def test_a_conflict_is_read_and_decided_again() -> None:
    cluster = drifted()
    once(cluster, "apply", lambda: cluster.touch("Deployment", "one"))
    report = run(cluster)
    assert cluster.verbs("one") == ["apply", "get deployment", "get takara", "apply", "tell"]
    assert (result(report), report.exit, cluster.replicas()) == ("updated", 0, 3)


def test_a_conflict_decides_on_the_size_of_now() -> None:
    cluster = drifted()

    def edited() -> None:
        cluster.edit("one", 5)
        cluster.touch("Deployment", "one")

    once(cluster, "apply", edited)
    run(cluster)
    assert (cluster.replicas(), cluster.status()["observedGeneration"]) == (5, 2)


def test_a_desire_read_before_the_deployment_is_never_applied_to_it() -> None:
    """Another pass brings a newer size between the two reads: a conflict more, and the newer size stays."""
    cluster = drifted()
    sizes: list[int] = []

    def another_pass() -> None:
        cluster.edit("one", 5)
        cluster.scale("one", 5, "takara-sync")

    def before(verb: str, _: object) -> None:
        sizes.append(cluster.replicas())
        if (verb, cluster.verbs("one").count("apply")) == ("apply", 1):
            cluster.touch("Deployment", "one")
        if verb.startswith("get") and [verb for verb, _ in cluster.requests[:-1]].count("get deployment") == 1:
            another_pass()
            cluster.before = lambda _verb, _key: sizes.append(cluster.replicas())

    cluster.before = before
    assert run(cluster).exit == 0
    assert sizes[sizes.index(5) :] == [5] * (len(sizes) - sizes.index(5))
    assert cluster.replicas() == 5


def test_endless_conflicts_cost_one() -> None:
    cluster = drifted(takara_json("two"))
    always(cluster, "apply", Changed("busy"))
    report = run(cluster)
    assert {o.key.name: str(o.result) for o in report.outcomes} == {"one": "failed", "two": "created"}
    assert 2 <= cluster.verbs("one").count("apply") <= 5
    assert ("tell" in cluster.verbs("one"), report.exit) == (False, 1)


def test_a_deployment_of_others_that_appears_meanwhile_blocks() -> None:
    cluster = FakeCluster(takara_json())
    stranger = deployment_json(ownerReferences=None)
    once(cluster, "create", lambda: cluster.stored["Deployment"].update({ONE: stranger}))
    report = run(cluster)
    assert (result(report), report.exit) == ("blocked", 6)
    assert cluster.stored["Deployment"][ONE] == stranger
    assert cluster.reason("one", "Stalled") == "DeploymentWithoutController"


@pytest.mark.parametrize("uid", [None, "another"])
def test_gone_or_another_of_that_name_is_skipped(uid: str | None) -> None:
    cluster = drifted()

    def replaced() -> None:
        cluster.touch("Deployment", "one")
        cluster.stored["Takara"] = {ONE: takara_json(uid=uid)} if uid else {}

    once(cluster, "apply", replaced)
    report = run(cluster)
    assert (result(report), report.exit, cluster.replicas()) == ("skipped", 0, 7)
    assert cluster.verbs("one") == ["apply", "get deployment", "get takara"]


def test_a_deadline_behind_a_conflict_is_no_failure() -> None:
    seconds = [0.0]
    cluster = FakeCluster(settled(), scaled(deployment_json(), 7), deadline=Deadline(50, lambda: seconds[0]))

    def changed_and_late() -> None:
        cluster.touch("Deployment", "one")
        seconds[0] = 51

    once(cluster, "apply", changed_and_late)
    report = run(cluster)
    assert (result(report), report.exit) == ("not reached", 4)


def test_cleared_fields_are_healed_within_one_pass() -> None:
    cluster = FakeCluster(settled(), deployment_json(managedFields=None))
    assert result(run(cluster)) == "updated"
    assert cluster.verbs("one") == ["apply", "take over", "apply", "tell"]
    assert [e["manager"] for e in cluster.stored["Deployment"][ONE]["metadata"]["managedFields"]] == [
        "takara-sync",
        "before-first-apply",
    ]


def test_what_was_changed_stays_in_the_account_of_a_later_conflict() -> None:
    cluster = FakeCluster(settled(), deployment_json(managedFields=None))

    def another_pass_was_faster() -> None:
        cluster.stored["Deployment"][ONE]["metadata"]["managedFields"] = [own_entry()]
        cluster.touch("Deployment", "one")

    once(cluster, "take over", another_pass_was_faster)
    assert result(run(cluster)) == "updated"
    assert cluster.verbs("one") == ["apply", "take over", "get deployment", "get takara", "tell"]


# ------------------------------------------------------------------ failures


@pytest.mark.parametrize(
    ("error", "reason"),
    [(Refused("no\nquota"), "ApplyFailed"), (Rejected("no quota"), "ApplyRejected")],
)
def test_a_refusal_is_told_and_cleared_by_the_next_success(error: TakaraSyncError, reason: str) -> None:
    cluster = drifted(pod_json("one", "p"))
    always(cluster, "apply", error)
    report = run(cluster)
    assert (result(report), report.exit, report.outcomes[0].told) == ("failed", 1, True)
    assert [cluster.reason("one", kind) for kind in ("Ready", "Stalled")] == [reason, reason]
    assert "no quota" in cluster.status()["conditions"][0]["message"]
    assert cluster.status()["nodes"] == ["p"]
    cluster.requests.clear()
    run(cluster)
    assert [verb for verb, _ in cluster.writes] == ["apply"], "the same refusal is told once"
    cluster.before = lambda _verb, _key: None
    assert run(cluster).exit == 0
    assert cluster.reason("one", "Stalled") == "NotStalled"


def test_what_may_pass_by_itself_is_not_told() -> None:
    cluster = drifted()
    always(cluster, "apply", Unavailable("busy"))
    report = run(cluster)
    assert (result(report), report.exit, "tell" in cluster.verbs("one")) == ("failed", 1, False)


@pytest.mark.parametrize("verb", ["create", "tell"])
def test_what_vanished_is_skipped(verb: str) -> None:
    cluster = FakeCluster(takara_json())
    always(cluster, verb, Vanished("gone"))
    report = run(cluster)
    assert (result(report), report.exit) == ("skipped", 0)


@pytest.mark.parametrize("error", [Refused("no"), Unavailable("busy"), Changed("always")])
def test_a_status_that_cannot_be_written_is_a_failure(error: TakaraSyncError) -> None:
    cluster = drifted()
    always(cluster, "tell", error)
    report = run(cluster)
    assert (result(report), report.exit, cluster.replicas()) == ("failed", 1, 3)
    assert 1 <= cluster.verbs("one").count("tell") <= 5


@pytest.mark.parametrize(
    ("status", "reason"),
    [({"nodes": ["p"]}, "StatusOverwritten"), ({"observedGeneration": -1}, ""), ({}, ""), (None, "")],
)
def test_a_status_as_the_go_operator_leaves_it_is_named_where_we_had_applied(status: Json | None, reason: str) -> None:
    """A pass that was killed before it told leaves no nodes behind."""
    (outcome,) = run(FakeCluster(takara_json(status=status), deployment_json())).outcomes
    assert (str(outcome.result), outcome.reason) == ("unchanged", reason)
    assert ("Go operator" in outcome.message) == bool(reason)


def test_its_first_take_over_is_no_such_case() -> None:
    (outcome,) = run(FakeCluster(takara_json(status={"nodes": ["p"]}), legacy(deployment_json()))).outcomes
    assert (str(outcome.result), outcome.reason) == ("taken over", "")
