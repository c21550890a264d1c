"""A person who scales the Deployment by hand: undone each time, unless it is the same again at once."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.rivals.others import Way, take
from tests.rivals.passes import Passes
from tests.support.takaras import takara
from tests.world import World

SIZE = 3
HOLDERS = ("kubectl", "kubectl-edit", "Mozilla", "kube-controller-manager", "a b", "takara-operator")
WAYS: tuple[Way, ...] = ("scale", "update")


class Person:
    """Scales at random, while passes go on every so many minutes."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.passes = Passes(world)
        self.random = random.Random(seed)  # noqa: S311 - repeatable trials
        world.create(takara("one", SIZE))
        self.passes.settle()

    def scales(self, holder: str | None = None, least: int = 0) -> str:
        """Scales to any size but the right one; who it was. Who scales to 0 may leave no name."""
        who = holder or self.random.choice(HOLDERS)
        size = self.random.choice([size for size in (0, 1, 2, 4, 7, 50, 1000) if size >= least])
        take(self.world, size, who, self.random.choice(WAYS))
        return who

    @property
    def is_undone(self) -> bool:
        """Whether the next pass, which comes within its usual interval, undoes it."""
        self.passes.minutes += self.random.choice((1 / 60, 10 / 60, 1.0, 5.0))
        self.passes.sync()
        return bool(self.world.deployment("one")["spec"]["replicas"] == SIZE)

    def waits(self, least: float, most: float) -> None:
        self.passes.minutes += self.random.uniform(least, most)
        if self.random.random() < 0.5:  # what the record remembers outlives a pass that finds the size right
            self.passes.sync()


def check_single_scales(person: Person, trials: int) -> None:
    """Each at its own time: ten minutes or days after the one before."""
    for trial in range(trials):
        who = person.scales()
        assert person.is_undone, f"trial {trial}: what {who} did is still there"
        person.waits(10, person.random.choice((11, 60, 3000)))


def test_one_manual_scale_is_undone_each_time(
    arena: World, seed: int, long: bool, count: Callable[[str, int], None]
) -> None:
    trials = 1000 if long else 60
    check_single_scales(Person(arena, seed), trials)
    count("single manual scales undone", trials)


def test_two_persons_within_ten_minutes_are_undone_both(
    new_arena: Callable[[], World], seed: int, long: bool, count: Callable[[str, int], None]
) -> None:
    """No contest: it takes the same one twice. Who scales to 0 leaves no name, so these do not."""
    trials = 200 if long else 15
    for trial in range(trials):
        person = Person(new_arena(), seed + trial)
        first, second = person.random.sample(HOLDERS, 2)
        for who in (first, second, first):
            take(person.world, person.random.randint(4, 50), who, person.random.choice(WAYS))
            assert person.is_undone, (first, second)
    count("manual scales by two in turn undone", 3 * trials)


def test_who_scaled_twice_within_ten_minutes_is_undone_after_the_next_ten(
    new_arena: Callable[[], World], seed: int, long: bool, count: Callable[[str, int], None]
) -> None:
    trials = 200 if long else 15
    for trial in range(trials):
        person = Person(new_arena(), seed + trial)
        who = person.scales(least=1)
        assert person.is_undone
        begun = person.passes.minutes
        person.passes.minutes += person.random.uniform(0, 4)
        person.scales(who, least=1)
        assert not person.is_undone
        person.passes.minutes = begun + 9.9
        assert not person.passes.sync()
        assert person.world.deployment("one")["spec"]["replicas"] != SIZE
        person.passes.minutes = begun + 10
        assert person.is_undone
        assert person.world.condition("one", "Ready")["reason"] != "ReplicasContested"
    count("persons who scaled twice undone after ten minutes", trials)
