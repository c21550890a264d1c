"""Random Deployments, and random changes of them, against the policy written in Python (`model.py`)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

from tests.control_plane.server import ControlPlane
from tests.manifests.attacks import (
    ADDED,
    DRESSED,
    INSIDE,
    JSON_PATCH,
    OURS,
    OUTSIDE,
    OWNER,
    SELECT,
    WEAKENED,
    Path,
    Thief,
    changed,
    replaced,
)
from tests.manifests.install import identity
from tests.manifests.model import owned, refused
from tests.manifests.pods import deployment
from tests.server import Answer
from tests.world import Json

SOURCES = (ADDED, DRESSED, INSIDE, OURS, OUTSIDE, WEAKENED)
CHANGES = tuple(change for source in SOURCES for change in source)
ROUNDS = {False: 50, True: 2000}  # each is one create and three updates


def test_the_server_refuses_exactly_the_keys_that_the_model_refuses(
    cluster: ControlPlane, seed: int, long: bool, count: Callable[[str, int], None]
) -> None:
    draw = random.Random(seed)  # noqa: S311 - trials, no secrets
    thief = Thief(cluster, identity(cluster))
    compared = [0, 0]
    for number in range(ROUNDS[long]):
        name = f"random-{number}"
        body = with_changes(draw, deployment(name, thief.mine | {"name": name}))
        tell = f"--seed {seed}, round {number}"
        compare(thief, "POST", name, None, body, tell, compared)
        made = cluster.call("POST", thief.path, body)
        if made.status != 201:
            continue
        for _ in range(3):
            compare(thief, "PATCH", name, made.body, with_changes(draw, made.body), tell, compared)
        assert cluster.call("DELETE", f"{thief.path}/{name}").status == 200
    count("random writes that the policy and its model judge alike", sum(compared))
    count("of them admitted", compared[1])
    assert min(compared[0], compared[1]) > ROUNDS[long] // 5  # else the draws show little


def with_changes(draw: random.Random, body: Json) -> Json:
    """Up to four changes, some of them removals."""
    for path, value in draw.choices(CHANGES, k=draw.randint(0, 4)):
        body = changed(body, (path, None if draw.random() < 0.25 else value)) if _fits(body, path) else body
    return body


def _fits(body: Json, path: Path) -> bool:
    named = [step[11:-1] for step in path[:-1] if step.startswith("containers[")]
    return all(any(each["name"] == name for each in body["spec"]["template"]["spec"]["containers"]) for name in named)


def compare(thief: Thief, method: str, name: str, old: Json | None, body: Json, tell: str, compared: list[int]) -> None:
    """An admin's dry run shows what the API server makes of the body; then the thief's shows the verdict on it."""
    path, sent, kind = f"{thief.path}?dryRun=All", cast("Any", body), "application/json"
    if old is not None:
        path, sent, kind = f"{thief.path}/{name}?dryRun=All", replaced(body), JSON_PATCH
    whole = thief.world.server.call(method, path, sent, content_type=kind)
    if whole.status >= 300:
        return  # no Deployment at all
    answer = thief.world.server.call(method, path, sent, content_type=kind, user=thief.user)
    keys = refused(old, whole.body)
    assert verdict(answer) == (keys if owned(old, whole.body) else {OWNER}), (tell, body, answer.body)
    compared[not keys] += 1


def verdict(answer: Answer) -> set[str]:
    """The keys that a refusal names; none if the write is admitted."""
    if answer.status < 300:
        return set()
    message = answer.body["message"]
    assert answer.status == 403, message
    if OWNER in message or SELECT in message:
        return {OWNER}
    return set(message.split("Refused: ")[1].split(", "))
