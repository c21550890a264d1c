"""The admission policy repeats the default container of `desired.default_container`, as the API server completes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takara_sync.desired import default_container

POLICY = Path(__file__).parents[2] / "k8s" / "base" / "fence.yaml"


def cel(value: Any) -> str:
    """A value as CEL writes it within a dyn map."""
    if isinstance(value, list):
        return f"dyn([{', '.join(repr(item) for item in value)}])"
    return f"dyn({value!r})"


def test_the_policy_admits_exactly_what_the_program_makes() -> None:
    rendered = ", ".join(f"{key!r}: {cel(value)}" for key, value in default_container().items())
    assert f"dyn({{{rendered}, 'resources': dyn({{}})," in " ".join(POLICY.read_text().split())
