"""What an apply removes, who is named for it, and what an object that nobody holds amounts to."""

from __future__ import annotations

import pytest

from takara_sync.diff import (
    Change,
    before_first_apply,
    changes,
    removals,
)
from tests.unit.build import (
    CONTAINER,
    LONG,
    Json,
    entries,
    entries_json,
    entry,
    manifest,
    own_entry,
    tree_of,
    with_containers,
)

ITEM = 'k:{"name":"takara"}'


def applied(*containers: Json) -> Json:
    """The entry of ours after these containers were applied."""
    return entry("takara-sync", tree_of(with_containers(*containers)), "Apply")


SIDECAR = {"name": "sidecar", "image": "x"}


BOTH = with_containers(CONTAINER, SIDECAR)
ALONE = with_containers(CONTAINER)
GONE = "spec.template.spec.containers[sidecar]"
THEIRS = entry("kubectl", tree_of(with_containers(SIDECAR)))
OPERATORS = entry("takara-operator", tree_of(with_containers(SIDECAR)), time=LONG)


def with_field(field: str) -> tuple[Json, list[Json], list[Json]]:
    """The container has one more field, which we had applied."""
    return with_containers(CONTAINER | {field: "x"}), [applied(CONTAINER | {field: "x"})], []


# The live object, its managedFields, those of before a take-over, and what an apply of one container removes.
REMOVALS: dict[str, tuple[tuple[Json, list[Json], list[Json]], tuple[Change, ...]]] = {
    "what we alone hold": ((BOTH, [applied(CONTAINER, SIDECAR)], []), (Change(GONE, SIDECAR, None),)),
    "who had asked for it is named": (
        (BOTH, [applied(CONTAINER, SIDECAR)], [OPERATORS]),
        (Change(GONE, SIDECAR, None, "takara-operator", LONG),),
    ),
    "others hold it too": ((BOTH, [applied(CONTAINER, SIDECAR), THEIRS], []), ()),
    "we do not hold it": ((BOTH, [applied(CONTAINER)], []), ()),
    "it is gone already": ((ALONE, [applied(CONTAINER, SIDECAR)], []), ()),
    "a field of an item that stays": (
        with_field("workingDir"),
        (Change("spec.template.spec.containers[takara].workingDir", "x", None),),
    ),
    "imagePullPolicy, which the server fills in again": (with_field("imagePullPolicy"), ()),
    "terminationMessagePath": (with_field("terminationMessagePath"), ()),
    "terminationMessagePolicy": (with_field("terminationMessagePolicy"), ()),
}


@pytest.mark.parametrize("case", REMOVALS)
def test_what_an_apply_removes(case: str) -> None:
    (live, said, before), expected = REMOVALS[case]
    assert removals(ALONE, live, entries(*said), entries(*before)) == expected


def test_what_is_asked_for_stays() -> None:
    assert removals(manifest(), manifest(), entries(own_entry())) == ()


def test_a_key_that_the_server_fills_in_is_no_removal() -> None:
    wanted = with_containers(CONTAINER | {"ports": [{"containerPort": 80}]})
    port = {"containerPort": 80, "protocol": "TCP"}
    tree: Json = tree_of(with_containers(CONTAINER))
    item = tree["f:spec"]["f:template"]["f:spec"]["f:containers"][ITEM]
    item["f:ports"] = {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    live = with_containers(CONTAINER | {"ports": [port]})
    assert removals(wanted, live, entries(entry("takara-sync", tree, "Apply"))) == ()
    assert changes(wanted, live, []) == ()


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
