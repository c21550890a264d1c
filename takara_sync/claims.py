"""Whether a Takara's spec can be used, and whether a Deployment is its own. Pure."""

from __future__ import annotations

from typing import Any

from takara_sync.objects import GROUP, KIND, Deployment, OwnerReference, Takara
from takara_sync.reasons import Reason, Verdict, one_line

_INT32_MAX = 2**31 - 1


# ------------------------------------------------------------------ ownership


def controlled_by(deployment: Deployment, takara: Takara) -> bool:
    """Whether this very Takara, by its uid, is the controller. A namesake or a predecessor is not."""
    owner = deployment.controller
    return owner is not None and _is_takara(owner) and (owner.name, owner.uid) == (takara.metadata.name, takara.uid)


def _is_takara(owner: OwnerReference) -> bool:
    """Of any version; an `apiVersion` without a slash is a version of the core group."""
    return (owner.api_version.rpartition("/")[0], owner.kind) == (GROUP, KIND)


def not_ours(takara: Takara, deployment: Deployment) -> Verdict:
    owner = deployment.controller
    if owner is None:
        return Verdict(
            Reason.NO_CONTROLLER,
            f"Deployment {takara.key} has no controller and is left alone. Delete or rename it, or give it this Takara "
            "as its controller owner reference.",
        )
    if _is_takara(owner) and owner.name == takara.metadata.name:
        return Verdict(
            Reason.PREDECESSOR,
            f"Deployment {takara.key} belongs to a deleted Takara of this name (uid {owner.uid}) and is left alone. "
            "Garbage collection removes it; if it stays, delete it.",
        )
    return Verdict(
        Reason.OTHER_CONTROLLER,
        f"Deployment {takara.key} is controlled by {owner.kind} {owner.name} and is left alone. "
        "Rename the Takara, or remove the Deployment where that owner declares it.",
    )


# ------------------------------------------------------------------ unusable specs


def problem_of(takara: Takara, max_size: int, *, allow_templates: bool) -> Verdict | None:
    """Why the spec cannot be used, None where it can. A CRD without schema lets anything in."""
    if not isinstance(takara.spec, dict):
        return Verdict(Reason.INVALID_SPEC, "spec is no object. Give it an integer size.")
    size = takara.size
    if type(size) is not int or not 0 <= size <= _INT32_MAX:
        return Verdict(Reason.INVALID_SIZE, f"spec.size is {_shown(takara.spec)}. Set it to a whole number, 0 or more.")
    if size > max_size:
        return Verdict(
            Reason.SIZE_TOO_LARGE,
            f"spec.size is {size}, above the limit of {max_size}. Lower it, or raise --max-size.",
        )
    return _template_problem(takara.spec.get("template"), allow_templates=allow_templates)


def _shown(spec: dict[str, Any]) -> str:
    if "size" not in spec:
        return "missing"
    value = spec["size"]
    return one_line(f'"{value}"' if isinstance(value, str) else "null" if value is None else str(value))[:80]


def _template_problem(template: Any, *, allow_templates: bool) -> Verdict | None:
    if template is None:
        return None
    if not allow_templates:
        return Verdict(
            Reason.TEMPLATES_NOT_ALLOWED,
            "spec.template is set, but templates are not allowed here. Remove it, or run takara-sync with "
            "--allow-templates.",
        )
    if not _usable_template(template):
        return Verdict(Reason.INVALID_TEMPLATE, "spec.template is no pod template: it needs spec.containers.")
    return None


def _usable_template(template: Any) -> bool:
    """Whether the parts that we write into have the right shape; the API server judges the rest."""
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        return False
    metadata = template.get("metadata") or {}
    labels = metadata.get("labels") if isinstance(metadata, dict) else metadata
    return isinstance(metadata, dict) and isinstance(labels or {}, dict) and bool(template["spec"].get("containers"))
