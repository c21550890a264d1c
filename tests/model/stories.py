"""Rules in an order that brings a certain bug out."""

from __future__ import annotations

from tests.model.draws import TEMPLATES
from tests.model.machine import OnTheSimulator
from tests.model.oracle import Program
from tests.model.people import PAUSED


def a_stranger(machine: OnTheSimulator) -> None:
    machine.strange_deployment("a", "nobody", labelled=True)
    machine.create("a")
    machine.sync()


def a_converged_one(machine: OnTheSimulator) -> None:
    machine.create("a")
    machine.settle_and_sync()
    machine.settle_and_sync()


def a_note_at_rest(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.steal("a", {"metadata": {"annotations": {"note": "theirs"}}})
    machine.scale("a", 5)
    machine.sync()


def the_go_operators(machine: OnTheSimulator) -> None:
    machine.create("a", 3)
    machine.go_operator("a", 3, env=True)
    machine.steal("a", {"metadata": {"annotations": {"note": "theirs"}}})
    machine.sync()


def paused_and_scaled(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.annotate("a", PAUSED)
    machine.scale("a", 5)
    machine.sync()


def stray_pods(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.stray_pod("a", owned=True)
    machine.stray_pod("a", owned=False)
    machine.sync()


def a_template_that_is_refused(machine: OnTheSimulator) -> None:
    machine.create("a", 2, TEMPLATES[3])
    machine.sync()


def killed_before_its_status(machine: OnTheSimulator) -> None:
    """A newer program changes the image, and is killed before its status says so."""
    a_converged_one(machine)
    machine.killed_pass(3, Program(image="busybox:2"))
    machine.sync()


def more_than_the_limit(machine: OnTheSimulator) -> None:
    machine.create("a")
    machine.create("b")
    machine.limited(limit=0)
