"""The write of a status: a JSON patch that holds only for what was read, and is empty once it was applied."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from takara_sync.objects import Applied, Takara, TakenBy
from takara_sync.simulator.patches import json_patch
from takara_sync.simulator.wire import Refusal
from takara_sync.status import patch_for, status_for
from tests.unit.build import (
    LONG,
    NOW,
    Json,
    complete,
    condition,
    decoded,
    deployment,
    takara,
    takara_json,
)

GUARDS = [
    {"op": "test", "path": "/metadata/uid", "value": "uid-of-one"},
    {"op": "test", "path": "/metadata/generation", "value": 1},
    {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
]


def add(key: str, value: Any) -> Json:
    return {"op": "add", "path": f"/status/{key}", "value": value}


def test_only_what_differs_is_written() -> None:
    one = takara(status={"replicas": 3, "nodes": None, "selector": "x"})
    assert patch_for(one, {"replicas": 3, "nodes": [], "selector": "y"}) == [
        *GUARDS,
        add("nodes", []),
        add("selector", "y"),
    ]


def test_nothing_is_written_where_nothing_differs() -> None:
    one = takara(status={"deployment": {"uid": "u", "format": 1}, "more": 1})
    assert patch_for(one, {"deployment": {"format": 1, "uid": "u"}}) == []


@pytest.mark.parametrize(("recorded", "wanted"), [(1, True), (0, False), (None, []), ([], None), ("1", 1)])
def test_values_that_python_may_confuse_differ(recorded: Any, wanted: Any) -> None:
    assert patch_for(takara(status={"key": recorded}), {"key": wanted}) == [*GUARDS, add("key", wanted)]


@pytest.mark.parametrize("status", [None, "text", [], 5, False])
def test_a_status_that_is_no_object_is_made_one(status: Any) -> None:
    assert patch_for(takara(status=status), {"replicas": 3}) == [
        *GUARDS,
        *([{"op": "test", "path": "/status", "value": None}] if status is None else []),
        {"op": "add", "path": "/status", "value": {}},
        add("replicas", 3),
    ]


def test_an_absent_status_is_made_too() -> None:
    absent = takara_json()
    del absent["status"]
    patch = patch_for(decoded(Takara, absent), {"replicas": 3})
    assert json_patch(absent, patch)["status"] == {"replicas": 3}


@pytest.mark.parametrize("moved", [{"uid": "another"}, {"generation": 2}, {"resourceVersion": "2"}])
def test_the_patch_holds_for_this_very_object_only(moved: Json) -> None:
    patch = patch_for(takara(), {"replicas": 3})
    assert json_patch(takara_json(), patch)["status"] == {"replicas": 3}
    with pytest.raises(Refusal):
        json_patch(takara_json(**moved), patch)


@pytest.mark.parametrize(
    "status",
    [
        *(None, "text", {}, {"conditions": 5, "nodes": None, "deployment": "x", "more": 1}),
        {"conditions": [5, condition("Mine", "True", "Because"), condition("Ready", "True", "Ready")]},
    ],
)
def test_a_status_is_written_once(status: Any) -> None:
    before = takara_json(status=status)
    applied = Applied("u", replicas_taken_by=TakenBy("hpa", LONG, 2))
    one = decoded(Takara, before)
    patch = patch_for(one, status_for(one, deployment(status=complete(3)), ["a"], NOW, applied=applied))
    after = decoded(Takara, json_patch(before, patch))
    again = status_for(after, deployment(status=complete(3)), ["a"], NOW + timedelta(hours=1), applied=applied)
    assert patch_for(after, again) == []
    assert after.recorded_status == (status if isinstance(status, dict) else {}) | again
