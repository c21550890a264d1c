"""A seeded sample of the same points on a real API server."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.control_plane.server import ControlPlane
from tests.crash.onserver import OnServer
from tests.crash.process import Kind
from tests.crash.situations import SITUATIONS
from tests.crash.survival import survived, told

HELD = ("deleting", "leaving")  # a deletion that is held up never settles


def test_a_sample_of_all_points(
    control_plane: ControlPlane, draw: random.Random, long: bool, count: Callable[[str, int], None]
) -> None:
    """Each kind in turn; three points of a situation, as its story costs as much as they do."""
    stopped = 0
    chosen = draw.sample(
        [each for each in SITUATIONS if each.name not in HELD and not each.racing and (long or not each.crowd)],
        k=25 if long else 2,
    )
    for situation in chosen:
        bench = OnServer(control_plane, situation)
        story = told(bench)
        points = [point for index, point in story.points(list(Kind)) if index == 0]
        writes = [point for point in points if story.passes[0].calls[point.number].writes] or points
        for point in [draw.choice(points), *draw.sample(writes, k=min(len(writes), 12 if long else 2))]:
            survived(bench, story, 0, point, workers=draw.choice([1, 16]))
            stopped += 1
    count("crash points survived, real server", stopped)
