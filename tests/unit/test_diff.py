"""What an apply changes, what came back from it, and who is named for it."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.diff import (
    Change,
    changed_on_admission,
    changes,
    dotted,
    leaves,
    made_changes,
    same_value,
    value_at,
)
from tests.unit.build import (
    CONTAINER,
    REPLICAS,
    Json,
    entries,
    entry,
    manifest,
    with_containers,
)

IMAGE_OF_TAKARA = ("spec", "template", "spec", "containers", (("name", "takara"),), "image")
ITEM = 'k:{"name":"takara"}'


def image_tree(item: str = ITEM) -> Json:
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {item: {".": {}, "f:image": {}}}}}}}


# ------------------------------------------------------------------ changes


MORE = with_containers({"name": "sidecar", "image": "x"}, CONTAINER | {"imagePullPolicy": "Always"}) | {"status": {}}
MOUNTS = [{"name": "data", "mountPath": "/a"}, {"name": "data", "mountPath": "/b"}]
MOUNTED = with_containers(CONTAINER | {"volumeMounts": MOUNTS})


@pytest.mark.parametrize(
    ("wanted", "live"),
    [(with_containers(CONTAINER), MORE), (MOUNTED, MOUNTED), ({}, {})],
    ids=["the live object only holds more", "two mounts of one volume", "nothing is asked for"],
)
def test_nothing_changes(wanted: Json, live: Json) -> None:
    assert changes(wanted, live, []) == ()


def test_changes_are_sorted_and_name_the_latest_holder() -> None:
    """`before-first-apply` is nobody."""
    live = with_containers(CONTAINER | {"image": "nginx"})
    live["spec"]["replicas"] = 7
    wanted = with_containers(CONTAINER) | {"metadata": {"labels": {"app": "takara"}}}
    wanted["spec"]["replicas"] = 3
    said = entries(
        entry("kubectl-set", image_tree(), time="2026-01-01T00:00:00Z"),
        entry("before-first-apply", image_tree(), time="2026-01-02T00:00:00Z"),
        entry("hpa", REPLICAS, subresource="scale"),
    )
    assert changes(wanted, live, said) == (
        Change("metadata.labels.app", None, "takara"),
        Change("spec.replicas", 7, 3, "hpa", "", "scale"),
        Change(
            "spec.template.spec.containers[takara].image", "nginx", "busybox", "kubectl-set", "2026-01-01T00:00:00Z"
        ),
    )


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), (None, 1), ([1], [1, 2])])
def test_values_that_python_may_confuse_are_changes(old: Any, new: Any) -> None:
    assert changes({"spec": {"a": new}}, {"spec": {"a": old}}, []) == (Change("spec.a", old, new),)


def test_a_list_of_plain_values_is_one_field() -> None:
    live = with_containers(CONTAINER | {"command": ["sleep", "1"]})
    (change,) = changes(with_containers(CONTAINER), live, [])
    assert (change.old, change.new) == (["sleep", "1"], ["sleep", "3600"])


def test_a_named_port_is_found_in_managed_fields() -> None:
    port = {"name": "web", "containerPort": 80, "protocol": "TCP"}
    wanted = with_containers(CONTAINER | {"ports": [port]})
    live = with_containers(CONTAINER | {"ports": [port | {"name": "other"}]})
    tree: Json = {ITEM: {"f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:name": {}}}}}
    said = entries(entry("kubectl", {"f:spec": {"f:template": {"f:spec": {"f:containers": tree}}}}))
    assert changes(wanted, live, said) == (
        Change("spec.template.spec.containers[takara].ports[80,TCP].name", "other", "web", "kubectl"),
    )


@pytest.mark.parametrize("live", [None, 5, "text", [], {"containers": None}, {"containers": [5, None, {"name": 1}]}])
def test_a_live_value_of_another_shape_is_a_change(live: Any) -> None:
    assert [change.new for change in changes({"containers": [{"name": "a", "b": 1}]}, live, [])] == [1, "a"]


def test_leaves_and_values_belong_together() -> None:
    one = manifest()
    assert all(value_at(one, path) == value for path, value in leaves(one))
    assert dotted(IMAGE_OF_TAKARA) == "spec.template.spec.containers[takara].image"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("env", []),
        ("env", 5),
        ("env", ["A=b"]),
        ("env", [{"value": "b"}]),
        ("env", [{"name": "A", "value": "b"}, 5]),
        ("tolerations", [{"key": "a"}]),
    ],
    ids=["empty", "no list", "texts", "without its key", "one that is no object", "not told apart by a key"],
)
def test_a_list_whose_items_nothing_tells_apart_is_one_field(name: str, value: Any) -> None:
    assert list(leaves({name: value})) == [((name,), value)]


CPU = "spec.template.spec.containers[a].resources.limits.cpu"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.5", "500m", True),
        (1, "1", True),
        (1.5, "1500m", True),
        ("1Gi", "1024Mi", True),
        ("1G", "1Gi", False),
        ("1e3", "1k", True),
        ("1E3", "1k", True),
        ("2E", "2000P", True),
        ("1u", "1000n", True),
        (".5", "0.50", True),
        ("-1", "1", False),
        (True, 1, False),
        ("x", "y", False),
        ("x", "x", True),
        ([1], [1.0], False),
    ],
)
def test_quantities_are_compared_by_their_amount(one: Any, other: Any, *, same: bool) -> None:
    assert same_value(one, other, CPU) is same_value(other, one, CPU) is same


@pytest.mark.parametrize(
    ("field", "amount"),
    [
        (CPU, True),
        ("spec.template.spec.resources.requests.example.org/gpu", True),
        ("spec.template.spec.volumes[cache].emptyDir.sizeLimit", True),
        ("spec.template.spec.containers[a].env[MODE].value", False),
        ("metadata.annotations.sizeLimits", False),
        ("spec.replicas", False),
    ],
)
def test_only_quantities_are_compared_by_their_amount(field: str, *, amount: bool) -> None:
    """A variable of 0755 is another one than 755: that must be reported, and counts for --max-changes."""
    assert same_value("0755", "755", field) is amount


@pytest.mark.parametrize("empty", ["", 0, False, [], {}, None])
def test_the_server_omits_what_is_empty(empty: Any) -> None:
    assert same_value(empty, None, "spec.a")
    assert same_value(None, empty, "spec.a") is (empty is None)


# ------------------------------------------------------------------ what came back from an apply


@pytest.mark.parametrize(
    ("wanted", "live", "field"),
    [
        ({"a": 1, "b": 1}, {"a": 1, "b": 1}, ""),
        ({"a": 1, "b": 1}, {"a": 2, "b": 2}, "a"),
        ({"b": 1}, {"a": 2, "b": 1}, ""),
        ({"list": [{"x": 1}]}, {"list": [{"x": 1, "default": 2}]}, ""),
        ({"list": [{"x": {"y": 1}}]}, {"list": [{"x": {"y": 2}}]}, "list"),
        ({"list": [1, 2]}, {"list": [1]}, "list"),
        ({"list": [{"x": 1}]}, {"list": {"x": 1}}, "list"),
        ({"list": [{"x": 1}]}, {"list": 5}, "list"),
        ({"list": []}, {}, ""),
        ({"spec": {"replicas": 0}}, {"spec": {"replicas": 5}}, "spec.replicas"),
        ({"a": False}, {"a": True}, "a"),
        ({"a": ""}, {"a": "by default"}, ""),
        ({"a": 0}, {"a": 30}, ""),
        ({"e": [{"resources": {"limits": {"cpu": "0.5"}}}]}, {"e": [{"resources": {"limits": {"cpu": "500m"}}}]}, ""),
    ],
)
def test_the_first_field_that_came_back_changed(wanted: Json, live: Json, field: str) -> None:
    assert changed_on_admission(wanted, live) == field


@pytest.mark.parametrize(
    ("expected", "live", "made"),
    [
        (Change("a", 1, 2), {"a": 2}, [Change("a", 1, 2)]),
        (Change("a", 1, 2), {"a": 1}, []),
        (Change("a", 1, 2, "hpa"), {"a": 3}, [Change("a", 1, 3, "hpa")]),
        (Change("a", 1, None), {}, [Change("a", 1, None)]),
        (Change("a", 1, None), {"a": 1}, []),
        (Change("a", {"b": 1}, None), {"a": {"b": 1}}, []),
        (Change("ports[80]", {"b": 1}, None), {"ports": [{"containerPort": 80}]}, []),
        (Change("a", {"b": 1}, None), {"ab": {"c": 1}}, [Change("a", {"b": 1}, None)]),
        (Change("a", None, {}), {}, []),
    ],
)
def test_only_changes_that_were_made_are_reported_with_what_came_back(
    expected: Change, live: Json, made: list[Change]
) -> None:
    assert list(made_changes([expected], live)) == made
    assert list(made_changes([expected], live, exact=True)) == [each for each in made if each.new == expected.new]
