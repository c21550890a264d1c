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
