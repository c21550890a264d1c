"""The decisions of a pass: one per Takara. Pure.

The truth table. A row's name is the id of its tests (tests/unit/test_plan.py).

| row          | Takara        | Deployment of that name                | decision                         |
|--------------|---------------|----------------------------------------|----------------------------------|
| deleting     | being deleted | any                                    | Keep: garbage collection does it |
| invalid      | unusable spec | any                                    | Block                            |
| paused       | paused        | any                                    | Keep: status only                |
| absent       | size n        | none                                   | Create                           |
| predecessor  | size n        | of a deleted Takara of this name       | Keep for 5 minutes, then Block   |
| not-ours     | size n        | not controlled by this uid             | Block: never adopt, never touch  |
| leaving      | size n        | ours, being deleted                    | Keep this pass                   |
| newer-format | size n        | ours, applied by a newer program       | Block; the status is left alone  |
| selector     | size n        | ours, with another selector            | Block: a selector never changes  |
| legacy       | size n        | ours, a legacy manager owns fields     | Take these over, then apply      |
| contested    | size n        | ours, replicas set again by the same   | Apply or Keep, without replicas  |
| admission    | size n        | ours, the last apply came back changed | Block until the backoff is over  |
| converged    | size n        | ours, as recorded                      | Keep                             |
| drifted      | size n        | ours, anything else                    | Apply                            |
| rejected     | size n        | the server rejected this write         | Keep until its next try is due   |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, TypeGuard

import msgspec
from msgspec import Struct, structs

from takara_sync.backoff import elapsed, next_try, rejected_is_due, wait_after
from takara_sync.conditions import NOT_OURS, REJECTED, Reason, Verdict
from takara_sync.contest import Contest, contest_of, contested_verdict
from takara_sync.desired import Manifest, comparable, deployment_for, selector_labels, with_identity, with_size
from takara_sync.diff import Change, before_first_apply, changes, removals
from takara_sync.managed_fields import LEGACY_MANAGERS, legacy_managers_of, owned_by_us, take_over
from takara_sync.objects import AdmissionChange, Applied, Deployment, Key, ManagedFieldsEntry, Snapshot, Takara
from takara_sync.ownership import controlled_by, not_ours
from takara_sync.record import FORMAT, format_of, has_format, is_as_recorded, with_format
from takara_sync.validation import problem_of


@dataclass(frozen=True)
class Policy:
    """What a pass may do.

    max_size: a larger spec.size is invalid. max_changes: the maximum number of changed Deployments per pass, or a
    percentage of the Takaras, such as "10%", rounded up (None: no limit). allow_templates: whether to use
    `spec.template`. desired: returns the manifest of a Takara's Deployment, without side effects: a dict with
    `spec.template`. Of its `metadata` only labels and annotations are kept; name, selector, owner and replicas are set
    afterwards. legacy_managers: field managers whose fields we take over. accept_newer_format: apply even if a newer
    takara-sync applied last (a deliberate rollback). interval: the time since the last pass of a loop, so that not
    every pass repeats rejected writes; None for a single pass.
    """

    max_size: int = 1000
    max_changes: int | str | None = None
    allow_templates: bool = False
    desired: Callable[[Takara], Manifest] = deployment_for
    legacy_managers: tuple[str, ...] = LEGACY_MANAGERS
    accept_newer_format: bool = False
    interval: timedelta | None = None

    @property
    def rejections(self) -> int | None:
        """The limit of rejected writes per namespace and pass of a loop. With statuses: 1,500 requests a minute."""
        return None if self.interval is None else max(1, round(12 * self.interval.total_seconds()))

    def problem_of(self, takara: Takara) -> Verdict | None:
        """Why this policy does not allow the spec of this Takara; None if it does."""
        return problem_of(takara, self.max_size, allow_templates=self.allow_templates)


class Create(Struct, frozen=True):
    """Create the Deployment, only if it does not exist."""

    takara: Takara
    manifest: Manifest
    deployment: ClassVar[None] = None
    verdict: ClassVar[None] = None


class Apply(Struct, frozen=True):
    """Apply the manifest, because of drift. managed_fields: for a take-over from the managers `taken_from`, they
    replace the managedFields of the Deployment first. verdict: as for Keep, while another manager has the replicas."""

    takara: Takara
    deployment: Deployment
    manifest: Manifest
    changes: tuple[Change, ...] = ()
    managed_fields: tuple[ManagedFieldsEntry, ...] | None = None
    taken_from: tuple[str, ...] = ()
    contest: Contest = Contest()
    verdict: Verdict | None = None


class Keep(Struct, frozen=True):
    """Leave the Deployment alone. verdict: overrides the conditions derived from the Deployment."""

    takara: Takara
    deployment: Deployment | None
    verdict: Verdict | None = None
    contest: Contest = Contest()


class Block(Struct, frozen=True):
    """A person has to act first. deployment: None if it does not belong to this Takara."""

    takara: Takara
    deployment: Deployment | None
    verdict: Verdict


Decision = Create | Apply | Keep | Block


class Plan(Struct, frozen=True):
    """The decisions of a pass, sorted by key.

    Two kinds of Takaras have no decision. unread: they could not be read. broken: a bug, or `Policy.desired`, raised.
    """

    decisions: tuple[Decision, ...]
    unread: Mapping[Key, str] = {}
    broken: Mapping[Key, Exception] = {}

    @property
    def pending(self) -> tuple[Create | Apply, ...]:
        """The decisions that `max_changes` counts."""
        return tuple(decision for decision in self.decisions if is_change(decision))


def changes_spec(found: Iterable[Change]) -> bool:
    """Whether a change is more than one of metadata."""
    return any(change.field.startswith("spec.") for change in found)


def is_change(decision: Decision) -> TypeGuard[Create | Apply]:
    """Whether `max_changes` counts this decision: a create, or a change of the spec.

    A take-over from the Go operator is usually no change: it only adds labels.
    """
    if isinstance(decision, Apply):
        return changes_spec(decision.changes)
    return isinstance(decision, Create)


def make_plan(snapshot: Snapshot, policy: Policy, now: datetime) -> Plan:
    """Decide on every Takara. `now` is timezone-aware, in UTC."""
    decisions: list[Decision] = []
    unread = dict(snapshot.unread)
    broken: dict[Key, Exception] = {}
    for takara in sorted(snapshot.takaras, key=lambda takara: takara.key):
        deployment = snapshot.deployments.get(takara.key)
        try:
            if takara.key not in unread or takara.deleting:
                decisions.append(_lean(decide(takara, deployment, policy, now)))
                unread.pop(takara.key, None)
        except (msgspec.MsgspecError, RecursionError) as error:
            unread[takara.key] = f"malformed: {error}"
        except Exception as bug:  # noqa: BLE001 - a bug, or a user's Policy.desired, affects one Takara
            broken[takara.key] = bug
    return Plan(tuple(decisions), unread, broken)


def decide(takara: Takara, deployment: Deployment | None, policy: Policy, now: datetime) -> Decision:
    """The decision of one row of the truth table."""
    decision = _decide(takara, deployment, policy, now)
    if isinstance(decision, Create | Apply) and (verdict := _rejected_before(takara, policy, now)):  # rejected
        return Keep(takara, decision.deployment, verdict)
    return decision


def _lean(decision: Decision) -> Decision:
    """The decision without the parts of a Deployment that nothing reads any more."""
    if isinstance(decision, Keep) and decision.deployment is not None:
        return structs.replace(decision, deployment=decision.deployment.without_manifest())
    return decision


def _decide(  # noqa: PLR0911 - a return for each row of the table
    takara: Takara, deployment: Deployment | None, policy: Policy, now: datetime
) -> Decision:
    ours = deployment if deployment is not None and controlled_by(deployment, takara) else None
    if takara.deleting:  # deleting
        return Keep(takara, ours)
    if verdict := policy.problem_of(takara):  # invalid
        return Block(takara, ours, verdict)
    if takara.paused:  # paused
        return Keep(takara, ours, None if ours or deployment is None else _not_ours(takara, deployment, now))
    if deployment is None:  # absent
        return Create(takara, with_format(with_identity(policy.desired(takara), takara, None)))
    if ours is None:
        verdict = _not_ours(takara, deployment, now)  # not-ours, else predecessor
        return Block(takara, None, verdict) if verdict.stalled else Keep(takara, None, verdict)
    if ours.deleting:  # leaving
        return Keep(takara, ours, _LEAVING)
    was = takara.applied
    if was.format > FORMAT and not policy.accept_newer_format:  # newer-format
        return Block(takara, ours, _NEWER_FORMAT)
    decision = _converge(takara, ours, was, policy, now)
    if isinstance(decision, Apply) and format_of(ours) > FORMAT and not policy.accept_newer_format:  # newer-format
        return Block(takara, ours, _NEWER_FORMAT)
    return decision


def _not_ours(takara: Takara, deployment: Deployment, now: datetime) -> Verdict:
    return not_ours(takara, deployment, now, adoptable=_has_our_selector(takara, deployment))


def _has_our_selector(takara: Takara, deployment: Deployment) -> bool:
    """Whether an apply can succeed: the selector of a Deployment never changes.

    https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#label-selector-updates
    """
    return bool(deployment.selector == {"matchLabels": selector_labels(takara.metadata.name)})


def _converge(takara: Takara, deployment: Deployment, was: Applied, policy: Policy, now: datetime) -> Decision:
    contest = contest_of(takara, deployment, now)
    manifest = with_identity(policy.desired(takara), takara, deployment)
    entries = deployment.managed_fields
    if handed_over := take_over(entries, policy.legacy_managers):  # legacy
        return _apply(takara, deployment, manifest, contest, policy, handed_over)
    ours = owned_by_us(entries)
    if is_as_recorded(deployment, takara, manifest, ours):
        if contest.left:  # contested
            return Keep(takara, deployment, contested_verdict(takara, contest), contest)
        if ours.replicas:
            if verdict := _changed_on_admission(was.changed_on_admission, now):  # admission
                return Block(takara, deployment, verdict)
            if deployment.replicas == takara.size and was.changed_on_admission is None:  # converged
                return Keep(takara, deployment)
    return _apply(takara, deployment, manifest, contest, policy)  # drifted, contested


def _apply(
    takara: Takara,
    deployment: Deployment,
    manifest: Manifest,
    contest: Contest,
    policy: Policy,
    handed_over: tuple[ManagedFieldsEntry, ...] | None = None,
) -> Apply | Block:
    if not _has_our_selector(takara, deployment):  # selector
        return Block(takara, deployment, _OTHER_SELECTOR)
    if contest.left:  # this apply is for other drift: it keeps the live replicas
        manifest = with_size(manifest, deployment.replicas)
    live, entries = deployment.as_manifest(), deployment.managed_fields
    if has_format(live):
        manifest = with_format(manifest)
    wanted = comparable(manifest)
    found = changes(wanted, live, entries)
    before = entries or (before_first_apply(live),)
    after = handed_over or take_over(before, policy.legacy_managers) or before
    found += removals(wanted, live, after, entries)
    if changes_spec(found):
        manifest = with_format(manifest)
    identity = {"uid": deployment.uid, "resourceVersion": deployment.metadata.resource_version}
    manifest = manifest | {"metadata": manifest["metadata"] | identity}
    taken_from = legacy_managers_of(entries, policy.legacy_managers) if handed_over else ()
    verdict = contested_verdict(takara, contest)
    return Apply(takara, deployment, manifest, found, handed_over, taken_from, contest, verdict)


# ------------------------------------------------------------------ writes that not every pass repeats


def _rejected_before(takara: Takara, policy: Policy, now: datetime) -> Verdict | None:
    """The recorded rejection of this generation, if its next try is not due."""
    stalled = takara.condition("Stalled")
    reason, message = stalled.get("reason", ""), stalled.get("message", "")
    is_rejected = takara.is_recorded and stalled.get("status") == "True" and reason in REJECTED
    if not is_rejected or rejected_is_due(takara.uid, now, policy.interval):
        return None
    return Verdict(Reason(reason), message)


def _changed_on_admission(record: AdmissionChange | None, now: datetime) -> Verdict | None:
    """The verdict if admission changed the last apply and the backoff is not over; None otherwise."""
    if record is None or elapsed(record.at, now) >= wait_after(record.times):
        return None
    return admission_verdict(record)


def admission_verdict(record: AdmissionChange) -> Verdict:
    """The verdict for a field that an apply returned with another value."""
    return Verdict(
        Reason.CHANGED_ON_ADMISSION,
        f"{record.field} came back from the API server with another value: an admission webhook or policy changes it. "
        "Exempt this Deployment from it, or ask for the value that it sets. takara-sync applies again after "
        f"{next_try(record.at, record.times)}.",
    )


# ------------------------------------------------------------------ Deployments to read by name


def must_look_up(takara: Takara, policy: Policy, *, certain: bool = False) -> bool:
    """Whether to read the Deployment by name before the decision, if the list does not contain it.

    The list contains only Deployments with our label; those of the Go operator have no label. Usually the create-only
    apply finds such a Deployment. The GET is needed if the pass would create nothing, if the recorded status says that
    a Deployment exists, or if the plan must be exact before the first write. A new Takara needs no GET.
    """
    if takara.deleting:
        return False
    reason = takara.condition("Ready").get("reason")
    known = reason in NOT_OURS or reason == Reason.DEPLOYMENT_DELETING
    newer = takara.applied.format > FORMAT and not policy.accept_newer_format
    certain = certain or policy.max_changes is not None
    return certain or known or newer or takara.paused or policy.problem_of(takara) is not None


_LEAVING = Verdict(
    Reason.DEPLOYMENT_DELETING,
    "The Deployment is being deleted; a new one is created when it is gone.",
    stalled=False,
)
_OTHER_SELECTOR = Verdict(
    Reason.SELECTOR_DIFFERS,
    "The selector of the Deployment is not that of a Takara's Deployment, and a selector never changes. Delete the "
    "Deployment: takara-sync then creates it anew, with new pods.",
)
_NEWER_FORMAT = Verdict(
    Reason.NEWER_FORMAT,
    "A newer takara-sync applied this Deployment. Upgrade this one, or run it with --accept-newer-format.",
)
