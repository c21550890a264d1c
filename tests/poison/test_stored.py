"""Poison that is stored, as a CRD without schema lets it in: a second pass over it finds nothing to write."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping

from takara_sync.simulator import Request as Asked
from tests.poison.hostile import TAKARAS as HOSTILE
from tests.poison.test_objects import batches, full
from tests.poison.values import WRONG, Json, Poison, at, paths
from tests.poison.world import TAKARAS, World, bare, drifted

WORLDS = (drifted, bare)
LET_IN = ("spec", "status")
NO_JSON = ("1e400", "bytes that are no UTF-8")  # which no server stores


def storable(takara: Json) -> list[Poison]:
    """Every wrong value at every path that a CRD without schema leaves to the author."""
    found = [path for path in paths(takara) if path and path[0] in LET_IN]
    every = [at("takaras", path, what, raw) for path in found for what, raw in WRONG.items() if what not in NO_JSON]
    return [*on_purpose(), *every]


def on_purpose() -> list[Poison]:
    return [Poison("takaras", what, poison.change) for what, poison in HOSTILE.items()]


def store(world: World, name: str, poison: Poison) -> bool:
    """Write the poisoned Takara, its status too; whether the server let it in."""
    live = world.call("GET", f"{TAKARAS}/{name}")
    try:
        body = json.loads(poison.change(live))
    except ValueError:  # Python's own limit, and what is no JSON
        return False
    taken = False
    for path in (f"{TAKARAS}/{name}", f"{TAKARAS}/{name}/status"):
        body["metadata"] = world.call("GET", f"{TAKARAS}/{name}")["metadata"]
        headers = {"content-type": "application/json", "authorization": "Bearer tenant"}
        try:
            taken |= world.store.handle(Asked("PUT", path, {}, headers, json.dumps(body).encode())).status < 300
        except Exception:  # noqa: BLE001 - the simulator is no part of this test
            return False
    return taken


def settles(world: World, poisons: Mapping[str, Poison]) -> int:
    """Store them, and pass twice; how many were let in."""
    let_in = sum(store(world, name, poison) for name, poison in poisons.items())
    about = "; ".join(f"{name}: {poison}" for name, poison in poisons.items())
    first = world.sync()
    assert first.error is None, about
    assert not any(outcome.bug for outcome in first.takaras), f"{[o for o in first.takaras if o.bug]}: {about}"
    second = world.sync()
    assert [write for write in world.writes if write[2] < 300] == [], about
    assert [o.key for o in second.takaras if str(o.result) in ("created", "updated", "taken over")] == [], about
    return let_in


def test_what_a_schemaless_crd_lets_in_settles(
    base: World, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    poisons = storable(full(base, "takaras"))
    random.Random(seed).shuffle(poisons)  # noqa: S311 - trials, no secrets
    if not long:
        poisons = [poison for poison in (*on_purpose(), *poisons[:36]) if not poison.is_huge]
    let_in = sum(settles(made(base), batch) for batch in batches(poisons) for made in WORLDS)
    assert let_in > 40
    count("poisoned objects survived", let_in)
