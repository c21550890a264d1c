"""A selector that is none, or that nothing can match, is a mistake before any server is asked."""

from __future__ import annotations

import pytest

from takara_sync.cli.selectors import checked
from takara_sync.errors import ConfigurationError
from tests.support.command import loaded

GOOD = [
    "a=b", "a==b", "a=", "a != b", "a!=b", "a", "!a", "a in (b, c)", "a notin (b)", "team in (x,y),env=prod,!old",
    "example.org/team=blue", "a=b,a!=c", "a=b,a in (b,c)", "a=b,a=b", "app.kubernetes.io/name=x,tier",
]  # fmt: skip
BAD = [
    "a=b,a=c",
    "a,!a",
    "a=b,!a",
    "a=b=c",
    "a in b",
    "a in (b",
    "a b",
    "=b",
    ",",
    "a,,b",
    "a=b,",
    "-a=b",
    "A B=c",
    "/a=b",
]


@pytest.mark.parametrize("selector", GOOD)
def test_a_selector_is_taken_as_it_is(selector: str) -> None:
    assert checked(selector) == selector


@pytest.mark.parametrize("selector", BAD)
def test_a_mistake_is_named_with_its_source(selector: str) -> None:
    with pytest.raises(ConfigurationError, match="--selector"):
        loaded(["once", f"--selector={selector}"])
    with pytest.raises(ConfigurationError, match="TAKARA_SYNC_SELECTOR"):
        loaded(["once"], {"TAKARA_SYNC_SELECTOR": selector})
