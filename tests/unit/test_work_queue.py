"""The work queue: turns, retries, the share of a namespace, the end. Threads wait for each other, not for time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import NamedTuple

import pytest

from takara_sync import work_queue
from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort, PassStopped, Unauthorized
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Result
from takara_sync.work_queue import DONE, Step, WorkQueue, backoff
from tests.support.takaras import takara
from tests.unit.world import World, failure

PATIENCE = 30.0
"""Seconds after which a thread that waits for another one gives up, so that a bug ends as a failure."""


class Item(NamedTuple):
    key: Key


def items(*names: str) -> list[Item]:
    """`b/1`: the item 1 of namespace b."""
    return [Item(Key(*name.split("/"))) for name in names]


def run(
    names: Iterable[str],
    step: Callable[[str], Step] = lambda _: DONE,
    *,
    workers: int = 1,
    deadline: Deadline | None = None,
    rejections: int | None = None,
) -> tuple[list[str], bool]:
    """The items in the order in which their steps began, and whether none is left."""
    began: list[str] = []

    def noted(item: Item) -> Step:
        began.append(str(item.key))
        return step(str(item.key))

    return began, WorkQueue(items(*names), workers, deadline or Deadline(), rejections).run(noted)


FLEET = [f"{namespace}/{number}" for namespace in "abc" for number in range(20)]


# ------------------------------------------------------------------ turns and retries


def test_namespaces_take_turns_and_each_keeps_its_order() -> None:
    assert run(["a/1", "a/2", "a/3", "b/1", "c/1", "c/2"]) == (["a/1", "b/1", "c/1", "a/2", "c/2", "a/3"], True)
    assert run([]) == ([], True)


def test_a_step_to_be_repeated_goes_to_the_end_of_the_queue() -> None:
    left = Counter({"a/1": 2})

    def step(name: str) -> Step:
        left[name] -= 1
        return Step(retry_after=0.0) if left[name] >= 0 else DONE

    began, done = run(["a/1", "a/2", "a/3"], step)
    assert (Counter(began), done) == (Counter({"a/1": 3, "a/2": 1, "a/3": 1}), True)
    assert began[0] == "a/1"
    assert began[-1] == "a/1"


def test_every_item_is_done_and_none_is_at_two_workers() -> None:
    active, left = Counter[str](), Counter(dict.fromkeys(FLEET, 2))

    def step(name: str) -> Step:
        active[name] += 1
        assert active[name] == 1
        left[name] -= 1
        active[name] -= 1
        return Step(retry_after=0.0) if left[name] else DONE

    began, done = run(FLEET, step, workers=8)
    assert (Counter(began), done) == (Counter(dict.fromkeys(FLEET, 2)), True)


def test_the_backoff_doubles_with_jitter_up_to_eight_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_queue, "BACKOFF_SECONDS", 0.5)
    for tries, longest in ((0, 0.5), (1, 0.5), (2, 1), (3, 2), (5, 8), (6, 8), (10**6, 8)):
        assert all(longest / 2 <= backoff(tries) <= longest for _ in range(20))


def test_refused_connections_in_a_row_lengthen_the_pause_until_one_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals: list[int] = []
    answers = [True, True, True, False, True, False]

    def noted(tries: int) -> float:
        refusals.append(tries)
        return 0.0

    monkeypatch.setattr(work_queue, "backoff", noted)
    run(["a/1"], lambda _: Step(retry_after=0.0, refused=True) if answers.pop(0) else Step(0.0 if answers else None))
    assert refusals == [1, 2, 3, 1]


# ------------------------------------------------------------------ the share of a namespace


@pytest.mark.parametrize(("timed_out", "most"), [(False, 2), (True, 3)], ids=["half", "one after a timeout"])
def test_the_workers_of_a_namespace_whose_steps_wait_while_others_are_there(*, timed_out: bool, most: int) -> None:
    """Its steps wait until few of the other namespace are left; where two time out together, one more begins."""
    both, nearly_over = threading.Barrier(2), threading.Event()
    waiting, good, seen = list[str](), list[str](), list[int]()

    def step(name: str) -> Step:
        if name.startswith("bad"):
            waiting.append(name)
            first = timed_out and int(name[4:]) < 2
            assert both.wait(PATIENCE) >= 0 if first else nearly_over.wait(PATIENCE)
            return Step(timed_out=timed_out)
        good.append(name)
        if len(good) <= 200 - 4:  # behind the last ones nobody waits
            seen.append(len(waiting))
        else:
            nearly_over.set()
        return DONE

    began, _ = run([f"bad/{n}" for n in range(8)] + [f"good/{n}" for n in range(200)], step, workers=4)
    assert max(seen) <= most
    assert len(began) == 208


def test_a_single_namespace_uses_every_worker() -> None:
    together = threading.Barrier(8)
    run([f"a/{n}" for n in range(8)], lambda _: (together.wait(PATIENCE), DONE)[1], workers=8)


def test_a_namespace_whose_writes_are_rejected_is_left_after_so_many() -> None:
    names = [f"a/{n}" for n in range(50)] + ["b/1"]
    began, done = run(names, lambda name: Step(rejected=name[0] == "a"), rejections=12)
    assert (Counter(name[0] for name in began), done) == (Counter(a=12, b=1), True)
    assert len(run(names, lambda _: Step(rejected=True))[0]) == 51


def test_a_rejected_namespace_ends_its_turn_in_a_loop_and_goes_on_in_the_next_pass() -> None:
    """12 rejections a second of the interval; the other namespace is reached whatever its name."""
    world = World(*(takara(f"t{number:03}", 3) for number in range(130)))
    world.create("zzz", takara("good", 3))
    world.instead("create", failure(403, "Forbidden", "quota"), "t")
    loop = Policy(interval=timedelta(seconds=10))
    report = world.sync(loop)
    assert report.counts == {"failed": 120, "not reached": 10, "created": 1}
    assert (world.writes.count("create"), report.next_start) == (121, Key("ns", "t120"))
    report = world.sync(loop, start=report.next_start)
    assert (report.counts[Result.NOT_REACHED], report.counts[Result.UNCHANGED]) == (0, 1)
    assert 10 <= world.writes.count("create") <= 20, "those that were not reached, and the few that are due"


# ------------------------------------------------------------------ the end


def test_nothing_is_started_after_the_deadline_and_what_runs_may_finish() -> None:
    seconds = [0.0]
    late = Deadline(50, lambda: seconds[0])
    assert run(FLEET, lambda _: (seconds.__setitem__(0, 51), DONE)[1], deadline=late) == (["a/0"], False)
    assert run(FLEET, deadline=late) == ([], False)


def test_a_stop_ends_workers_that_wait_for_a_retry() -> None:
    stopped = Deadline()

    def step(_: str) -> Step:
        stopped.stop("SIGTERM")
        return Step(retry_after=1e6)

    assert run(["a/1"], step, workers=4, deadline=stopped) == (["a/1"], False)


@pytest.mark.parametrize("error", [Unauthorized("who?"), CutShort("late"), KeyboardInterrupt()], ids=repr)
def test_what_stops_the_pass_starts_no_further_step(error: BaseException) -> None:
    began: list[str] = []

    def step(name: str) -> Step:
        began.append(name)
        raise error

    if isinstance(error, CutShort):
        assert run(FLEET, step) == (["a/0"], False)
    else:
        with pytest.raises(type(error) if not isinstance(error, PassStopped) else PassStopped):
            run(FLEET, step)
    assert began == ["a/0"]
