"""Escapes, huge texts, thousands of conditions, ownership records that are none: survived, and shown to no terminal."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tests.poison.hostile import HOSTILE, nasty_texts
from tests.poison.outputs import Recorder
from tests.poison.surviving import poisoned, survives
from tests.poison.test_objects import SHORT, batches, full
from tests.poison.values import Poison
from tests.poison.world import World, drifted

FORMS = (("text", False), ("wide", True), ("json", False))


def shown(base: World, recorder: Recorder, batch: dict[str, Poison], forms: Iterable[tuple[str, bool]] = FORMS) -> None:
    """All that the commands write about these is clean, in these forms."""
    for output, terminal in forms:
        world = poisoned(drifted(base), batch)
        world.poisoned_in = {"lists"}  # so that the pass changes what it met, and says so
        recorder.commands(world, output, terminal=terminal)
        recorder.once(world, output, terminal=terminal)
    assert set(recorder.codes.values()) <= {0, 1, 6}, f"{recorder.codes}: {batch}"
    recorder.check()


def test_what_is_made_on_purpose_costs_itself_and_is_shown_to_no_terminal(
    base: World, recorder: Recorder, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    """That, and a nasty text anywhere. In the short form the batches take turns with the forms of the output."""
    texts = [poison for plural in SHORT for poison in nasty_texts(plural, full(base, plural))]
    random.Random(seed).shuffle(texts)  # noqa: S311 - trials, no secrets
    poisons = [*HOSTILE, *(texts if long else texts[:24])]
    for number, batch in enumerate(batches(poisons)):
        survives(drifted(base), batch)
        shown(base, recorder, batch, FORMS if long else [FORMS[number % len(FORMS)]])
    count("poisoned objects survived", len(poisons))
