"""Somebody edits a Takara in the middle of a pass, or between a kill and the next pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count as count_from

import pytest

from takara_sync import Report
from takara_sync.kube.response import Request, Response
from takara_sync.report import CHANGED
from tests.crash.process import KILLS, Kind, Point, Process
from tests.crash.simulation import Simulation
from tests.crash.situations import BY_NAME, EDITED, EDITED_AGAIN, TAKEN_BACK
from tests.crash.state import all_wrong
from tests.crash.survival import Story, Tell, Trial, settled
from tests.world import Json, takara

Count = Callable[[str, int], None]


def after_an_edit(simulation: Simulation, story: Story, index: int, point: Point, edit: Json) -> None:
    """That pass is killed there, the edit is made; then everything is as the edit wants it."""
    trial = Trial(simulation, story, index)
    stopped, _ = trial.stopped_or_not(point)
    simulation.edit("one", edit)
    trial.until_settled()
    if stopped.late is not None:
        stopped.late()
        last = Process()
        simulation.run(last)
        settled(last.calls)
    assert_right(simulation)


def assert_right(simulation: Simulation) -> None:
    assert not all_wrong(simulation.state()), "; ".join(all_wrong(simulation.state()))
    assert not simulation.breaches, "; ".join(simulation.breaches)


@pytest.mark.parametrize("edit", [TAKEN_BACK, EDITED_AGAIN], ids=["taken back", "another one"])
def test_an_edit_after_the_kill(tell: Tell, edit: Json, count: Count) -> None:
    """Also where a write of the killed pass comes when all is over: an older spec never wins."""
    simulation, story = tell(EDITED)
    points = story.points((*KILLS, Kind.LATE))
    for index, point in points:
        after_an_edit(simulation, story, index, point, edit)
    count("crash points survived, simulator", len(points))


# ------------------------------------------------------------------ in the middle of a pass


@dataclass
class Beside(Process):
    """A pass, and what somebody does ahead of its request of this number."""

    number: int = 0
    somebody: Callable[[], object] = lambda: None
    met: bool = False

    def around(self, request: Request, send: Callable[[], Response]) -> Response:
        if len(self.calls) == self.number and not self.met:
            self.met = True
            self.somebody()
        return super().around(request, send)


def sizes_edited(simulation: Simulation) -> None:
    for one in simulation.state().takaras:
        simulation.edit(one["metadata"]["name"], {"spec": {"size": one["spec"]["size"] + 1}})


def sizes_and_deployments_edited(simulation: Simulation) -> None:
    """So that each apply meets a conflict, and its Takara is decided again."""
    sizes_edited(simulation)
    for deployment in simulation.state().deployments:
        note = {"metadata": {"annotations": {"note": "mine"}}}
        simulation.edit(deployment["metadata"]["name"], note, "deployments")


def another_pass(simulation: Simulation) -> None:
    """A whole pass of another copy, over newer sizes: the pass that was held up must not put the older ones back."""
    sizes_edited(simulation)
    simulation.run(Process())


def deployments_deleted_and_another_pass(simulation: Simulation) -> None:
    for deployment in simulation.state().deployments:
        simulation.somebody("DELETE", "deployments", deployment["metadata"]["name"])
    another_pass(simulation)


def takaras_made_anew_and_another_pass(simulation: Simulation) -> None:
    """Other Takaras of the same names; garbage collection takes the Deployments of the old ones first."""
    old = simulation.state().takaras
    for one in old:
        simulation.somebody("DELETE", "takaras", one["metadata"]["name"])
    simulation.settle()
    for one in old:
        simulation.somebody("POST", "takaras", "", takara(one["metadata"]["name"], one["spec"]["size"] + 1))
    simulation.run(Process())


EDITS = (sizes_edited, sizes_and_deployments_edited)
RIVALS = (another_pass, deployments_deleted_and_another_pass, takaras_made_anew_and_another_pass)
MET = [
    "nothing to do",
    "create",
    "size changed",
    "scaled and reimaged",
    "label removed",
    "status lost",
    "template withdrawn",
    "contested with other drift",
    "take over",
    "take over of what others changed",
    "take over of a listed one",
    "resumed",
]


def met_anywhere(
    simulation: Simulation,
    somebody: Callable[[Simulation], None],
    limit: int | None,
    caplog: pytest.LogCaptureFixture,
) -> int:
    """Somebody acts ahead of each request of the pass in turn; how many there are."""
    return next(number for number in count_from() if not met_at(simulation, number, somebody, limit, caplog))


def met_at(
    simulation: Simulation,
    number: int,
    somebody: Callable[[Simulation], None],
    limit: int | None,
    caplog: pytest.LogCaptureFixture,
) -> bool:
    """Whether the pass came to that request; all that it changed is logged and allowed, the next pass does the rest."""
    simulation.back_to(simulation.start)
    caplog.clear()
    process = Beside(number=number, somebody=lambda: somebody(simulation))
    report = simulation.run(process, max_changes=limit)
    assert report is not None
    assert report.exit in (0, 5, 6), report
    assert_logged(simulation, process, report, caplog)
    changed = {name for name, *_ in process.changed}
    assert limit is None or len(changed) <= limit, f"{changed} were changed, {limit} allowed"
    if not process.met:
        somebody(simulation)
    simulation.settle()
    simulation.run(Process())
    assert_right(simulation)
    return process.met


def assert_logged(simulation: Simulation, process: Process, report: Report, caplog: pytest.LogCaptureFixture) -> None:
    """Each change of a Deployment's spec has its line in the log, and its Takara says in the report that it changed."""
    lines = [(line.takara, change) for line in caplog.records for change in getattr(line, "changes", [{}])]  # type: ignore[attr-defined]
    outcomes = {outcome.key.name: outcome for outcome in report.takaras}
    for name, before, after in process.changed:
        assert outcomes[name].result in CHANGED, f"{name} was changed, but is {outcomes[name].result}"
        mine = [change for key, change in lines if key == f"{simulation.namespace}/{name}"]
        assert mine, f"the change of {name} was not logged"
        if before and before["replicas"] != after["replicas"]:
            sizes = [change["new"] for change in mine if change.get("field") == "spec.replicas"]
            assert after["replicas"] in sizes, f"{after['replicas']} replicas of {name} were not logged"


@pytest.mark.parametrize("name", MET)
def test_others_act_at_each_request(tell: Tell, name: str, count: Count, caplog: pytest.LogCaptureFixture) -> None:
    """Edits with no limit, with what the undisturbed pass changes for a limit, and with none allowed; other copies."""
    simulation, _ = tell(BY_NAME[name])
    simulation.checks_status = False
    caplog.set_level("INFO", "takara_sync")
    simulation.back_to(simulation.start)
    undisturbed = Process()
    simulation.run(undisturbed)
    usual = len({name for name, *_ in undisturbed.changed})
    for somebody in EDITS:
        for limit in (None, usual, 0):
            count("size edits in the middle of a pass", met_anywhere(simulation, somebody, limit, caplog))
    for somebody in RIVALS:
        count("passes of another copy in the middle of a pass", met_anywhere(simulation, somebody, None, caplog))
