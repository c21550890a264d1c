"""The pytest plugin of a mutation run: what is fast comes first, and nothing is drawn at random.

A mutant is run against each test that reaches it until one fails, and must fare the same today and tomorrow.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

# A failure is not shrunk: that there is one is all that counts.
settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("mutation")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of many examples last."""
    items.sort(key=lambda item: bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False)))
