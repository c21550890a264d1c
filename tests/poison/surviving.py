"""What has to be true of a pass over a fleet in which some objects are poisoned."""

from __future__ import annotations

from collections.abc import Mapping

from takara_sync.report import Report
from tests.poison.values import Json, Poison
from tests.poison.world import BAD, DEPLOYMENTS, FLEET, FOREIGN, GOOD, TAKARAS, World

_FAILED_TEST = 422


def poisoned(world: World, poisons: Mapping[str, Poison]) -> World:
    """The world in which these Takaras, their Deployments or their pods are served otherwise."""
    world.poisons = {(poison.plural, name): poison for name, poison in poisons.items()}
    return world


def survives(world: World, poisons: Mapping[str, Poison]) -> Report:
    """One pass, which the poison must cost nobody but itself; and the next, in which the good ones are left alone."""
    before = world.call("GET", f"{DEPLOYMENTS}/{FOREIGN}")
    report = poisoned(world, poisons).sync()
    about = "; ".join(f"{name}: {poison}" for name, poison in poisons.items())
    assert report.error is None, f"{report.error}: {about}"
    bugs = [outcome for outcome in report.takaras if outcome.bug]
    assert not bugs, f"{poisons.get(bugs[0].key.name)}: {bugs[0]}"
    assert report.exit in (0, 1, 6), about
    _each_is_named(report, about)
    _good_ones_are_right(world, report, about)
    _nothing_else_was_written(world, report, about)
    assert world.call("GET", f"{DEPLOYMENTS}/{FOREIGN}") == before, about
    _statuses_are_lines(world, about)
    world.sync()
    assert not [write for write in world.writes if "-good" in write[1]], about
    return report


def _each_is_named(report: Report, about: str) -> None:
    """One line each: by its name, or, where that is what is poisoned, by its place in the list."""
    names = [outcome.key.name for outcome in report.takaras]
    assert len(names) == len(set(names)) == len(FLEET), f"{about}: {names}"
    for place, name in enumerate(FLEET):
        assert name in names or any(f"item {place} of the list" in each for each in names), f"{name}: {about}"


def _good_ones_are_right(world: World, report: Report, about: str) -> None:
    results = {outcome.key.name: str(outcome.result) for outcome in report.takaras}
    for name in GOOD:
        assert results[name] in ("created", "updated", "unchanged"), f"{about}: {name} was {results[name]}"
        live = world.call("GET", f"{DEPLOYMENTS}/{name}")
        spec = live["spec"]
        assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (2, "busybox"), about
        assert world.call("GET", f"{TAKARAS}/{name}")["status"]["deployment"]["uid"] == live["metadata"]["uid"], about


def _nothing_else_was_written(world: World, report: Report, about: str) -> None:
    """Writes are for the fleet alone, and there is none for what could not be read."""
    unread = {each.key.name for each in report.takaras if _is_unread(each.message)}
    allowed = {f"{DEPLOYMENTS}/{name}" for name in FLEET} | {f"{TAKARAS}/{name}/status" for name in FLEET}
    written = {path for _, path, _ in world.writes}
    assert written <= allowed, f"{about}: {written - allowed}"
    assert not [path for path in written for name in unread if f"/{name}" in path], about
    created = [path for _, path, status in world.writes if status == 201]
    assert created in ([], [f"{DEPLOYMENTS}/{GOOD[0]}"]), f"{about}: {created}"


def _is_unread(message: str) -> bool:
    return message.startswith("malformed") or "could not be read" in message


def _statuses_are_lines(world: World, about: str) -> None:
    """And so are the notes of Events."""
    for name in BAD:
        conditions = _ours(world.call("GET", f"{TAKARAS}/{name}"))
        for message in (*(condition["message"] for condition in conditions), *world.notes):
            assert message.isprintable(), f"{about}: {message!r}"
            assert len(message.encode()) <= 1024, about


def _ours(takara: Json) -> list[Json]:
    conditions: list[Json] = takara["status"]["conditions"]
    return [condition for condition in conditions if condition["type"] in ("Ready", "Stalled")]
