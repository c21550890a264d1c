"""What a pass would do: one decision per Takara. Pure.

The truth table. A row's name is the id of its tests (tests/unit/test_plan.py).

| row          | Takara        | Deployment of that name                     | decision                         |
|--------------|---------------|---------------------------------------------|----------------------------------|
| deleting     | being deleted | any                                         | Keep: garbage collection owns it |
| invalid      | unusable spec | any                                         | Block                            |
| paused       | paused        | any                                         | Keep: status only                |
| absent       | size n        | none                                        | Create                           |
| not-ours     | size n        | not controlled by this uid                  | Block: never adopt, never touch  |
| leaving      | size n        | ours, being deleted                         | Keep this pass                   |
| newer-format | size n        | ours, applied by a newer program            | Block; status left alone         |
| legacy       | size n        | ours, fields still held by a legacy manager | Apply after taking those over    |
| contested    | size n        | ours, replicas taken again by the same      | Apply or Keep, without replicas  |
| converged    | size n        | ours, as recorded                           | Keep                             |
| drifted      | size n        | ours, anything else                         | Apply                            |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from takara_sync.changes import Change, before_first_apply, changes, removals
from takara_sync.claims import controlled_by, not_ours, problem_of
from takara_sync.contest import Contest, contest_of
from takara_sync.desired import FORMAT, Body, as_recorded, comparable, deployment_for, sealed, with_size
from takara_sync.fields import take_over
from takara_sync.objects import Deployment, Key, ManagedFieldsEntry, Snapshot, Takara
from takara_sync.reasons import NOT_OURS, Reason, Verdict, one_line

LEGACY_MANAGERS = ("takara-operator", "before-first-apply")


@dataclass(frozen=True)
class Policy:
    """What a pass may do.

    max_size: the largest size that is believed. max_changes: at most so many creates and changes, else nothing is
    written (None: no limit). allow_templates: whether `spec.template` is honoured. desired: the Deployment of a
    Takara; its identity and replicas are sealed afterwards. legacy_managers: whose fields are taken over.
    accept_newer_format: apply also over what a newer program applied (a deliberate rollback).
    """

    max_size: int = 1000
    max_changes: int | None = None
    allow_templates: bool = False
    desired: Callable[[Takara], Body] = deployment_for
    legacy_managers: tuple[str, ...] = LEGACY_MANAGERS
    accept_newer_format: bool = False

    def problem_of(self, takara: Takara) -> Verdict | None:
        """Why this Takara's spec cannot be used under this policy, None where it can."""
        return problem_of(takara, self.max_size, allow_templates=self.allow_templates)


class Create(Struct, frozen=True):
    """Make the Deployment; only if there is none."""

    takara: Takara
    body: Body


class Apply(Struct, frozen=True):
    """Bring back what drifted. `managed_fields`: what to replace them with first, in a take-over."""

    takara: Takara
    deployment: Deployment
    body: Body
    changes: tuple[Change, ...] = ()
    managed_fields: tuple[ManagedFieldsEntry, ...] | None = None
    contest: Contest = Contest()


class Keep(Struct, frozen=True):
    """Leave the Deployment alone. `verdict`: what the status says instead of comparing, if anything."""

    takara: Takara
    deployment: Deployment | None
    verdict: Verdict | None = None
    contest: Contest = Contest()


class Block(Struct, frozen=True):
    """A person has to act first. `deployment` is there only where it is this Takara's."""

    takara: Takara
    deployment: Deployment | None
    verdict: Verdict


Decision = Create | Apply | Keep | Block


class Plan(Struct, frozen=True):
    """The decisions of a pass, sorted by key. Undecided fail: `unread` could not be read, on `broken` the
    program, or a `Policy.desired`, raised what it should not."""

    decisions: tuple[Decision, ...]
    unread: Mapping[Key, str] = {}
    broken: Mapping[Key, Exception] = {}

    @property
    def pending(self) -> tuple[Create | Apply, ...]:
        """What `max_changes` counts: a create, or an apply that changes more than labels and the like."""
        return tuple(d for d in self.decisions if isinstance(d, Create) or (isinstance(d, Apply) and _has_effect(d)))


def _has_effect(decision: Apply) -> bool:
    """Whether replicas or the template change. Taking over what the Go operator left only adds our labels."""
    return any(change.field.startswith("spec.") for change in decision.changes)


def make_plan(snapshot: Snapshot, policy: Policy, now: datetime) -> Plan:
    """Decide every Takara. `now` is aware, in UTC."""
    decisions: list[Decision] = []
    broken: dict[Key, Exception] = {}
    for takara in sorted(snapshot.takaras, key=lambda takara: takara.key):
        if takara.key not in snapshot.unread:
            try:
                decisions.append(decide(takara, snapshot.deployments.get(takara.key), policy, now))
            except Exception as bug:  # noqa: BLE001 - a bug, or a user's Policy.desired, costs one Takara
                broken[takara.key] = bug
    return Plan(tuple(decisions), snapshot.unread, broken)


def decide(  # noqa: PLR0911 - a return for each row of the table
    takara: Takara, deployment: Deployment | None, policy: Policy, now: datetime
) -> Decision:
    """One row of the truth table. Ownership comes before desire."""
    ours = deployment if deployment is not None and controlled_by(deployment, takara) else None
    if takara.deleting:  # deleting
        return Keep(takara, ours)
    if verdict := policy.problem_of(takara):  # invalid
        return Block(takara, ours, verdict)
    if takara.paused:  # paused
        return Keep(takara, ours, None if ours or deployment is None else not_ours(takara, deployment))
    if deployment is None:  # absent
        return Create(takara, sealed(policy.desired(takara), takara, None))
    if ours is None:  # not-ours
        return Block(takara, None, not_ours(takara, deployment))
    if ours.deleting:  # leaving
        return Keep(takara, ours, _LEAVING)
    if takara.applied.format > FORMAT and not policy.accept_newer_format:  # newer-format
        return Block(takara, ours, _NEWER_FORMAT)
    return _converge(takara, ours, policy, now)


def _converge(takara: Takara, deployment: Deployment, policy: Policy, now: datetime) -> Decision:
    contest = contest_of(takara, deployment, now)
    body = sealed(policy.desired(takara), takara, deployment)
    if handed_over := take_over(deployment.managed_fields, policy.legacy_managers):  # legacy
        return _apply(takara, deployment, body, contest, policy, handed_over)
    replicas_settled = contest.left or deployment.replicas == takara.size
    if replicas_settled and as_recorded(deployment, takara, body, contested=contest.left):  # converged, contested
        return Keep(takara, deployment, _contested(takara, contest), contest)
    return _apply(takara, deployment, body, contest, policy)  # drifted, contested


def _apply(
    takara: Takara,
    deployment: Deployment,
    body: Body,
    contest: Contest,
    policy: Policy,
    handed_over: tuple[ManagedFieldsEntry, ...] | None = None,
) -> Apply:
    if contest.left:  # the live value goes into a body that other drift calls for
        body = with_size(body, deployment.replicas)
    wanted, live = comparable(body), comparable(deployment.as_body())
    found = changes(wanted, live, deployment.managed_fields)
    before = deployment.managed_fields or (before_first_apply(live),)
    after = handed_over or take_over(before, policy.legacy_managers) or before
    found += removals(wanted, live, after, deployment.managed_fields)
    stamped = body["metadata"] | {
        "uid": deployment.uid,
        "resourceVersion": deployment.metadata.resource_version,
    }
    return Apply(takara, deployment, body | {"metadata": stamped}, found, handed_over, contest)


# ------------------------------------------------------------------ what must be looked up by name


def must_look_up(takara: Takara, policy: Policy, *, certain: bool = False) -> bool:
    """Whether a Deployment that the list does not hold is asked for by name before deciding.

    The Go operator's Deployments carry no labels, so absence from the list is no proof. Usually the create-only
    apply finds that out; a Takara that is never to be created, or that was told that there is one, is looked up
    instead, and so is each where the plan has to be certain before anything is written.
    """
    if takara.deleting:
        return False
    told = takara.condition("Stalled")
    blocked = told.get("status") == "True" and str(told.get("reason")) in NOT_OURS
    leaving = takara.condition("Ready").get("reason") == Reason.DEPLOYMENT_DELETING
    newer = takara.applied.format > FORMAT and not policy.accept_newer_format
    certain = certain or policy.max_changes is not None
    return certain or blocked or leaving or newer or takara.paused or policy.problem_of(takara) is not None


_LEAVING = Verdict(
    Reason.DEPLOYMENT_DELETING,
    "The Deployment is being deleted; a new one is made when it is gone.",
    stalled=False,
)
_NEWER_FORMAT = Verdict(
    Reason.NEWER_FORMAT,
    "A newer takara-sync applied this Deployment. Upgrade this one, or run it with --accept-newer-format.",
)


def _contested(takara: Takara, contest: Contest) -> Verdict | None:
    return contested_verdict(takara, contest) if contest.left else None


def contested_verdict(takara: Takara, contest: Contest) -> Verdict:
    """What a Takara is told whose replicas are left to another manager."""
    return Verdict(
        Reason.REPLICAS_CONTESTED,
        f"{one_line(contest.holder)[:200]} keeps setting the replicas of the Deployment, so they are left to it. Edit "
        f"spec.size, or point the autoscaler at Takara {takara.metadata.name} instead of its Deployment.",
        stalled=False,
    )
