"""What a pass is stopped in: the catalogue of the commands, and what it does not have."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from takara_sync import KubeCluster, Policy, sync_once
from tests.commands.scenarios import (
    CATALOGUE,
    a_mixed_fleet,
    blocked_by_a_deployment_of_nobody,
    contested,
    paused,
)
from tests.commands.staging import PAUSE, TEMPLATES, Prepare, Scenario, converged, left_by_the_go_operator, template
from tests.world import GO_OPERATOR, as_the_go_operator, takara

if TYPE_CHECKING:
    from tests.tool import Tool
    from tests.world import Json, World


@dataclass(frozen=True)
class Situation:
    """A scenario, and how long after it the pass begins.

    racing: what the pass meets is the controllers' to say. crowd: many Takaras; their pods stay pending, to save time.
    """

    scenario: Scenario
    later: timedelta = timedelta(seconds=30)
    racing: bool = False
    crowd: bool = False

    @property
    def name(self) -> str:
        return self.scenario.name

    @property
    def policy(self) -> Policy:
        flags = self.scenario.flags
        largest = int(flags[flags.index("--max-size") + 1]) if "--max-size" in flags else Policy().max_size
        return Policy(max_size=largest, allow_templates=TEMPLATES[0] in flags)


def _pass(world: World, tool: Tool) -> None:
    """A pass before the one in question, whatever comes out of it."""
    sync_once(KubeCluster.connect(str(tool.user.kubeconfig), namespaces=[world.namespace]))
    world.settle()


def recreated(world: World, tool: Tool) -> None:
    """Under the same name; the old Deployment is gone."""
    converged(world, tool, takara("one", 2))
    world.kubectl("delete", "tk/one")
    world.settle()
    world.create(takara("one", 3))


def recreated_before_its_deployment_was_gone(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 2))
    world.kubectl("delete", "tk/one", "--cascade=background")
    world.create(takara("one", 3))


def recreated_beside_an_orphan(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 2))
    world.kubectl("delete", "tk/one", "--cascade=orphan", "--wait=false")
    world.settle()
    world.create(takara("one", 3))


def deployment_replaced(world: World, tool: Tool) -> None:
    """As `kubectl replace --force` does it: another one, with our labels and owner, and another image."""
    converged(world, tool, takara("one", 2))
    body = as_the_go_operator(world.takara("one"), 4, image="nginx")
    body["metadata"]["labels"] = {"app": "takara", "takara_cr": "one"}
    world.kubectl("delete", "deployment/one")
    world.post_deployment(body)


def unblocked(world: World, tool: Tool) -> None:
    blocked_by_a_deployment_of_nobody(world, tool)
    _pass(world, tool)
    world.kubectl("delete", "deployment/strange")


def resumed(world: World, tool: Tool) -> None:
    paused(world, tool)
    _pass(world, tool)
    for name in ("one", "new"):
        world.merge(name, {"metadata": {"annotations": {"maho.takara.org/paused": None}}})


def scaled_to_0_by_kubectl(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 3))
    world.kubectl("scale", "deployment/one", "--replicas=0")


def take_over_at_another_size(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old", size=2)
    world.merge("old", {"spec": {"size": 4}})


def contested_and_tried_again(world: World, tool: Tool) -> None:
    contested(world, tool)
    _pass(world, tool)


def two_fleets(world: World, tool: Tool) -> None:
    """What the Go operator left, beside what is ours and drifted in every way."""
    converged(world, tool, takara("imaged", 1), takara("unlabelled", 1), takara("shrunk", 3))
    a_mixed_fleet(world, tool)
    left_by_the_go_operator(world, "older", size=1)
    left_by_the_go_operator(world, "oldest", size=1, image="busybox:1")
    world.merge_deployment("oldest", {"metadata": {"managedFields": [{}]}})
    world.kubectl("set", "image", "deployment/imaged", "takara=nginx")
    world.kubectl("label", "deployment/unlabelled", "app-")
    world.merge("shrunk", {"spec": {"size": 0}})


def _with_image(image: str, size: int) -> Json:
    return {"spec": {"size": size, "template": template({"name": "main", "image": image})}}


TAKEN_BACK, EDITED_AGAIN = _with_image("nginx:1", 3), _with_image("nginx:3", 5)


def edited(world: World, tool: Tool) -> None:
    """Another image and no more: the fields that we hold are the same as before, and the replicas are right."""
    converged(world, tool, takara("one", **TAKEN_BACK["spec"]))
    world.merge("one", _with_image("nginx:2", 3))


def a_drifted_fleet(world: World, tool: Tool, each: int = 3) -> None:
    """Ten times `each` Takaras: most of them ours and drifted in one way, some of the Go operator's, some new."""
    names = {what: [f"{what}-{number}" for number in range(each)] for what in _DRIFTS}
    converged(world, tool, *(takara(name, 2) for what in _DRIFTS[:6] for name in names[what]))
    changes: dict[str, Json] = {
        "scaled": {"spec": {"replicas": 3}},
        "unlabelled": {"metadata": {"labels": {"app": None}}},
        "cleared": {"metadata": {"managedFields": [{}]}},
    }
    for what, patch in changes.items():
        for name in names[what]:
            world.merge_deployment(name, patch)
    for name in names["sized"]:
        world.merge(name, {"spec": {"size": 1}})
    for name in names["halted"]:
        world.merge(name, PAUSE | {"spec": {"size": 1}})
    for name in names["old"]:
        (owner,) = world.create(takara(name, 1))
        world.post_deployment(as_the_go_operator(owner, 1, env=[{"name": "OLD", "value": "1"}]), GO_OPERATOR)
    for name in names["strange"]:
        (owner,) = world.create(takara(name, 1))
        world.post_deployment(as_the_go_operator(owner, 1) | {"metadata": {"name": name}})
    world.create(*(takara(name, 1) for what in ("fresh", "newest") for name in names[what]))
    world.settle()


_DRIFTS = ("scaled", "unlabelled", "cleared", "sized", "halted", "calm", "old", "strange", "fresh", "newest")


def a_drifted_small_fleet(world: World, tool: Tool) -> None:
    a_drifted_fleet(world, tool, each=1)


def _more(prepare: Prepare, *flags: str, **more: Any) -> Situation:
    return Situation(Scenario(prepare.__name__.replace("_", " "), prepare, flags), **more)


SITUATIONS = [
    *(
        Situation(scenario, racing=scenario.name == "newer format", crowd="fleet" in scenario.name)
        for scenario in CATALOGUE
    ),
    _more(recreated),
    _more(recreated_before_its_deployment_was_gone, racing=True),
    _more(recreated_beside_an_orphan),
    _more(deployment_replaced),
    _more(unblocked),
    _more(resumed),
    _more(scaled_to_0_by_kubectl),
    _more(take_over_at_another_size),
    _more(contested_and_tried_again, later=timedelta(minutes=11)),
]

TWO_FLEETS = _more(two_fleets, crowd=True)
EDITED = _more(edited, *TEMPLATES)
DRIFTED, DRIFTED_LITTLE = _more(a_drifted_fleet, crowd=True), _more(a_drifted_small_fleet, crowd=True)

BY_NAME = {situation.name: situation for situation in SITUATIONS}
