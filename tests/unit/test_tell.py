"""What a Takara is told within a pass, and the story of a contest over many passes."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.fields import digest
from tests.unit.build import (
    IMAGE,
    LONG,
    body,
    deployment_json,
    entry,
    legacy,
    lost,
    owned,
    pod_json,
    scaled,
    settled,
    takara_json,
    tree_of,
)
from tests.unit.fake import FakeCluster
from tests.unit.passing import ONE, drifted, once, result, run

# ------------------------------------------------------------------ telling


def test_a_generation_that_moves_while_telling_is_acted_upon() -> None:
    cluster = drifted()
    once(cluster, "tell", lambda: cluster.edit("one", 5))
    report = run(cluster)
    assert cluster.verbs("one") == ["apply", "tell", "get deployment", "get takara", "apply", "tell"]
    assert (cluster.replicas(), cluster.status()["observedGeneration"]) == (5, 2)
    assert [(c.old, c.new) for c in report.outcomes[0].changes] == [(7, 3), (3, 5)]
    assert (result(report), report.outcomes[0].told) == ("updated", True)


def test_a_takara_that_moves_otherwise_is_told_without_another_write() -> None:
    cluster = drifted()
    once(cluster, "tell", lambda: cluster.touch("Takara", "one"))
    assert result(run(cluster)) == "updated"
    assert cluster.verbs("one") == ["apply", "tell", "get deployment", "get takara", "tell"]


def test_what_moved_while_telling_is_told_as_it_is_by_then() -> None:
    cluster = drifted()

    def meanwhile() -> None:
        cluster.stored["Deployment"][ONE]["status"] = {"replicas": 9}
        cluster.stored["Takara"][ONE]["status"]["nodes"] = ["newer"]
        cluster.touch("Takara", "one")

    once(cluster, "tell", meanwhile)
    assert run(cluster).exit == 0
    assert cluster.status()["replicas"] == 9
    assert cluster.status()["nodes"] == ["newer"], "of two lists of pods this one may be the older"


def test_the_record_of_another_pass_is_not_overwritten_by_an_older_apply() -> None:
    cluster = drifted()

    def meanwhile() -> None:
        cluster.stored["Takara"][ONE]["status"]["deployment"] |= {"uid": "of-another-apply"}
        cluster.touch("Takara", "one")

    once(cluster, "tell", meanwhile)
    assert result(run(cluster)) == "updated"
    assert cluster.verbs("one") == ["apply", "tell", "get deployment", "get takara", "apply", "tell"]


def test_a_newer_program_that_told_meanwhile_is_blocked_on_and_its_record_made_void() -> None:
    """Our apply may have been the later one: the newer program is to look at what is there."""
    cluster = drifted()

    def meanwhile() -> None:
        cluster.stored["Takara"][ONE]["status"]["deployment"] |= {"format": 9, "configHash": "newer"}
        cluster.touch("Takara", "one")

    once(cluster, "tell", meanwhile)
    report = run(cluster)
    assert (result(report), report.exit) == ("blocked", 6)
    told = cluster.status()["deployment"]
    assert (told["format"], told.get("configHash", "")) == (9, "")
    assert cluster.reason() == "", "the rest of its status is left alone"
    assert run(cluster).exit == 6
    assert cluster.verbs("one") == ["apply", "tell", "get deployment", "get takara", "tell"]


@pytest.mark.parametrize("generation", [1, 2])
def test_a_takara_deleted_while_telling_is_left_alone(generation: int) -> None:
    cluster = drifted()

    def deleted() -> None:
        gone = {"deletionTimestamp": "2026-01-01T00:00:00Z", "generation": generation}
        cluster.stored["Takara"][ONE]["metadata"] |= gone
        cluster.touch("Takara", "one")

    once(cluster, "tell", deleted)
    report = run(cluster)
    assert (result(report), report.exit) == ("updated", 0), "what was changed stays in the account"
    assert cluster.verbs("one").count("tell") == 1


def test_an_invalid_takara_that_had_converged_tells_its_real_nodes() -> None:
    cluster = FakeCluster(settled(size=-1), deployment_json(status={"replicas": 3}), pod_json("one", "p"))
    assert run(cluster).exit == 6
    assert (cluster.status()["nodes"], cluster.status()["replicas"]) == (["p"], 3)
    assert cluster.status()["deployment"] == settled(size=-1)["status"]["deployment"]


def test_pods_of_a_deployment_of_others_are_not_told() -> None:
    cluster = FakeCluster(takara_json(), deployment_json(ownerReferences=None), pod_json("one", "p"))
    run(cluster)
    assert cluster.status()["nodes"] == []


def test_what_a_newer_program_applied_is_left_alone_with_its_status() -> None:
    cluster = FakeCluster(settled(size=5, record={"format": 9}), scaled(deployment_json(), 7))
    report = run(cluster)
    assert (result(report), report.exit, cluster.writes) == ("blocked", 6, [])


def test_a_legacy_size_is_no_contest_afterwards() -> None:
    cluster = FakeCluster(takara_json(), legacy(deployment_json(replicas=9)))
    assert result(run(cluster)) == "taken over"
    assert cluster.replicas() == 3
    cluster.scale("one", 7, "kubectl")
    assert result(run(cluster, 1)) == "updated"


# ------------------------------------------------------------------ a contest, pass by pass


def test_the_story_of_a_contest() -> None:
    cluster = FakeCluster(settled(), deployment_json())

    def passing(minutes: float) -> tuple[str, Any, str, int]:
        cluster.requests.clear()
        report = run(cluster, minutes)
        return result(report), cluster.replicas(), cluster.reason(), len(cluster.writes)

    assert passing(-1) == ("unchanged", 3, "Progressing", 1)
    cluster.scale("one", 7)
    assert passing(0) == ("updated", 3, "Progressing", 2)
    cluster.scale("one", 8)
    assert passing(1) == ("contested", 8, "ReplicasContested", 1)
    assert passing(2) == ("contested", 8, "ReplicasContested", 0)
    cluster.scale("one", 9)
    assert passing(3) == ("contested", 9, "ReplicasContested", 0)
    image = lost(cluster.stored["Deployment"][ONE], *IMAGE)
    image["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx"
    cluster.stored["Deployment"][ONE] = image
    assert passing(4) == ("updated", 9, "ReplicasContested", 2)
    without = entry("takara-sync", tree_of(owned(body())), "Apply")["fieldsV1"]
    del without["f:spec"]["f:replicas"]
    assert cluster.status()["deployment"]["fieldsHash"] == digest([LONG, without])
    assert passing(5) == ("contested", 9, "ReplicasContested", 0)
    cluster.scale("one", 7)
    assert passing(6) == ("contested", 7, "ReplicasContested", 0)
    assert passing(10) == ("updated", 3, "Progressing", 2)
    cluster.scale("one", 7)
    assert passing(11) == ("contested", 7, "ReplicasContested", 1)
    assert passing(29) == ("contested", 7, "ReplicasContested", 0)
    cluster.edit("one", 4)
    assert passing(29.5) == ("updated", 4, "Progressing", 2)
    assert passing(29.6) == ("unchanged", 4, "Progressing", 0)
