"""A pass that is always too short for the fleet: each one comes a known step further, and tells what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from takara_sync.cluster import Deadline
from takara_sync.report import Exit
from takara_sync.sync import sync_once
from tests.unit.build import NOW, takara_json
from tests.unit.fake import FakeCluster

if TYPE_CHECKING:
    from takara_sync.objects import Deployment
    from takara_sync.report import Report
    from tests.unit.build import Json

FLEET = 30
SECONDS = 20.0


class Slow(FakeCluster):
    """A second for each write."""

    def __init__(self, *objects: Json) -> None:
        super().__init__(*objects)
        self.now = 0.0

    def create(self, body: Json) -> Deployment:
        self.now += 1
        return super().create(body)

    def sync(self, offset: int) -> Report:
        self.deadline = Deadline(SECONDS, lambda: self.now)
        return sync_once(self, workers=1, offset=offset, now=lambda: NOW)


@pytest.mark.parametrize("offset", [0, 7], ids=["always from the start", "from anywhere"])
def test_every_takara_is_handled_within_the_predicted_number_of_passes(offset: int) -> None:
    cluster = Slow(*(takara_json(f"t{number:02}") for number in range(FLEET)))
    a_pass = 15  # what fits before the reserve of 30 % begins: the 15th begins at 14 s, when just 6 s are left
    for number in range(1, 3):
        report = cluster.sync(offset * number)
        done = min(a_pass * number, FLEET)
        made = [one for one in report.outcomes if one.result == "created"]
        assert (len(made), report.exit) == (a_pass, Exit.CUT_SHORT if done < FLEET else Exit.OK)
        assert all(one.told for one in made)  # or the next pass would not know of it
        assert len(cluster.stored["Deployment"]) == done
    assert cluster.sync(0).counts == {"unchanged": FLEET}
    assert [verb for verb, _ in cluster.writes].count("create") == FLEET


def test_what_was_not_reached_says_so() -> None:
    cluster = Slow(*(takara_json(f"t{number:02}") for number in range(FLEET)))
    late = [one for one in cluster.sync(0).outcomes if one.result == "not reached"]
    assert {one.reason for one in late} == {"NotReached"}
    assert {one.told for one in late} == {False}
