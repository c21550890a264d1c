"""Every wrong type at every path of a Takara, a Deployment and a pod: each costs at most itself."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.poison.surviving import survives
from tests.poison.values import Json, Poison, at, everywhere, nested
from tests.poison.world import BAD, DEPLOYMENTS, TAKARAS, World, drifted

PODS = "/api/v1/namespaces/fleet/pods"
SHORT = {"takaras": 144, "deployments": 144, "pods": 36}


def full(base: World, plural: str) -> Json:
    """A real object with all its parts."""
    if plural == "pods":
        pods: list[Json] = base.call("GET", PODS)["items"]
        return next(pod for pod in pods if BAD[0] in pod["metadata"]["name"])
    return base.call("GET", f"{TAKARAS if plural == 'takaras' else DEPLOYMENTS}/{BAD[0]}")


@pytest.mark.parametrize("plural", SHORT)
def test_a_wrong_type_anywhere_costs_itself(
    base: World, plural: str, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    poisons = everywhere(plural, full(base, plural))
    random.Random(seed).shuffle(poisons)  # noqa: S311 - trials, no secrets
    poisons = poisons if long else poisons[: SHORT[plural]]
    for batch in batches(poisons):
        survives(drifted(base), batch)
    count("poisoned objects survived", len(poisons))


def test_what_is_left_undecoded_until_the_write_costs_itself(base: World) -> None:
    """The lists are in order; what is read again, and the response to an apply, are not."""
    for path in (("spec", "template", "spec", "x"), ("metadata", "managedFields", 0, "fieldsV1"), ("spec", "replicas")):
        for raw in (b"1e400", nested(5000)):
            world = drifted(base)
            world.poisoned_in = {"objects"}
            survives(world, dict.fromkeys(BAD, at("deployments", path, str(raw[:5]), raw)))


def batches(poisons: list[Poison]) -> list[dict[str, Poison]]:
    """As many at a time as the fleet has room for."""
    size = len(BAD)
    return [dict(zip(BAD, poisons[start : start + size], strict=False)) for start in range(0, len(poisons), size)]
