"""The write of a status: a JSON patch that holds only for what was read, and is empty once it was applied."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.objects import Applied, Deployment, Takara, TakenBy
from takara_sync.reasons import Reason, Verdict
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
from tests.unit.patching import PatchTestFailed, patched

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


@pytest.mark.parametrize(("told", "wanted"), [(1, True), (0, False), (None, []), ([], None), ("1", 1)])
def test_values_that_python_may_confuse_differ(told: Any, wanted: Any) -> None:
    assert patch_for(takara(status={"key": told}), {"key": wanted}) == [*GUARDS, add("key", wanted)]


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
    assert patched(absent, patch)["status"] == {"replicas": 3}


@pytest.mark.parametrize("moved", [{"uid": "another"}, {"generation": 2}, {"resourceVersion": "2"}])
def test_the_patch_holds_for_this_very_object_only(moved: Json) -> None:
    patch = patch_for(takara(), {"replicas": 3})
    assert patched(takara_json(), patch)["status"] == {"replicas": 3}
    with pytest.raises(PatchTestFailed):
        patched(takara_json(**moved), patch)


# ------------------------------------------------------------------ a second computation is empty

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "True", "Ready", "a\nb", LONG]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "status", "x"]), inner),
    max_leaves=6,
)
CONDITION = st.builds(
    condition,
    st.sampled_from(["Ready", "Stalled", "Mine"]),
    st.sampled_from(["True", "False"]),
    st.sampled_from(["Ready", "ReplicasContested"]),
)
STATUS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "observedGeneration": JSON,
        "nodes": JSON,
        "replicas": st.integers(0, 3),
        "selector": JSON,
        "conditions": JSON | st.lists(CONDITION | JSON, max_size=4),
        "deployment": JSON,
        "more": JSON,
    },
)
LIVE = st.none() | st.builds(
    lambda size, available: deployment(replicas=size, status=complete(3) | {"availableReplicas": available}),
    st.integers(0, 3),
    st.integers(0, 3),
)
VERDICT = st.none() | st.builds(Verdict, st.sampled_from(list(Reason)[1:]), st.text(max_size=5), st.booleans())
APPLIED = (
    st.none()
    | st.builds(Applied, st.just("u"), format=st.integers(0, 2))
    | st.just(Applied("u", replicas_taken_by=TakenBy("hpa", LONG, 1)))
)


@given(STATUS, LIVE, st.lists(st.sampled_from("abc"), unique=True), VERDICT, APPLIED)
def test_a_status_is_written_once(
    status: Any, live: Deployment | None, nodes: list[str], verdict: Verdict | None, applied: Applied | None
) -> None:
    before = takara_json(status=status)
    one = decoded(Takara, before)
    patch = patch_for(one, status_for(one, live, nodes, NOW, verdict=verdict, applied=applied))
    after = decoded(Takara, patched(before, patch))
    later = NOW + timedelta(hours=1)
    again = status_for(after, live, nodes, later, verdict=verdict, applied=applied)
    assert patch_for(after, again) == []
    assert after.status == ({} if not isinstance(status, dict) else status) | again
    assert [c["type"] for c in again["conditions"]][:2] == ["Ready", "Stalled"]
