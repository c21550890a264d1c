"""Rules in an order that brings a certain bug out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.model.draws import TEMPLATES
from tests.model.oracle import Program
from tests.model.people import PAUSED

if TYPE_CHECKING:
    from tests.model.machine import OnTheSimulator


def a_stranger(machine: OnTheSimulator) -> None:
    machine.strange_deployment("a", "nobody", labelled=True)
    machine.create("a")
    machine.sync()


def a_stranger_between_reading_and_creating(machine: OnTheSimulator) -> None:
    machine.create("a")
    machine.begin_pass(at=2)
    machine.strange_deployment("a", "nobody", labelled=False)
    machine.go_on()


def a_converged_one(machine: OnTheSimulator) -> None:
    machine.create("a")
    machine.settle_and_sync()
    machine.settle_and_sync()


def a_note_of_somebody(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.steal("a", {"metadata": {"annotations": {"note": "theirs"}}})
    machine.scale("a", 5)
    machine.begin_pass(at=3)
    machine.steal("a", {"metadata": {"annotations": {"note": "newer"}}})
    machine.go_on()


def a_note_at_rest(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.steal("a", {"metadata": {"annotations": {"note": "theirs"}}})
    machine.scale("a", 5)
    machine.sync()


def a_sidecar_of_somebody(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.change_pod("a", {"spec": {"containers": [{"name": "extra", "image": "nginx"}]}})
    machine.scale("a", 5)
    machine.sync()


def the_go_operators(machine: OnTheSimulator) -> None:
    machine.create("a", 3)
    machine.go_operator("a", 3, env=True)
    machine.steal("a", {"metadata": {"annotations": {"note": "theirs"}}})
    machine.sync()


def a_deletion_that_waits(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.delete("a", "Foreground")
    machine.scale("a", 5)
    machine.sync()


def paused_and_scaled(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.annotate("a", PAUSED)
    machine.scale("a", 5)
    machine.sync()


def an_invalid_edit(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.resize("a", 9)
    machine.sync()


def a_deployment_that_goes(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.delete_deployment("a", foreground=True)
    machine.scale("a", 5)
    machine.sync()


def a_rollout_that_lags(machine: OnTheSimulator) -> None:
    machine.create("a", 2)
    machine.settle_and_sync()
    machine.settle_and_sync()
    machine.resize("a", 2)
    machine.change_pod("a", {"metadata": {"annotations": {"restartedAt": "now"}}})
    machine.sync()


def stray_pods(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.stray_pod("a", owned=True)
    machine.stray_pod("a", owned=False)
    machine.sync()


def a_template_that_is_refused(machine: OnTheSimulator) -> None:
    machine.create("a", 2, TEMPLATES[3])
    machine.sync()


def a_contest(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.tug("a", 5)
    machine.tug("a", 5)


def a_single_scale(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.scale("a", 5)
    machine.sync()


def an_edit_meanwhile(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.scale("a", 5)
    machine.begin_pass(at=4)
    machine.resize("a", 3)
    machine.go_on()


def an_outage_of_the_statuses(machine: OnTheSimulator) -> None:
    machine.create("a")
    machine.broken_pass("outage", 5)


def a_list_that_fails(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.resize("a", 3)
    machine.broken_pass("no pods", 1)


def an_audit(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.touch_status("a", lost=False)
    machine.resize("a", 3)
    machine.sync()


def killed_before_it_told(machine: OnTheSimulator) -> None:
    """A newer program changes the image, and is killed before it tells so."""
    a_converged_one(machine)
    machine.killed_pass(3, Program(image="busybox:2"))
    machine.sync()


def more_than_the_limit(machine: OnTheSimulator) -> None:
    machine.create("a")
    machine.create("b")
    machine.limited(limit=0)


def the_past(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.scale("a", 5)
    machine.lawful()
    machine.scale("a", 4)
    machine.lawful()
    machine.stale_pass("deployments", 1)


def a_rejected_one_without_its_label(machine: OnTheSimulator) -> None:
    a_converged_one(machine)
    machine.edit_metadata("a", {"labels": {"app": None}})
    machine.change_template("a", TEMPLATES[3])
    machine.sync()
