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
