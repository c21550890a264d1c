"""A fleet of Takaras in one namespace: each has a story of three steps, and a few passes go over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.server import Server
from tests.tool import Called, Pass
from tests.world import Json, World

Step = Callable[[World, str], object]
FLAGS = ("--allow-templates", "--legacy-manager", "takara-operator,before-first-apply,our-own-operator")


def nothing(_world: World, _name: str) -> None:
    """Nobody does anything."""


class Story(NamedTuple):
    """What people do to one Takara and its Deployment, in three steps.

    results: what the pass after each step reports of the Takara; "" where it is gone.
    """

    begins: Step
    results: tuple[str, str, str]
    check: Callable[[Fleet, str], object]
    happens: Step = nothing
    ends: Step = nothing


class Moment:
    """The Deployments, the statuses and the names of the pods, each by the name of their Takara."""

    def __init__(self, world: World) -> None:
        self.deployments = {one["metadata"]["name"]: one for one in world.items("apps/v1", "deployments")}
        takaras = world.items("maho.takara.org/v1alpha1", "takaras")
        self.statuses = {one["metadata"]["name"]: one.get("status", {}) for one in takaras}
        self._pods = [one["metadata"] for one in world.items("v1", "pods")]

    def pods(self, name: str) -> list[str]:
        return sorted(
            pod["name"] for pod in self._pods if pod["labels"]["takara_cr"] == name and pod["name"] != "stray"
        )

    def types(self, name: str) -> list[str]:
        """The types of its conditions."""
        return [each["type"] for each in self.statuses[name]["conditions"]]

    def condition(self, name: str, kind: str) -> tuple[str, str]:
        """Its status and its reason."""
        found = next(each for each in self.statuses[name]["conditions"] if each["type"] == kind)
        return found["status"], found["reason"]


class Fleet:
    """The stories on one server. Of each step: the pass after it, and the moments before it and after that pass."""

    def __init__(self, server: Server, stories: Mapping[str, Story]) -> None:
        self.world = World(server, server.namespace())
        self.stories = stories
        self._tool = Called(server, self.world.namespace)
        self._all(lambda story: story.begins)
        self.world.settle()
        self.begun = Moment(self.world)
        self.first = self._tool.once(*FLAGS)
        self._rest()
        self.second = self._tool.once(*FLAGS)
        self.calm = Moment(self.world)
        self._all(lambda story: story.happens)
        self.disturbed = Moment(self.world)
        self.third = self._tool.once(*FLAGS)
        self.healed = Moment(self.world)
        self._all(lambda story: story.ends)
        self._rest()
        self.fourth = self._tool.once(*FLAGS)
        self._rest()
        self._tool.once(*FLAGS)
        self.last = self._tool.once(*FLAGS)
        self.ended = Moment(self.world)

    def _all(self, step: Callable[[Story], Step]) -> None:
        for name, story in self.stories.items():
            step(story)(self.world, name)

    def _rest(self) -> None:
        """Controllers and kubelets do all that they will do: a rollout ends only where pods become ready."""
        for name, one in Moment(self.world).deployments.items():
            if "deletionTimestamp" not in one["metadata"]:
                self.world.server.make_ready(self.world.namespace, name)
        self.world.settle()

    def results(self, name: str) -> tuple[str, ...]:
        """What is reported after each of the three steps."""
        return tuple(one.results.get(name, "") for one in (self.first, self.third, self.fourth))

    def log(self, name: str) -> list[dict[str, Any]]:
        """The lines of the third pass about one Takara."""
        return [line for line in self.third.log if line.get("takara") == f"{self.world.namespace}/{name}"]


def wrote(name: str, resource: str, *passes: Pass) -> bool:
    """Whether these passes wrote this object: a create of what exists is refused, and is none."""
    writes = [request for one in passes for request in one.writes if request.code < 300]
    return (name, resource) in {(request.name, request.resource) for request in writes}


def containers(deployment: Json) -> list[Json]:
    found: list[Json] = deployment["spec"]["template"]["spec"]["containers"]
    return found
