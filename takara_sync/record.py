"""The record of an apply: `status.deployment` of a Takara. The next pass detects drift by it. Pure."""

from __future__ import annotations

from datetime import datetime

from takara_sync.backoff import TIMES_MAX
from takara_sync.desired import Manifest, comparable
from takara_sync.diff import changed_on_admission
from takara_sync.managed_fields import Owned, owned_by_us
from takara_sync.objects import AdmissionChange, Applied, Deployment, Takara, TakenBy
from takara_sync.text import digest, rfc3339

FORMAT = 1
"""Increase it when the default manifest changes. An older takara-sync then leaves the Deployment alone."""

_DIGITS = 16


def config_hash(manifest: Manifest, owned: Owned) -> str:
    """A hash of the applied manifest, of the fields that we own, and of the time of our managedFields entry.

    Without uid, resourceVersion and replicas (replicas are compared by value). 64 bits of SHA-256: enough to notice a
    change, and short, because every list of Takaras contains it.
    """
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ("uid", "resourceVersion")}
    spec = {key: value for key, value in manifest["spec"].items() if key != "replicas"}
    return digest([manifest | {"metadata": metadata, "spec": spec}, owned.time, owned.others])[:_DIGITS]


def is_as_recorded(deployment: Deployment, takara: Takara, manifest: Manifest, owned: Owned) -> bool:
    """Whether everything but the replicas equals the record of the last apply; then nothing else drifted.

    A record of another generation is not valid: a pass may have applied a later spec and been killed before its status
    update. owned: what we own in the Deployment now.
    """
    was = takara.applied
    same_object = (was.uid, was.format) == (deployment.uid, FORMAT)
    return takara.is_recorded and same_object and was.config_hash == config_hash(manifest, owned)


def record_of(
    takara: Takara, manifest: Manifest, live: Deployment, taken_by: TakenBy | None, now: datetime, *, dry_run: bool
) -> Applied:
    """The record for the status after an apply of `manifest` that returned `live`. `now` is timezone-aware, in UTC."""
    changed = None if dry_run else _admission_change(takara, manifest, live, now)
    return Applied(live.uid, config_hash(manifest, owned_by_us(live.managed_fields)), FORMAT, taken_by, changed)


def _admission_change(takara: Takara, manifest: Manifest, live: Deployment, now: datetime) -> AdmissionChange | None:
    """The field that the apply returned with another value, and how often in a row; None if there is none."""
    field = changed_on_admission(comparable(manifest), comparable(live.as_manifest()))
    before = takara.applied.changed_on_admission if takara.is_recorded else None
    times = min(before.times + 1, TIMES_MAX) if before else 1
    return AdmissionChange(field, rfc3339(now), times) if field else None
