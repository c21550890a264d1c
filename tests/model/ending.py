"""The end of a run: everybody stops, controllers settle, contests run out, and then nothing is left to do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.model import truth
from tests.model.oracle import Program
from tests.model.passes import Pass
from tests.model.statuses import condition

if TYPE_CHECKING:  # it imports this module
    from tests.model.machine import Machine


def quiet(machine: Machine) -> None:
    """Two quiet passes: everything is converged or named, and neither has anything to write."""
    _passed(machine)
    machine.clock += truth.LONGEST_CONTEST + timedelta(minutes=1)
    _passed(machine)
    _passed(machine)
    before = truth.picture(machine.backend)
    first = _passed(machine)
    second = _passed(machine)
    after = truth.picture(machine.backend)
    machine.law.breaches += truth.breaches_of_a_pass(first, before, after)
    machine.law.breaches += truth.breaches_of_a_second_pass(first, second)
    machine.law.breaches += _unfinished(second, after)


def _passed(machine: Machine) -> Pass:
    one = machine.begin(Program())
    one.run()
    machine.ended(one)
    machine.backend.settle()
    return one


def _unfinished(one: Pass, after: truth.Picture) -> Iterator[str]:
    """Who is neither Ready nor named with a reason."""
    report = one.report
    for outcome in report.takaras if report else ():
        name = outcome.key.name
        takara, deployment = after.takaras[name], after.deployments.get(name)
        if truth.row(takara, deployment, one.program) == "converge" and outcome.result != "failed":
            if outcome.result != "unchanged":
                yield f"at the end {name} is {outcome.result}, not unchanged"
            if condition(takara["status"], "Ready")["status"] != "True":
                yield f"at the end {name} is not Ready: {condition(takara['status'], 'Ready')}"
        elif not outcome.reason or not outcome.message:
            yield f"at the end {name} is {outcome.result} without a reason"
