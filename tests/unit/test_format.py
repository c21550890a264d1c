"""The format of the manifest as an annotation of the Deployment."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync import Policy
from takara_sync.managed_fields import Owned
from takara_sync.objects import Deployment, Takara
from takara_sync.plan import Apply, Block, Create, decide
from takara_sync.record import FORMAT, config_hash, format_of, has_format, with_format
from tests.unit.build import NOW, decoded, deployment_json, entry, manifest, owner, takara, tree_of

ANNOTATION = "maho.takara.org/format"
NEWER = str(FORMAT + 1)


def deployment(annotations: Any, manager: str = "takara-sync", operation: str = "Apply") -> Deployment:
    """The Deployment of `one`, of size 3; a manager owns these annotations."""
    made = deployment_json()
    fields = entry(
        manager, tree_of({"metadata": {"annotations": annotations or {}}, "spec": {"replicas": 3}}), operation
    )
    made["metadata"] |= {"ownerReferences": [owner()], "annotations": annotations, "managedFields": [fields]}
    return decoded(Deployment, made)


@pytest.mark.parametrize("value", ["1", "2", "10"])
def test_our_own_annotation_counts(value: str) -> None:
    assert format_of(deployment({ANNOTATION: value})) == int(value)


@pytest.mark.parametrize("other", [("kubectl", "Apply"), ("takara-sync", "Update")])
def test_an_annotation_of_somebody_else_does_not(other: tuple[str, str]) -> None:
    assert format_of(deployment({ANNOTATION: "2"}, *other)) == 0


@pytest.mark.parametrize("annotations", [None, {}, {"a": "1"}, {ANNOTATION: "-1"}, {ANNOTATION: ""}, {ANNOTATION: "x"}])
def test_no_number_is_no_format(annotations: Any) -> None:
    assert format_of(deployment(annotations)) == 0
    assert has_format(deployment(annotations).as_manifest()) is (ANNOTATION in (annotations or {}))


@pytest.mark.parametrize("annotations", [None, {}, {"a": "1"}])
def test_it_is_added_to_the_others_and_not_hashed(annotations: Any) -> None:
    plain = manifest()
    plain["metadata"]["annotations"] = annotations
    made = with_format(plain)
    assert made["metadata"]["annotations"] == {**(annotations or {}), ANNOTATION: str(FORMAT)}
    assert plain["metadata"]["annotations"] == annotations
    assert config_hash(made, Owned()) == config_hash(plain, Owned())
    plain["metadata"]["annotations"] = {"a": "2"}
    assert config_hash(made, Owned()) != config_hash(plain, Owned())


def applied(of: Takara, live: Deployment | None) -> dict[str, Any]:
    decision = decide(of, live, Policy(), NOW)
    assert isinstance(decision, Create | Apply)
    found: dict[str, Any] = decision.manifest["metadata"].get("annotations") or {}
    return found


@pytest.mark.parametrize(
    ("of", "live", "added"),
    [
        (takara(), None, True),
        (takara(size=4), deployment(None), True),
        (takara(), deployment(None), False),
        (takara(), deployment({ANNOTATION: "1"}), True),
        (takara(), deployment({ANNOTATION: "7"}, "kubectl"), True),
    ],
    ids=["a create", "a change of the spec", "no change", "ours", "somebody's"],
)
def test_when_it_is_applied(of: Takara, live: Deployment | None, *, added: bool) -> None:
    assert applied(of, live) == ({ANNOTATION: str(FORMAT)} if added else {})


def test_a_newer_one_blocks_unless_it_is_accepted() -> None:
    live = deployment({ANNOTATION: NEWER})
    blocked = decide(takara(size=4), live, Policy(), NOW)
    assert isinstance(blocked, Block)
    assert blocked.verdict.reason == "NewerFormat"
    assert isinstance(decide(takara(size=4), live, Policy(accept_newer_format=True), NOW), Apply)
