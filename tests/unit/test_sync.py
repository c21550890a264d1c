"""The pass: what is read, in which order it goes on, what stops it, and what one bad Takara costs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from takara_sync.deadline import Deadline
from takara_sync.desired import deployment_for
from takara_sync.errors import Unauthorized
from takara_sync.kube.api import Response
from takara_sync.objects import Key, Takara
from takara_sync.plan import Policy
from tests.support.takaras import takara
from tests.unit.build import NOW, Json
from tests.unit.world import WRITES, Call, World, failure, results

LISTS = ["list deployments", "list takaras", "list pods"]


def fleet(names: str = "abcd") -> World:
    return World(*(takara(name, 3) for name in names))


# ------------------------------------------------------------------ the way of a pass


def test_a_first_pass_reads_everything_then_writes_then_writes_statuses() -> None:
    world = fleet("ba")
    report = world.sync()
    names = [(call.verb, call.key.name) for call in world.calls]
    lists = [(verb, "") for verb in LISTS]
    statuses = [("write status", "a"), ("write status", "b")]
    assert names == [*lists[:2], ("create", "a"), ("create", "b"), lists[2], *statuses]
    assert [(str(one.result), one.status_written) for one in report.takaras] == [("created", True)] * 2
    assert (report.started, report.exit) == (NOW, 0)


def test_the_status_has_the_pods_of_after_the_writes() -> None:
    world = fleet("a")
    world.before("list pods", world.settle)
    world.sync()
    assert len(world.status("a")["nodes"]) == 3


def test_being_deleted_costs_no_request_even_if_the_deployment_cannot_be_read() -> None:
    world = fleet("ab")
    world.sync()
    for name in "ab":
        world.hold("Takara", name)
    world.spoil("a")
    report = world.sync()
    assert (results(report), report.exit) == (dict.fromkeys("ab", "skipped"), 0)
    assert {outcome.reason for outcome in report.takaras} == {"Deleting"}
    assert {call.key.name for call in world.calls} == {""}


def test_one_cluster_object_serves_many_passes_and_the_deadline_belongs_to_each() -> None:
    world = fleet("a")
    late = world.sync(seconds=0)
    assert (late.exit, world.calls) == (4, [])
    assert world.sync(seconds=Deadline(5, lambda: 0.0)).exit == 0
    world.instead("list takaras", failure(401))
    assert world.sync().exit == 3
    world.calm()
    assert [world.sync().exit for _ in range(3)] == [0, 0, 0]


# ------------------------------------------------------------------ what stops a pass


@pytest.mark.parametrize("which", LISTS[:2])
def test_a_list_that_fails_means_no_write(which: str) -> None:
    world = fleet()
    world.instead(which, failure(503, message="no answer"))
    report = world.sync()
    assert (report.exit, report.takaras, world.writes) == (3, (), [])
    assert report.error is not None
    assert "no answer" in report.error.message


def test_a_list_of_pods_that_fails_means_no_status() -> None:
    world = fleet("a")
    world.instead("list pods", failure(503))
    report = world.sync()
    assert (world.writes, results(report), report.exit) == (["create"], {"a": "created"}, 3)


@pytest.mark.parametrize("verb", ["create", "write status"])
def test_a_401_stops_the_pass(verb: str) -> None:
    world = fleet()
    world.instead(verb, failure(401), "b")
    report = world.sync()
    assert [call.key.name for call in world.calls if call.verb == verb] == ["a", "b"]
    assert (type(report.error), report.exit) == (Unauthorized, 3)
    rest = "not reached" if verb == "create" else "created"
    assert results(report) == {"a": "created"} | dict.fromkeys("bcd", rest)


@pytest.mark.parametrize("start", "abcd")
def test_a_deadline_cuts_and_the_start_says_whom(start: str) -> None:
    world, seconds = fleet("dcba"), [0.0]
    first = "abcd".index(start)
    turn = "abcd"[first:] + "abcd"[:first]

    def around(call: Call, send: Callable[[], Response]) -> Response:
        seconds[0] = 51 if call == Call("create", Key("ns", turn[1])) else seconds[0]
        return send()

    world.around = around
    report = world.sync(start=Key("ns", start), seconds=Deadline(50, lambda: seconds[0]))
    assert [call.key.name for call in world.calls if call.verb in WRITES] == list(turn[:2])
    assert results(report) == {name: "created" if name in turn[:2] else "not reached" for name in "abcd"}
    assert [outcome.key.name for outcome in report.takaras] == list("abcd")
    assert (report.exit, report.next_start) == (4, Key("ns", turn[2]))
    assert {outcome.reason for outcome in report.takaras} == {"", "NotReached"}


def test_a_deadline_during_the_statuses_leaves_the_rest_unwritten() -> None:
    world, seconds = fleet("abc"), [0.0]
    world.before("write status", lambda: seconds.__setitem__(0, 51))
    report = world.sync(seconds=Deadline(50, lambda: seconds[0]))
    assert [outcome.status_written for outcome in report.takaras] == [True, False, False]
    assert (results(report), report.exit) == (dict.fromkeys("abc", "created"), 4)
    assert report.next_start == Key("ns", "b")


def test_a_function_of_the_users_that_raises_does_not_move_the_start() -> None:
    world, seconds = fleet("abcd"), [0.0]

    def desired(one: Takara) -> Json:
        return {} if one.key.name == "a" else deployment_for(one)

    world.before("create", lambda: seconds.__setitem__(0, 51))
    report = world.sync(Policy(desired=desired), start=Key("ns", "c"), seconds=Deadline(50, lambda: seconds[0]))
    assert results(report) == {"a": "failed", "b": "not reached", "c": "created", "d": "not reached"}
    assert report.next_start == Key("ns", "d")


def test_passes_that_are_too_short_reach_every_takara_in_the_predicted_number() -> None:
    """14 creates of 1 s each fit before the 30 % of 20 s that are kept for statuses."""
    names = [f"t{number:02}" for number in range(30)]
    world, seconds = World(*(takara(name, 3) for name in names)), [0.0]

    def around(call: Call, send: Callable[[], Response]) -> Response:
        seconds[0] += call.verb == "create"
        return send()

    world.around = around
    start: Key | None = Key("ns", "t07")
    for done in (14, 28, 30):
        report = world.sync(start=start, seconds=Deadline(20, lambda: seconds[0]))
        assert (len(world.items("Deployment")), report.exit) == (done, 4 if done < 30 else 0)
        assert all(one.status_written for one in report.takaras if one.result == "created")
        start = report.next_start
    assert world.sync().counts == {"unchanged": 30}


# ------------------------------------------------------------------ one bad Takara


@pytest.mark.parametrize("order", sorted(set(permutations(["good", "good", "refused", "invalid", "buggy"]))))
def test_a_bad_takara_costs_itself(order: tuple[str, ...]) -> None:
    names = [f"{place}-{kind}" for place, kind in enumerate(order)]
    world = World(*(takara(name, "x" if "invalid" in name else 3) for name in names))

    def desired(one: Takara) -> Json:
        return {} if "buggy" in one.key.name else deployment_for(one)

    world.instead("create", failure(403, "Forbidden", "quota"), next(name for name in names if "refused" in name))
    report = world.sync(Policy(desired=desired), workers=3)
    expected = {"good": "created", "refused": "failed", "invalid": "invalid", "buggy": "failed"}
    assert results(report) == {name: expected[name[2:]] for name in names}
    assert {name[2:]: world.reason(name) for name in names} == {
        "good": "Progressing",
        "refused": "ApplyFailed",
        "invalid": "InvalidSize",
        "buggy": "",
    }
    assert report.exit == 70


def test_a_function_of_the_users_that_raises_while_acting_costs_one() -> None:
    world = fleet("ab")
    world.deploy("a")
    calls: list[str] = []

    def desired(one: Takara) -> Json:
        calls.append(one.key.name)
        if calls.count("a") == 2:
            raise ZeroDivisionError
        return deployment_for(one)

    report = world.sync(Policy(desired=desired))
    assert (results(report), report.exit) == ({"a": "failed", "b": "created"}, 70)
    assert [outcome.bug for outcome in report.takaras] == [True, False]
    assert world.reason("a") == ""


def test_a_failed_look_up_is_no_absence() -> None:
    world = fleet("ab")
    world.pause("a")
    world.instead("get deployment", failure(503))
    report = world.sync()
    assert results(report) == {"a": "failed", "b": "created"}
    assert (set(world.verbs("a")), report.exit) == ({"get deployment"}, 1)
