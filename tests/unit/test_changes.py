"""What an apply changes and takes away, and who is named for it."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.changes import Change, before_first_apply, changes, dotted, leaves, removals, value_at
from tests.unit.build import CONTAINER, LONG, REPLICAS, Json, body, entries, entries_json, entry, own_entry, tree_of

IMAGE_OF_TAKARA = ("spec", "template", "spec", "containers", (("name", "takara"),), "image")
ITEM = 'k:{"name":"takara"}'


def image_tree(item: str = ITEM) -> Json:
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {item: {".": {}, "f:image": {}}}}}}}


# ------------------------------------------------------------------ changes


def with_containers(*containers: Json) -> Json:
    return {"spec": {"template": {"spec": {"containers": list(containers)}}}}


def test_nothing_changes_where_the_live_object_only_holds_more() -> None:
    live = with_containers({"name": "sidecar", "image": "x"}, CONTAINER | {"imagePullPolicy": "Always"})
    assert changes(with_containers(CONTAINER), live | {"status": {}}, []) == ()


def test_changes_are_sorted_and_name_the_latest_holder() -> None:
    live = with_containers(CONTAINER | {"image": "nginx"})
    live["spec"]["replicas"] = 7
    wanted = with_containers(CONTAINER) | {"metadata": {"labels": {"app": "takara"}}}
    wanted["spec"]["replicas"] = 3
    said = entries(
        entry("kubectl-set", image_tree(), time="2026-01-01T00:00:00Z"), entry("hpa", REPLICAS, subresource="scale")
    )
    assert changes(wanted, live, said) == (
        Change("metadata.labels.app", None, "takara"),
        Change("spec.replicas", 7, 3, "hpa", "", "scale"),
        Change(
            "spec.template.spec.containers[takara].image", "nginx", "busybox", "kubectl-set", "2026-01-01T00:00:00Z"
        ),
    )


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), (1, "1"), (None, 0), ([1], [1, 2])])
def test_values_that_python_may_confuse_are_changes(old: Any, new: Any) -> None:
    assert changes({"spec": {"a": new}}, {"spec": {"a": old}}, []) == (Change("spec.a", old, new),)


def test_a_list_of_plain_values_is_one_field() -> None:
    live = with_containers(CONTAINER | {"command": ["sleep", "1"]})
    (change,) = changes(with_containers(CONTAINER), live, [])
    assert (change.old, change.new) == (["sleep", "1"], ["sleep", "3600"])


def test_two_mounts_of_one_volume_are_told_apart() -> None:
    mounts = [{"name": "data", "mountPath": "/a"}, {"name": "data", "mountPath": "/b"}]
    one = with_containers(CONTAINER | {"volumeMounts": mounts})
    assert changes(one, one, []) == ()


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
    one = body()
    assert all(value_at(one, path) == value for path, value in leaves(one))
    assert dotted(IMAGE_OF_TAKARA) == "spec.template.spec.containers[takara].image"


def test_nothing_asked_for_changes_nothing() -> None:
    assert changes({}, {}, []) == ()


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


# ------------------------------------------------------------------ removals


def applied(*containers: Json) -> Json:
    """The entry of ours after these containers were applied."""
    return entry("takara-sync", tree_of(with_containers(*containers)), "Apply")


SIDECAR = {"name": "sidecar", "image": "x"}


def test_what_we_alone_hold_and_no_longer_ask_for_goes() -> None:
    live = with_containers(CONTAINER, SIDECAR)
    assert removals(with_containers(CONTAINER), live, entries(applied(CONTAINER, SIDECAR))) == (
        Change("spec.template.spec.containers[sidecar]", SIDECAR, None),
    )


def test_a_field_goes_from_an_item_that_stays() -> None:
    live = with_containers(CONTAINER | {"workingDir": "/srv"})
    said = entries(applied(CONTAINER | {"workingDir": "/srv"}))
    assert removals(with_containers(CONTAINER), live, said) == (
        Change("spec.template.spec.containers[takara].workingDir", "/srv", None),
    )


def test_who_had_asked_for_what_goes_is_named_from_before_the_take_over() -> None:
    live = with_containers(CONTAINER, SIDECAR)
    before = entries(entry("takara-operator", tree_of(with_containers(SIDECAR)), time=LONG))
    assert removals(with_containers(CONTAINER), live, entries(applied(CONTAINER, SIDECAR)), before) == (
        Change("spec.template.spec.containers[sidecar]", SIDECAR, None, "takara-operator", LONG),
    )


def test_what_others_hold_too_stays() -> None:
    live = with_containers(CONTAINER, SIDECAR)
    theirs = entry("kubectl", tree_of(with_containers(SIDECAR)))
    assert removals(with_containers(CONTAINER), live, entries(applied(CONTAINER, SIDECAR), theirs)) == ()
    assert removals(with_containers(CONTAINER), live, entries(applied(CONTAINER))) == ()


def test_what_is_gone_already_or_asked_for_does_not_go() -> None:
    one = with_containers(CONTAINER)
    assert removals(one, one, entries(applied(CONTAINER, SIDECAR))) == ()
    assert removals(body(), body(), entries(own_entry())) == ()


def test_a_key_that_the_server_fills_in_is_no_removal() -> None:
    wanted = with_containers(CONTAINER | {"ports": [{"containerPort": 80}]})
    port = {"containerPort": 80, "protocol": "TCP"}
    tree: Json = tree_of(with_containers(CONTAINER))
    item = tree["f:spec"]["f:template"]["f:spec"]["f:containers"][ITEM]
    item["f:ports"] = {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    live = with_containers(CONTAINER | {"ports": [port]})
    assert removals(wanted, live, entries(entry("takara-sync", tree, "Apply"))) == ()
    assert changes(wanted, live, []) == ()


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("imagePullPolicy", False),
        ("terminationMessagePath", False),
        ("terminationMessagePolicy", False),
        ("workingDir", True),
    ],
)
def test_what_the_server_fills_in_again_does_not_go(field: str, *, told: bool) -> None:
    live = with_containers(CONTAINER | {field: "x"})
    assert bool(removals(with_containers(CONTAINER), live, entries(applied(CONTAINER | {field: "x"})))) is told


def test_the_last_annotation_of_ours_goes_though_others_have_some() -> None:
    live = {"metadata": {"annotations": {"ours": "x", "theirs": "y"}}, "spec": {}}
    said = [
        entry("takara-sync", {"f:metadata": {"f:annotations": {"f:ours": {}}}}, "Apply"),
        entry("kubectl", {"f:metadata": {"f:annotations": {"f:theirs": {}}}}),
    ]
    wanted: Json = {"metadata": {}, "spec": {}}
    assert removals(wanted, live, entries(*said)) == (Change("metadata.annotations.ours", "x", None),)


# ------------------------------------------------------------------ objects that nobody holds


def test_an_object_without_managed_fields_is_held_whole_before_its_first_apply() -> None:
    port = {"containerPort": 80, "protocol": "TCP", "name": "web"}
    live = with_containers(CONTAINER | {"ports": [port]}) | {"metadata": {"labels": {"app": "x"}, "annotations": None}}
    keyed: Json = {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}} | tree_of(port)}
    item: Json = {".": {}} | tree_of(CONTAINER) | {"f:ports": keyed}
    tree: Json = {
        "f:metadata": {"f:labels": {"f:app": {}}},
        "f:spec": {"f:template": {"f:spec": {"f:containers": {ITEM: item}}}},
    }
    assert entries_json([before_first_apply(live)]) == [entry("before-first-apply", tree)]


def test_an_item_that_lacks_a_key_is_named_by_those_it_has() -> None:
    """The server fills in a port's protocol only once it stores it."""
    tree = before_first_apply({"ports": [{"containerPort": 80}]}).fields
    assert tree == {"f:ports": {'k:{"containerPort":80}': {".": {}, "f:containerPort": {}}}}
