"""What a real API server lets in where the CRD has no schema: a seeded sample, through the installed command."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.control_plane.server import ControlPlane
from tests.poison.outputs import check_json
from tests.poison.test_objects import full
from tests.poison.test_stored import storable
from tests.poison.values import Json, Poison
from tests.poison.world import World
from tests.tool import Tool
from tests.world import World as Place
from tests.world import takara

GOOD = ("a-good", "n-good", "z-good")
SHORT, LONG = 30, 600
_AT_ONCE = 100


def let_in(place: Place, name: str, poison: Poison, whole: Json) -> bool:
    """Create the poisoned Takara, and its status; whether the server took both."""
    body: Any = json.loads(poison.change(whole))
    body["metadata"] = {"name": name}
    if place.server.call("POST", f"{place.takara_path('x')[:-2]}", body).status != 201:
        return False
    body["metadata"] = place.takara(name)["metadata"]
    return place.server.call("PUT", f"{place.takara_path(name)}/status", body).status == 200


def test_a_sample_on_a_real_server(
    fresh_control_plane: Callable[..., ControlPlane],
    base: World,
    long: bool,
    seed: int,
    count: Callable[[str, int], None],
) -> None:
    server = fresh_control_plane(crd="schemaless", controller_manager=False)
    whole = full(base, "takaras")
    hard = ("nested 600", "5,000 digits")  # Python does not load them
    poisons = [each for each in storable(whole) if not each.is_huge and not any(words in each.what for words in hard)]
    random.Random(seed).shuffle(poisons)  # noqa: S311 - trials, no secrets
    poisons = poisons[: LONG if long else SHORT]
    taken = [survivors(server, poisons[start : start + _AT_ONCE], whole) for start in range(0, len(poisons), _AT_ONCE)]
    assert sum(taken) > len(poisons) // 2
    count("poisoned objects survived", sum(taken))


def survivors(server: ControlPlane, poisons: list[Poison], whole: Json) -> int:
    """How many of these the server let in; the command copes with each, and the next pass writes nothing."""
    place = Place(server, server.namespace())
    place.create(*(takara(name, 2) for name in GOOD))
    names = {f"p{number}": poison for number, poison in enumerate(poisons)}
    inside = [name for name, poison in names.items() if let_in(place, name, poison, whole)]
    tool = Tool(server, place.namespace)
    first = tool.once("--allow-templates", "--log-level", "debug")
    assert first.code in (0, 1, 6), first.stderr
    assert {name: first.results[name] for name in GOOD} == dict.fromkeys(GOOD, "created")
    assert set(inside) <= set(first.results)
    check_json("stdout", first.stdout)
    check_json("log", first.stderr)
    second = tool.once("--allow-templates")
    written = [request.uri for request in second.writes if request.code < 300]
    # A server may put the parts of a refusal in another order each time, and the status repeats it.
    written = [uri for uri in written if second.results[uri.rpartition("/status")[0].rpartition("/")[2]] != "failed"]
    assert written == [], [f"{name}: {names[name]}" for name in inside if any(f"/{name}" in uri for uri in written)]
    return len(inside)
