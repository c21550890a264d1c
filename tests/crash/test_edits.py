"""Somebody edits the Takara between the stop and the next pass: what was half done is no excuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.process import STOPS, Kind, Point, Process
from tests.crash.situations import EDITED, EDITED_AGAIN, TAKEN_BACK
from tests.crash.state import all_wrong
from tests.crash.survival import Story, Trial, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crash.simulation import Simulation
    from tests.crash.survival import Tell
    from tests.world import Json


def after_an_edit(simulation: Simulation, story: Story, index: int, point: Point, edit: Json) -> None:
    """That pass is stopped there, the edit is made; then everything is as the edit wants it."""
    trial = Trial(simulation, story, index)
    stopped, _ = trial.stopped_or_not(point)
    simulation.edit("one", edit)
    trial.until_settled()
    if stopped.late is not None and point.kind == Kind.LATE:
        simulation.answer(stopped.late)
        last = Process()
        simulation.run(last)
        settled(last.calls)
    assert not all_wrong(simulation.state()), "; ".join(all_wrong(simulation.state()))
    assert not simulation.breaches, "; ".join(simulation.breaches)


@pytest.mark.parametrize("edit", [TAKEN_BACK, EDITED_AGAIN], ids=["taken back", "another one"])
def test_an_edit_after_the_stop(tell: Tell, edit: Json, count: Callable[[str, int], None]) -> None:
    """Also where a write of the stopped pass comes when all is over: an older desire never wins."""
    simulation, story = tell(EDITED)
    points = story.points((*STOPS, Kind.LATE))
    for index, point in points:
        after_an_edit(simulation, story, index, point, edit)
    count("crash points survived, simulator", len(points))
