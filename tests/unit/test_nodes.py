"""status.nodes: the pods that a Takara's own Deployment made, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.desired import label_value
from takara_sync.objects import Key, Pod, PodItem
from takara_sync.status import nodes_of
from tests.unit.build import Json, decoded, pod, pod_json, takara

ONE = Key("ns", "one")


def changed(path: str, value: Any) -> Pod:
    """A pod of Takara one with one thing different, `owner.kind` or `labels.takara_cr`, say."""
    found = pod_json("one", "p")
    part, name = path.split(".")
    where: Json = found["metadata"]["ownerReferences"][0] if part == "owner" else found["metadata"][part]
    where[name] = value
    return decoded(PodItem, found).pod()


def test_each_takara_gets_its_own_sorted_and_unique() -> None:
    pods = [pod("one", "b"), pod("two", "c"), pod("one", "a", "77"), pod("one", "b")]
    assert nodes_of(pods, [takara(), takara("two"), takara("three")]) == {ONE: ["a", "b"], Key("ns", "two"): ["c"]}


@pytest.mark.parametrize(
    "stray",
    [
        changed("owner.kind", "StatefulSet"),
        changed("owner.apiVersion", "batch/v1"),
        changed("owner.controller", False),
        changed("owner.name", "one"),
        changed("owner.name", "another-5d9c7"),
        changed("owner.name", "one-5d9c8"),
        changed("labels.pod-template-hash", "other"),
        changed("labels.takara_cr", "two"),
        pod("one", "p", namespace="other"),
        pod("one", "p", ownerReferences=None),
        pod("one", "p", labels=None),
        pod("one", "p", labels={"takara_cr": "one"}),
        pod("one", "p", deletionTimestamp="2026-01-01T00:00:00Z"),
    ],
)
def test_a_stray_is_not_counted(stray: Pod) -> None:
    assert nodes_of([stray, pod("one", "mine")], [takara(), takara("two")]) == {ONE: ["mine"]}


@pytest.mark.parametrize("length", [63, 64, 243, 246, 247, 250, 253])
@pytest.mark.parametrize("template_hash", ["5d9c7", "6f7c9b8d5c"])
def test_a_long_name_is_cut_as_the_deployment_controller_cuts_it(length: int, template_hash: str) -> None:
    name = "n" * (length - 3) + ".zz"
    cut = name[: 252 - len(template_hash)]
    assert len(f"{cut}-{template_hash}") <= 253
    made = pod_json(name, "p", template_hash)
    made["metadata"]["labels"]["takara_cr"] = label_value(name)
    made["metadata"]["ownerReferences"][0]["name"] = f"{cut}-{template_hash}"
    assert nodes_of([decoded(PodItem, made).pod()], [takara(name)]) == {Key("ns", name): ["p"]}
    made["metadata"]["ownerReferences"][0]["name"] = f"{cut[:-1]}-{template_hash}"
    assert nodes_of([decoded(PodItem, made).pod()], [takara(name)]) == {}


def test_at_most_a_thousand_are_named_the_first_ones() -> None:
    names = [f"p{number:04}" for number in range(1001)]
    found = nodes_of([pod("one", name) for name in reversed(names)], [takara()])
    assert found == {ONE: names[:1000]}
