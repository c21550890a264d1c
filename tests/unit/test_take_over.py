"""Handing the Go operator's fields over: exactly what it wrote moves to us, the rest stays where it is."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.managed_fields import take_over
from takara_sync.plan import LEGACY_MANAGERS
from tests.unit.build import LONG, REPLICAS, Json, entries, entries_json, entry, own_entry

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


@pytest.mark.parametrize("manager", ["takara-operator", "before-first-apply", "takara-sync"])
def test_exactly_what_the_go_operator_wrote_moves(manager: str) -> None:
    old = entry(manager, both(WRITTEN, REST), time=LONG)
    assert taken(old) == [ours(WRITTEN, time=LONG), entry(manager, REST, time=LONG)]


def test_what_moves_joins_what_we_hold() -> None:
    mine: Json = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"new"}': {}}}}}}
    found = taken(ours(mine, time=LONG), entry("takara-operator", WRITTEN, time="2026-02-02T00:00:00Z"))
    assert found == [ours(both(mine, WRITTEN), time=LONG)]


def test_several_legacy_entries_are_all_taken_over() -> None:
    found = taken(entry("takara-operator", REPLICAS), entry("before-first-apply", both(WRITTEN, REST)))
    assert found == [ours(WRITTEN), entry("before-first-apply", REST)]


def test_other_managers_stay_word_for_word() -> None:
    others = [
        entry("hpa", REPLICAS, subresource="scale"),
        entry("kubectl", both(WRITTEN, REST), "Apply", time=LONG),
        entry("takara-operator", WRITTEN, "Apply"),
    ]
    assert taken(entry("takara-operator", WRITTEN), *others) == [ours(WRITTEN, time=LONG), *others]


def test_what_is_not_taken_from_is_not_even_written_anew() -> None:
    operators, theirs = entries(entry("takara-operator", WRITTEN), entry("kubectl", {"f:b": {}, "f:a": {}}))
    found = take_over([operators, theirs], LEGACY_MANAGERS)
    assert found is not None
    assert found[1] is theirs


@pytest.mark.parametrize(
    "none_held",
    [
        [],
        [own_entry()],
        [entry("kubectl", WRITTEN)],
        [entry("takara-operator", REST)],
        [entry("takara-operator", REPLICAS, subresource="scale")],
        [entry("takara-sync", WRITTEN, subresource="status")],
        [entry("takara-operator", WRITTEN, "Apply")],
        [entry("before-first-apply", {})],
    ],
    ids=["nobody", "ours", "a stranger", "only the rest", "scale", "status", "applied", "empty"],
)
def test_nothing_is_taken_over_where_none_is_held(none_held: list[Json]) -> None:
    assert taken(*none_held) is None


def test_only_the_managers_of_the_policy_are_legacy() -> None:
    assert taken(entry("older", WRITTEN)) is None
    assert taken(entry("older", WRITTEN), legacy=("older",)) == [ours(WRITTEN)]
    assert taken(entry("takara-operator", WRITTEN), legacy=("older",)) is None


def test_a_second_take_over_finds_nothing() -> None:
    after = taken(entry("takara-operator", both(WRITTEN, REST)), entry("hpa", REPLICAS, subresource="scale"))
    assert after is not None
    assert taken(*after) is None
