"""Somebody else keeps taking the replicas."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from takara_sync import KubeCluster, sync_once
from takara_sync.kube.api import Api
from tests.world import World, takara

if TYPE_CHECKING:
    from tests.server import Request, User

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Contest:
    """Passes at moments of our choosing, and an autoscaler that wants 7 where the Takara says 3."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.user: User = world.server.user()
        self._api = Api.connect(str(self.user.kubeconfig))
        world.create(takara("one", 3))
        self.sync(0)

    def sync(self, minutes: float) -> list[Request]:
        """A pass so many minutes after the start; the writes that it made."""
        seen = len(self.world.server.requests(self.user))
        cluster = KubeCluster(self._api, namespaces=[self.world.namespace])
        report = sync_once(cluster, now=lambda: START + timedelta(minutes=minutes))
        assert report.exit == 0, report
        return [request for request in self.world.server.requests(self.user)[seen:] if request.writes]

    def take(self, replicas: int = 7) -> None:
        self.world.kubectl("scale", "deployment/one", f"--replicas={replicas}")

    @property
    def replicas(self) -> int:
        found: int = self.world.deployment("one")["spec"]["replicas"]
        return found

    @property
    def ready(self) -> tuple[str, str]:
        condition = self.world.condition("one", "Ready")
        return condition["reason"], condition["message"]


@pytest.fixture
def contest(world: World) -> Contest:
    return Contest(world)


def test_a_second_take_within_ten_minutes_is_left_to_the_other(contest: Contest) -> None:
    contest.take()
    contest.sync(1)
    assert contest.replicas == 3
    contest.take()
    contest.sync(2)

    assert contest.replicas == 7
    reason, message = contest.ready
    assert reason == "ReplicasContested"
    assert "kubectl" in message
    assert "spec.size" in message
    assert "autoscaler at Takara one" in message
    contest.world.settle()
    contest.sync(3)  # what the Deployment's controller did since
    assert contest.sync(4) == []


def test_other_drift_is_still_repaired_during_a_contest(contest: Contest) -> None:
    contest.take()
    contest.sync(1)
    contest.take()
    contest.sync(2)
    contest.world.kubectl("set", "image", "deployment/one", "takara=nginx")

    writes = contest.sync(3)

    done = [request.resource for request in writes if request.code == 200]  # the rollout may get in between: 409
    assert done == ["deployments", "takaras"]
    assert contest.world.deployment("one")["spec"]["template"]["spec"]["containers"][0]["image"] == "busybox"
    assert contest.replicas == 7
    contest.take(8)
    contest.sync(4)
    assert contest.replicas == 8
    assert [request.resource for request in contest.sync(5)] in ([], ["takaras"])


def test_it_is_tried_again_after_ten_minutes_then_after_twenty(contest: Contest) -> None:
    contest.take()
    contest.sync(1)
    contest.take()
    contest.sync(2)
    contest.sync(10.9)
    assert contest.replicas == 7
    contest.sync(11.1)
    assert contest.replicas == 3
    contest.take()
    contest.sync(12)
    contest.sync(30)
    assert contest.replicas == 7
    contest.sync(31.2)
    assert contest.replicas == 3


def test_a_new_size_ends_the_contest(contest: Contest) -> None:
    contest.take()
    contest.sync(1)
    contest.take()
    contest.sync(2)
    contest.world.merge("one", {"spec": {"size": 4}})

    contest.sync(3)

    assert contest.replicas == 4
    assert contest.ready[0] != "ReplicasContested"


def test_the_size_that_the_other_wants_ends_the_contest(contest: Contest) -> None:
    contest.take()
    contest.sync(1)
    contest.take()
    contest.sync(2)
    contest.world.merge("one", {"spec": {"size": 7}})

    contest.sync(3)

    assert contest.ready[0] != "ReplicasContested"
    contest.world.settle()
    contest.sync(4)
    assert contest.sync(5) == []


def test_a_take_an_hour_later_is_a_single_one_again(contest: Contest) -> None:
    for hour in range(1, 4):
        contest.take()
        contest.sync(60 * hour)
        assert contest.replicas == 3
