"""Takaras become Deployments, drift is undone, what did not drift or is not our own is left alone; see stories.py."""

from __future__ import annotations

import pytest

from tests.main_job.fleet import Fleet
from tests.main_job.stories import STORIES
from tests.server import Server


def test_every_story(server: Server, subtests: pytest.Subtests) -> None:
    """All at once, over which a few passes go: one after the other they would take minutes."""
    fleet = Fleet(server, STORIES)
    for name, story in STORIES.items():
        with subtests.test(name[:80]):
            assert fleet.results(name) == story.results
            story.check(fleet, name)
    with subtests.test("at the end nothing is left to do"):
        assert fleet.last.writes == []
        assert sorted(fleet.last.lists) == ["deployments", "pods", "takaras"]
        read_by_name = {request.name for request in fleet.last.requests if request.verb == "get"}
        assert read_by_name <= {name for name in STORIES if name.startswith(("of-", "too-large"))}
