"""Whether the spec of a Takara is usable. Pure."""

from __future__ import annotations

from typing import Any

from takara_sync.conditions import Reason, Verdict
from takara_sync.objects import Takara
from takara_sync.text import one_line, shortened

_INT32_MAX = 2**31 - 1


def problem_of(takara: Takara, max_size: int, *, allow_templates: bool) -> Verdict | None:
    """Why the spec is not usable; None if it is. A CRD without a schema accepts any value."""
    if not isinstance(takara.spec, dict):
        return Verdict(Reason.INVALID_SPEC, "spec is not an object. Give it an integer size.")
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
    return shortened(one_line(f'"{value}"' if isinstance(value, str) else "null" if value is None else str(value)), 80)


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
        return Verdict(Reason.INVALID_TEMPLATE, "spec.template is not a pod template: it needs spec.containers.")
    return None


def _usable_template(template: Any) -> bool:
    """Whether the parts that we write into have the right type; the API server validates the rest."""
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        return False
    metadata = template.get("metadata") or {}
    labels = metadata.get("labels") if isinstance(metadata, dict) else metadata
    return isinstance(metadata, dict) and isinstance(labels or {}, dict) and bool(template["spec"].get("containers"))
