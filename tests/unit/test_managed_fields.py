"""Field ownership: fieldsV1 trees, who holds a field, and handing over what the Go operator wrote."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.managed_fields import (
    LEGACY_MANAGERS,
    Owned,
    holders,
    own_fields,
    owned_by_us,
    split,
    take_over,
    union,
)
from tests.unit.build import (
    LONG,
    REPLICAS,
    UNHURRIED,
    Json,
    entries,
    entries_json,
    entry,
    own_entry,
)

IMAGE_OF_TAKARA = ("spec", "template", "spec", "containers", (("name", "takara"),), "image")
ITEM = 'k:{"name":"takara"}'


def image_tree(item: str = ITEM) -> Json:
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {item: {".": {}, "f:image": {}}}}}}}


# ------------------------------------------------------------------ our own entry


def test_own_fields_are_those_we_applied() -> None:
    others = [
        entry("takara-sync", {"f:a": {}}, "Update"),
        entry("takara-sync", {"f:b": {}}, "Apply", subresource="scale"),
        entry("kubectl", {"f:c": {}}, "Apply"),
    ]
    assert own_fields(entries(*others)) == {}
    assert own_fields(entries(*others, own_entry())) == own_entry()["fieldsV1"]


def test_our_time_is_that_of_our_apply_and_empty_where_there_is_none() -> None:
    others = [entry("takara-sync", {}, "Update", time="2026-01-02T00:00:00Z"), entry("kubectl", {}, "Apply", time=LONG)]
    assert owned_by_us(entries(*others)).time == ""
    assert owned_by_us(entries(*others, own_entry())).time == LONG
    assert owned_by_us(entries(*others, own_entry() | {"time": None})).time == ""


@pytest.mark.parametrize("fields", [None, [], "text", 5])
def test_a_tree_that_is_no_object_is_empty(fields: Any) -> None:
    assert own_fields(entries(entry("takara-sync", fields, "Apply"))) == {}


def test_what_we_own_is_the_replicas_and_the_rest() -> None:
    tree = own_entry()["fieldsV1"]
    assert owned_by_us(entries(own_entry())).others == split(tree, REPLICAS)[1]
    assert owned_by_us(entries(own_entry())).replicas
    assert not owned_by_us(entries(own_entry() | {"fieldsV1": split(tree, REPLICAS)[1]})).replicas
    assert owned_by_us([]) == Owned()


@pytest.mark.parametrize("fields", [None, {"f:spec": "text"}, {"f:spec": {"f:replicas": {}}, "f:metadata": 5}])
def test_what_we_own_can_be_any_json(fields: Any) -> None:
    found = owned_by_us(entries(entry("takara-sync", fields, "Apply", time=LONG)))
    assert (found.time, found.replicas) == (LONG, isinstance(fields, dict) and "f:metadata" in fields)


# ------------------------------------------------------------------ split and union


def trees(depth: int = 3) -> st.SearchStrategy[Json]:
    names = st.sampled_from(["f:a", "f:b", "f:c"])
    return st.recursive(
        st.just({}), lambda sub: st.dictionaries(names, sub, min_size=1, max_size=3), max_leaves=4 * depth
    )


def leaf_paths(tree: Json, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    return {path} if not tree else {p for name, sub in tree.items() for p in leaf_paths(sub, (*path, name))}


@UNHURRIED
@given(trees(), trees())
def test_union_undoes_split(tree: Json, mask: Json) -> None:
    assert union(*split(tree, mask)) == tree


@UNHURRIED
@given(trees(), trees())
def test_split_takes_exactly_what_the_mask_covers(tree: Json, mask: Json) -> None:
    inside, outside = split(tree, mask)
    covered = {p for p in leaf_paths(tree) if any(p[: len(m)] == m for m in leaf_paths(mask) if m)}
    assert leaf_paths(inside) - {()} == covered
    assert leaf_paths(outside) - {()} == leaf_paths(tree) - covered - {()}


def test_a_map_goes_with_the_last_of_what_is_in_it() -> None:
    mask: Json = {"f:labels": {"f:app": {}}}
    alone: Json = {"f:labels": {".": {}, "f:app": {}}}
    assert split(alone, mask) == (alone, {})
    shared: Json = {"f:labels": {".": {}, "f:app": {}, "f:theirs": {}}}
    assert split(shared, mask) == (mask, {"f:labels": {".": {}, "f:theirs": {}}})


# ------------------------------------------------------------------ holders


def test_the_latest_holder_comes_first_and_no_time_is_the_latest() -> None:
    some = [entry(name, REPLICAS, time=f"2026-01-0{day}T00:00:00Z") for name, day in (("b", 1), ("a", 3), ("c", 2))]
    timeless = [entry(name, REPLICAS, subresource="scale") for name in ("hpa", "keda")]
    found = holders(entries(*timeless, *some), ("spec", "replicas"))
    assert [holder.manager for holder in found] == ["keda", "hpa", "a", "c", "b"]


def test_we_are_no_holder_but_our_updates_are() -> None:
    ours = entry("takara-sync", REPLICAS, "Apply")
    theirs = entry("takara-sync", REPLICAS, "Update")
    assert [holder.operation for holder in holders(entries(ours, theirs), ("spec", "replicas"))] == ["Update"]


@pytest.mark.parametrize(
    ("tree", "held"),
    [
        (image_tree(), True),
        (image_tree('k:{"name":"takara","extra":1}'), True),
        (image_tree('k:{"name":"sidecar"}'), False),
        (image_tree("k:no json"), False),
        (image_tree("k:5"), False),
        (image_tree('v:{"name":"takara"}'), False),
        ({"f:spec": {"f:template": {}}}, True),
        (REPLICAS, False),
        ({}, False),
    ],
)
def test_holders_of_a_field_in_a_keyed_item(tree: Json, *, held: bool) -> None:
    assert bool(holders(entries(entry("kubectl", tree)), IMAGE_OF_TAKARA)) is held


CONTAINERS: Json = {'k:{"name":"takara"}': {".": {}, "f:image": {}, "f:name": {}, "f:terminationMessagePath": {}}}
WRITTEN: Json = {
    "f:metadata": {
        "f:labels": {"f:app": {}, "f:takara_cr": {}},
        "f:ownerReferences": {".": {}, 'k:{"uid":"uid-of-one"}': {}},
    },
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:metadata": {"f:labels": {"f:app": {}, "f:takara_cr": {}}},
            "f:spec": {"f:containers": CONTAINERS},
        },
    },
}
RESTARTED: Json = {".": {}, "f:kubectl.kubernetes.io/restartedAt": {}}
REST: Json = {
    "f:metadata": {"f:annotations": {"f:note": {}}, "f:labels": {"f:theirs": {}}},
    "f:spec": {
        "f:progressDeadlineSeconds": {},
        "f:strategy": {"f:type": {}},
        "f:template": {
            "f:metadata": {"f:annotations": RESTARTED, "f:labels": {"f:theirs": {}}},
            "f:spec": {"f:dnsPolicy": {}, "f:initContainers": {}},
        },
    },
}


def both(one: Json, other: Json) -> Json:
    """Both trees in one, by a way of our own."""
    shared = {name: both(one[name], other[name]) for name in one.keys() & other.keys()}
    return {**one, **other, **shared}


def taken(*some: Json, legacy: tuple[str, ...] = LEGACY_MANAGERS) -> list[Json] | None:
    found = take_over(entries(*some), legacy)
    return None if found is None else entries_json(found)


def ours(tree: Json, **more: Any) -> Json:
    return entry("takara-sync", tree, "Apply", **more)


WHOLE = both(WRITTEN, REST)
MINE: Json = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"new"}': {}}}}}}
OTHERS = [
    entry("hpa", REPLICAS, subresource="scale"),
    entry("kubectl", WHOLE, "Apply", time=LONG),
    entry("takara-operator", WRITTEN, "Apply"),
]
OURS_OF_THEN = ours(WRITTEN, time=LONG)
TAKE_OVERS: dict[str, tuple[list[Json], list[Json] | None]] = {
    "exactly what the Go operator wrote": (
        [entry("takara-operator", WHOLE, time=LONG)],
        [OURS_OF_THEN, entry("takara-operator", REST, time=LONG)],
    ),
    "of nobody": (
        [entry("before-first-apply", WHOLE, time=LONG)],
        [OURS_OF_THEN, entry("before-first-apply", REST, time=LONG)],
    ),
    "our own updates": (
        [entry("takara-sync", WHOLE, time=LONG)],
        [OURS_OF_THEN, entry("takara-sync", REST, time=LONG)],
    ),
    "it joins what we hold": (
        [ours(MINE, time=LONG), entry("takara-operator", WRITTEN, time="2026-02-02T00:00:00Z")],
        [ours(both(MINE, WRITTEN), time=LONG)],
    ),
    "several legacy entries": (
        [entry("takara-operator", REPLICAS), entry("before-first-apply", WHOLE)],
        [ours(WRITTEN), entry("before-first-apply", REST)],
    ),
    "others stay word for word": ([entry("takara-operator", WRITTEN), *OTHERS], [OURS_OF_THEN, *OTHERS]),
    "nobody": ([], None),
    "ours": ([own_entry()], None),
    "a stranger": ([entry("kubectl", WRITTEN)], None),
    "only the rest": ([entry("takara-operator", REST)], None),
    "scale": ([entry("takara-operator", REPLICAS, subresource="scale")], None),
    "status": ([entry("takara-sync", WRITTEN, subresource="status")], None),
    "applied": ([entry("takara-operator", WRITTEN, "Apply")], None),
    "empty": ([entry("before-first-apply", {})], None),
    "not of the policy": ([entry("older", WRITTEN)], None),
}


@pytest.mark.parametrize("case", TAKE_OVERS)
def test_what_is_taken_over(case: str) -> None:
    before, after = TAKE_OVERS[case]
    assert taken(*before) == after


def test_the_policy_says_who_is_legacy() -> None:
    assert taken(entry("older", WRITTEN), legacy=("older",)) == [ours(WRITTEN)]
    assert taken(entry("takara-operator", WRITTEN), legacy=("older",)) is None


def test_what_is_not_taken_from_is_not_even_written_anew() -> None:
    operators, theirs = entries(entry("takara-operator", WRITTEN), entry("kubectl", {"f:b": {}, "f:a": {}}))
    found = take_over([operators, theirs], LEGACY_MANAGERS)
    assert found is not None
    assert found[1] is theirs


def test_a_second_take_over_finds_nothing() -> None:
    after = taken(entry("takara-operator", both(WRITTEN, REST)), entry("hpa", REPLICAS, subresource="scale"))
    assert after is not None
    assert taken(*after) is None
