"""The record of an apply: `status.deployment` of a Takara. The next pass detects drift by it. Pure."""

from __future__ import annotations

from datetime import datetime

from takara_sync.backoff import TIMES_MAX
from takara_sync.desired import Manifest
from takara_sync.managed_fields import Owned, holds, own_fields, owned_by_us
from takara_sync.objects import FORMAT_ANNOTATION, AdmissionChange, Applied, Deployment, Takara, TakenBy
from takara_sync.text import digest, rfc3339

FORMAT = 1
"""Increase it when the default manifest changes. An older takara-sync then leaves the Deployment alone."""

_DIGITS = 16
_NOT_HASHED = ("uid", "resourceVersion", "annotations")


def with_format(manifest: Manifest) -> Manifest:
    """The manifest with the annotation that says by which format it was made.

    The record can be lost with the status; the annotation is in the Deployment itself. Only a create and an apply that
    changes the spec add it, because the API server counts a new annotation of a Deployment as a new generation.
    """
    metadata = manifest["metadata"]
    annotations = (metadata.get("annotations") or {}) | {FORMAT_ANNOTATION: str(FORMAT)}
    return manifest | {"metadata": metadata | {"annotations": annotations}}


def has_format(live: Manifest) -> bool:
    """Whether the Deployment has the annotation, whoever wrote it: then each apply sets it."""
    return FORMAT_ANNOTATION in (live["metadata"]["annotations"] or {})


def format_of(deployment: Deployment) -> int:
    """The format of the annotation; 0 without one, or if it is not ours: anybody may write an annotation."""
    value = (deployment.as_manifest()["metadata"]["annotations"] or {}).get(FORMAT_ANNOTATION, "")
    ours = holds(own_fields(deployment.managed_fields), ("metadata", "annotations", FORMAT_ANNOTATION))
    return int(value) if ours and value.isdecimal() else 0


def config_hash(manifest: Manifest, owned: Owned) -> str:
    """A hash of the applied manifest, of the fields that we own, and of the time of our managedFields entry.

    Without uid, resourceVersion, format annotation, and replicas (these are compared by value). 64 bits of SHA-256:
    enough to notice a change, and short, because every list of Takaras contains it.
    """
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in _NOT_HASHED}
    annotations = manifest["metadata"].get("annotations") or {}
    if others := {key: value for key, value in annotations.items() if key != FORMAT_ANNOTATION}:
        metadata["annotations"] = others
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
    takara: Takara, manifest: Manifest, live: Deployment, changed: str, taken_by: TakenBy | None, now: datetime
) -> Applied:
    """The record for the status after an apply of `manifest` that returned `live`. `now` is timezone-aware, in UTC.

    changed: the field that came back with another value, empty if none did; the record counts how often in a row.
    """
    owned = owned_by_us(live.managed_fields)
    before = takara.applied.changed_on_admission if takara.is_recorded else None
    times = min(before.times + 1, TIMES_MAX) if before else 1
    admission = AdmissionChange(changed, rfc3339(now), times) if changed else None
    return Applied(live.uid, config_hash(manifest, owned), FORMAT, taken_by, admission)
