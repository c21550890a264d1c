"""What a pass is stopped in: the catalogue of the commands, and what it does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from takara_sync import KubeCluster, Policy, sync_once
from tests.commands.scenarios import (
    CATALOGUE,
    blocked_by_a_deployment_of_nobody,
    contested,
    paused,
)
from tests.commands.staging import (
    PAUSE,
    TEMPLATES,
    Prepare,
    Scenario,
    converged,
    left_by_the_go_operator,
    scene,
    template,
)
from tests.tool import Tool
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator, takara


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


def take_over_of_a_listed_one(world: World, _tool: Tool) -> None:
    """The Go operator's Deployment has our label, so that the list holds it; the size is another one."""
    left_by_the_go_operator(world, "old", size=2)
    label = {"metadata": {"labels": {"app": "takara"}}}
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/old?fieldManager={GO_OPERATOR}"
    world.call("PATCH", path, label, content_type="application/merge-patch+json")
    world.merge("old", {"spec": {"size": 4}})


def contested_and_tried_again(world: World, tool: Tool) -> None:
    contested(world, tool)
    _pass(world, tool)


def _with_image(image: str, size: int) -> Json:
    return {"spec": {"size": size, "template": template({"name": "main", "image": image})}}


TAKEN_BACK, EDITED_AGAIN = _with_image("nginx:1", 3), _with_image("nginx:3", 5)


_DRIFTS: dict[str, Json] = {
    "scaled": {"spec": {"replicas": 3}},
    "unlabelled": {"metadata": {"labels": {"app": None}}},
    "cleared": {"metadata": {"managedFields": [{}]}},
}
_EDITS: dict[str, Json] = {"sized": {"spec": {"size": 1}}, "halted": PAUSE | {"spec": {"size": 1}}}


def drifted_fleet(each: int) -> Situation:
    """Eight times `each` Takaras: ours and drifted in five ways, the Go operator's, foreign ones, and new ones."""

    def named(changes: Mapping[str, Json]) -> dict[str, Json]:
        return {f"{way}-{number}": change for way, change in changes.items() for number in range(each)}

    def prepare(world: World, tool: Tool) -> None:
        new = [takara(f"{way}-{number}", 1) for way in ("fresh", "old", "strange") for number in range(each)]
        before = (takara(name, 2) for name in named(_DRIFTS | _EDITS))
        scene(*before, deployments=named(_DRIFTS), takaras=named(_EDITS), new=new)(world, tool)
        for number in range(each):
            old = as_the_go_operator(world.takara(f"old-{number}"), 1, env=[{"name": "OLD", "value": "1"}])
            world.post_deployment(old, GO_OPERATOR)
            strange = as_the_go_operator(world.takara(f"strange-{number}"), 1)
            world.post_deployment(strange | {"metadata": {"name": f"strange-{number}"}})
        world.settle()

    return Situation(Scenario("a drifted fleet", prepare), crowd=True)


def _more(prepare: Prepare, *flags: str, **more: Any) -> Situation:
    return Situation(Scenario(prepare.__name__.replace("_", " "), prepare, flags), **more)


SITUATIONS = [
    *(
        Situation(scenario, racing=scenario.name == "newer format", crowd="fleet" in scenario.name)
        for scenario in CATALOGUE
    ),
    Situation(
        Scenario(
            "recreated before its deployment was gone",
            scene(takara("one", 2), kubectl=["delete tk/one --cascade=background"], new=[takara("one", 3)]),
        ),
        racing=True,
    ),
    _more(recreated_beside_an_orphan),
    _more(deployment_replaced),
    _more(unblocked),
    _more(resumed),
    Situation(Scenario("scaled to 0", scene(takara("one", 3), kubectl=["scale deployment/one --replicas=0"]))),
    _more(take_over_of_a_listed_one),
    _more(contested_and_tried_again, later=timedelta(minutes=11)),
]

EDITED = Situation(
    Scenario(
        "edited",  # another image and no more: the fields that we hold are the same, and the replicas are right
        scene(takara("one", **TAKEN_BACK["spec"]), takaras={"one": _with_image("nginx:2", 3)}),
        TEMPLATES,
    )
)

BY_NAME = {situation.name: situation for situation in SITUATIONS}
