"""A write that was done, but whose answer was lost: its second try meets a conflict, and nothing is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from takara_sync.contest import UNKNOWN
from takara_sync.errors import Changed
from tests.unit.build import deployment_json, scaled, settled
from tests.unit.fake import FakeCluster
from tests.unit.passing import once, run

if TYPE_CHECKING:
    from takara_sync.objects import Deployment
    from tests.unit.build import Json


class Losing(FakeCluster):
    """The first apply is done and called a conflict."""

    lost = False

    def apply(self, deployment: Deployment, body: Json) -> Deployment:
        done = super().apply(deployment, body)
        if not self.lost:
            self.lost = True
            raise Changed("somebody was faster")
        return done


def taken_by(cluster: FakeCluster) -> Any:
    return cluster.status()["deployment"].get("replicasTakenBy")


def losing() -> Losing:
    return Losing(settled(), scaled(deployment_json(), 7))


def test_from_whom_the_replicas_were_taken_back_is_remembered() -> None:
    """Nothing but the status tells: the field is ours again, as if it had never been another's."""
    cluster = losing()
    assert run(cluster).exit == 0
    assert cluster.verbs("one") == ["apply", "get deployment", "get takara", "tell"]
    assert (taken_by(cluster)["manager"], cluster.replicas()) == ("hpa", 3)
    cluster.scale("one", 7)
    run(cluster, minutes=5)
    assert (cluster.reason(), cluster.replicas()) == ("ReplicasContested", 7)


def test_a_new_size_meanwhile_is_a_new_start() -> None:
    cluster = losing()
    once(cluster, "get deployment", lambda: cluster.edit("one", 5))
    run(cluster)
    assert (taken_by(cluster), cluster.replicas()) == (None, 5)


def test_who_gave_the_replicas_back_without_us_was_not_taken_from() -> None:
    cluster = FakeCluster(settled(), scaled(deployment_json(), 7))
    once(cluster, "apply", lambda: cluster.scale("one", 3))
    run(cluster)
    assert (taken_by(cluster), cluster.replicas()) == (None, 3)


def test_the_second_apply_of_a_take_over_does_not_forget_the_first() -> None:
    """Where managedFields were cleared it takes two: the first one takes the replicas, the second one all the rest."""
    cluster = FakeCluster(settled(), scaled(deployment_json(), 7))
    cluster.stored["Deployment"][next(iter(cluster.stored["Deployment"]))]["metadata"]["managedFields"] = None
    run(cluster)
    assert (taken_by(cluster)["manager"], cluster.replicas()) == (UNKNOWN, 3)
