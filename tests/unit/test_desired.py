"""The Deployment that a Takara asks for: names, labels, identity, the hashes."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest

from takara_sync.desired import (
    comparable,
    deployment_for,
    label_value,
    selector_labels,
    selector_text,
    with_identity,
    with_size,
)
from takara_sync.managed_fields import Owned, owned_by_us
from takara_sync.objects import Deployment, Takara
from takara_sync.record import FORMAT, config_hash, is_as_recorded
from tests.unit.build import (
    CONTAINER,
    IMAGE,
    TEMPLATE,
    Json,
    decoded,
    deployment,
    deployment_json,
    edited,
    lost,
    manifest,
    owned,
    owner,
    recorded,
    scaled,
    settled,
    takara,
)
from tests.unit.rows import applied_at

LABEL_VALUE = re.compile(r"[a-z0-9]([a-zA-Z0-9_.-]{0,61}[a-z0-9])?")


def made(one: Takara, live: Deployment | None = None) -> Json:
    return with_identity(deployment_for(one), one, live)


# ------------------------------------------------------------------ names and labels


@pytest.mark.parametrize("length", [1, 62, 63])
def test_a_name_that_fits_is_its_own_label(length: int) -> None:
    assert label_value("n" * length) == "n" * length


@pytest.mark.parametrize("length", [64, 100, 250, 253])
def test_a_longer_name_is_cut_and_marked(length: int) -> None:
    name = "n" * 51 + "." + "m" * (length - 52)
    value = label_value(name)
    assert len(value) == 63
    assert value.startswith(f"{name[:52]}_")
    assert LABEL_VALUE.fullmatch(value)


def test_the_label_of_a_long_name_never_changes() -> None:
    assert label_value("a" * 64) == "a" * 52 + "_ffe054fe7a"


def test_long_names_that_differ_at_the_end_have_labels_of_their_own() -> None:
    assert len({label_value("n" * 99 + end) for end in "abc"}) == 3


def test_the_selector_in_both_forms() -> None:
    assert selector_labels("one") == {"app": "takara", "takara_cr": "one"}
    assert selector_text("one") == "app=takara,takara_cr=one"


# ------------------------------------------------------------------ the manifest


def test_the_default_function_gives_what_others_may_build_upon() -> None:
    template = {"spec": {"containers": [CONTAINER]}}
    assert deployment_for(takara()) == {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}


@pytest.mark.parametrize("size", [0, 3])
def test_the_default_manifest(size: int) -> None:
    assert made(takara(size=size)) == manifest(replicas=size)


def test_a_long_name_is_whole_in_the_name_and_short_in_the_labels() -> None:
    name = "n" * 250
    found = made(takara(name))
    assert (found["metadata"]["name"], found["metadata"]["ownerReferences"][0]["name"]) == (name, name)
    labels = selector_labels(name)
    assert [
        found["metadata"]["labels"],
        found["spec"]["selector"]["matchLabels"],
        found["spec"]["template"]["metadata"]["labels"],
    ] == [labels] * 3


def test_a_template_is_taken_as_it_is_but_for_our_labels() -> None:
    template = TEMPLATE | {"metadata": {"labels": {"app": "mine", "tier": "web"}, "annotations": {"a": "b"}}}
    found = made(takara(spec={"size": 1, "template": template}))["spec"]["template"]
    assert found["spec"] == TEMPLATE["spec"]
    assert found["metadata"] == {
        "labels": {"app": "takara", "takara_cr": "one", "tier": "web"},
        "annotations": {"a": "b"},
    }


@pytest.mark.parametrize("metadata", [None, {}, {"labels": None}])
def test_a_template_may_leave_its_metadata_out(metadata: Any) -> None:
    found = made(takara(spec={"size": 1, "template": TEMPLATE | {"metadata": metadata}}))["spec"]["template"]
    assert found["metadata"]["labels"] == selector_labels("one")


@pytest.mark.parametrize("name", ["serviceAccountName", "serviceAccount"])
def test_a_service_account_has_both_of_its_names(name: str) -> None:
    """The server fills in either from the other; one that we do not hold would keep the account for ever."""
    template = {"spec": TEMPLATE["spec"] | {name: "robot"}}
    spec = made(takara(spec={"size": 1, "template": template}))["spec"]["template"]["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")
    assert "serviceAccount" not in made(takara())["spec"]["template"]["spec"]


# ------------------------------------------------------------------ identity

HOSTILE: Json = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "another",
        "namespace": "kube-system",
        "uid": "another",
        "resourceVersion": "7",
        "labels": {"app": "other", "takara_cr": "other", "mine": "yes"},
        "annotations": {"a": "b"},
        "finalizers": ["never/this"],
        "ownerReferences": [owner("another")],
        "managedFields": [],
    },
    "spec": {
        "replicas": 99,
        "selector": {"matchLabels": {"app": "other"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]},
        "template": {
            "metadata": {"labels": {"takara_cr": "other", "mine": "yes"}},
            "spec": {"containers": [CONTAINER]},
        },
        "minReadySeconds": 5,
    },
}


def test_a_manifest_of_the_users_gets_the_identity_of_its_takara() -> None:
    before, wanted = deepcopy(HOSTILE), manifest()
    found = with_identity(HOSTILE, takara(), None)
    assert before == HOSTILE
    assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")
    labels = wanted["metadata"]["labels"] | {"mine": "yes"}
    assert found["metadata"] == wanted["metadata"] | {"labels": labels, "annotations": {"a": "b"}}
    assert found["spec"] == wanted["spec"] | {
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}},
        "minReadySeconds": 5,
    }


def test_labels_may_be_null() -> None:
    found = with_identity({"metadata": {"labels": None}, "spec": {"template": TEMPLATE}}, takara(), None)
    assert found["metadata"]["labels"] == selector_labels("one")


@pytest.mark.parametrize(
    "live",
    [
        owner(),
        owner(blockOwnerDeletion=False),
        {name: value for name, value in owner().items() if name != "blockOwnerDeletion"},
        owner(apiVersion="maho.takara.org/v1"),
    ],
    ids=["ours", "false", "absent", "another version"],
)
def test_the_live_owner_is_echoed_word_for_word(live: Json) -> None:
    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "c"}
    found = made(takara(), deployment(ownerReferences=[second, live]))
    assert found["metadata"]["ownerReferences"] == [live]


def test_what_can_differ_are_labels_annotations_owners_and_the_spec() -> None:
    live = deployment_json(annotations={"a": "b"})
    assert comparable(live) == owned(live)
    assert comparable(live)["metadata"].keys() == {"labels", "annotations", "ownerReferences"}


# ------------------------------------------------------------------ the hashes


def test_whoever_changes_the_default_manifest_raises_the_format() -> None:
    """Else an older program and a newer one undo each other's applies for ever."""
    of_this_format = "3247a84cd33a854b"
    assert (FORMAT, config_hash(made(takara()), Owned())) == (1, of_this_format)


def hash_of(applied: Json, live: Json | None = None) -> str:
    return config_hash(applied, owned_by_us(decoded(Deployment, live or deployment_json()).managed_fields))


def test_the_hash_is_of_the_canonical_json_without_which_object_it_is() -> None:
    stamped = manifest() | {"metadata": manifest()["metadata"] | {"uid": "u", "resourceVersion": "9"}}
    turned = {name: stamped[name] for name in reversed(stamped)}
    assert hash_of(turned) == hash_of(manifest()) == recorded()["configHash"]
    assert re.fullmatch("[0-9a-f]{16}", hash_of(manifest()))


def test_the_hash_shows_every_other_difference_of_the_manifest() -> None:
    others = [manifest("two"), manifest() | {"more": 1}]
    others.append(manifest() | {"metadata": manifest()["metadata"] | {"ownerReferences": [owner(uid="x")]}})
    assert len({hash_of(other) for other in [manifest(), *others]}) == 4


def test_the_replicas_are_not_in_the_hash() -> None:
    """They are compared by value, so that a contest is recorded like anything else."""
    assert hash_of(manifest(replicas=4)) == hash_of(with_size(manifest(), 4)) == hash_of(manifest())
    assert hash_of(manifest(), scaled(deployment_json(), 7)) == hash_of(manifest())


def test_the_hash_shows_another_field_and_another_time() -> None:
    others = [edited(deployment_json(), "nginx"), applied_at(deployment_json(), "2026-01-01T00:00:01Z")]
    assert len({hash_of(manifest(), one) for one in [deployment_json(), *others]}) == 3


# ------------------------------------------------------------------ as recorded


SETTLED = decoded(Takara, settled())
RECORDED: dict[str, tuple[Deployment, Takara, Json, bool]] = {
    "as it was": (deployment(), SETTLED, manifest(), True),
    "other replicas": (deployment(replicas=7), SETTLED, manifest(), True),
    "another object": (deployment(uid="another"), SETTLED, manifest(), False),
    "another manifest": (deployment(), SETTLED, manifest() | {"more": 1}, False),
    "a field was lost": (decoded(Deployment, lost(deployment_json(), *IMAGE)), SETTLED, manifest(), False),
    "nothing is recorded": (deployment(), takara(), manifest(), False),
    "an older format": (deployment(), decoded(Takara, settled(record={"format": 0})), manifest(), False),
    "killed before the status was written": (deployment(), decoded(Takara, settled(generation=3)), manifest(), False),
}


@pytest.mark.parametrize("case", RECORDED)
def test_is_as_recorded(case: str) -> None:
    live, one, wanted, expected = RECORDED[case]
    assert is_as_recorded(live, one, wanted, owned_by_us(live.managed_fields)) is expected
