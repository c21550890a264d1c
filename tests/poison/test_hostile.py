"""Escapes, huge texts, thousands of conditions, ownership records that are none: survived, and shown to no terminal."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.poison.hostile import HOSTILE, nasty_texts
from tests.poison.surviving import poisoned, survives
from tests.poison.test_objects import SHORT, batches, full
from tests.poison.world import drifted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.poison.outputs import Recorder
    from tests.poison.values import Poison
    from tests.poison.world import World

FORMS = (("text", False), ("wide", True), ("json", False))


def shown(base: World, recorder: Recorder, batch: dict[str, Poison]) -> None:
    """All that the commands write about these is clean, in every form."""
    for output, terminal in FORMS:
        world = poisoned(drifted(base), batch)
        world.poisoned_in = {"lists"}  # so that the pass changes what it met, and says so
        recorder.commands(world, output, terminal=terminal)
        recorder.once(world, output, terminal=terminal)
    assert set(recorder.codes.values()) <= {0, 1, 6}, f"{recorder.codes}: {batch}"
    recorder.check()


def test_what_is_made_on_purpose_costs_itself(
    base: World, recorder: Recorder, count: Callable[[str, int], None]
) -> None:
    for batch in batches(HOSTILE):
        survives(drifted(base), batch)
        shown(base, recorder, batch)
    count("poisoned objects survived", len(HOSTILE))


def test_a_nasty_text_anywhere_is_shown_to_no_terminal(
    base: World, recorder: Recorder, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    poisons = [poison for plural in SHORT for poison in nasty_texts(plural, full(base, plural))]
    random.Random(seed).shuffle(poisons)  # noqa: S311 - trials, no secrets
    poisons = poisons if long else poisons[:24]
    for batch in batches(poisons):
        survives(drifted(base), batch)
        shown(base, recorder, batch)
    count("poisoned objects survived", len(poisons))
