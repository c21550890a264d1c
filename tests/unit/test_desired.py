"""The Deployment that a Takara asks for: names, labels, the seal, the hashes."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest

from takara_sync.desired import (
    FORMAT,
    as_recorded,
    comparable,
    config_hash,
    deployment_for,
    fields_hash,
    label_value,
    sealed,
    selector_labels,
    selector_text,
)
from takara_sync.objects import Deployment, Takara
from tests.unit.build import (
    CONTAINER,
    IMAGE,
    TEMPLATE,
    Json,
    body,
    decoded,
    deployment,
    deployment_json,
    lost,
    owned,
    owner,
    scaled,
    settled,
    takara,
)

LABEL_VALUE = re.compile(r"[a-z0-9]([a-zA-Z0-9_.-]{0,61}[a-z0-9])?")


def made(one: Takara, live: Deployment | None = None) -> Json:
    return sealed(deployment_for(one), one, live)


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


# ------------------------------------------------------------------ the body


def test_the_default_of_the_seam_is_a_deployment_that_others_may_build_upon() -> None:
    template = {"spec": {"containers": [CONTAINER]}}
    assert deployment_for(takara()) == {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}


@pytest.mark.parametrize("size", [0, 3])
def test_the_default_body(size: int) -> None:
    assert made(takara(size=size)) == body(replicas=size)


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


# ------------------------------------------------------------------ the seal

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


def test_a_hostile_desire_is_sealed() -> None:
    found = sealed(HOSTILE, takara(), None)
    wanted = body()
    assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")
    labels = wanted["metadata"]["labels"] | {"mine": "yes"}
    assert found["metadata"] == wanted["metadata"] | {"labels": labels, "annotations": {"a": "b"}}
    assert found["spec"] == wanted["spec"] | {
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}},
        "minReadySeconds": 5,
    }


def test_sealing_leaves_what_the_seam_returned_alone() -> None:
    before = deepcopy(HOSTILE)
    sealed(HOSTILE, takara(), None)
    assert before == HOSTILE


def test_a_seam_may_return_labels_of_null() -> None:
    found = sealed({"metadata": {"labels": None}, "spec": {"template": TEMPLATE}}, takara(), None)
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


def test_the_config_hash_leaves_out_which_object_it_is() -> None:
    stamped = body() | {"metadata": body()["metadata"] | {"uid": "u", "resourceVersion": "9"}}
    assert config_hash(stamped) == config_hash(body())


def test_whoever_changes_the_default_body_raises_the_format() -> None:
    """Else an older program and a newer one undo each other's applies for ever."""
    of_this_format = "bbde60bae17f41409dbac9e941a260602db9bbf1ed1832ac212d4f1c6403568b"
    assert (FORMAT, config_hash(made(takara()))) == (1, of_this_format)


def test_the_config_hash_is_of_the_canonical_json() -> None:
    turned = {name: body()[name] for name in reversed(body())}
    assert config_hash(turned) == config_hash(body())
    assert re.fullmatch("[0-9a-f]{64}", config_hash(body()))


def test_the_config_hash_shows_every_other_difference() -> None:
    others = [body(replicas=4), body("two"), body() | {"more": 1}]
    others.append(body() | {"metadata": body()["metadata"] | {"ownerReferences": [owner(uid="x")]}})
    assert len({config_hash(other) for other in [body(), *others]}) == 5


def test_the_replicas_do_not_count_while_contested() -> None:
    assert config_hash(body(replicas=4), contested=True) == config_hash(body(), contested=True) != config_hash(body())
    ours, theirs = deployment(), decoded(Deployment, scaled(deployment_json(), 7))
    assert fields_hash(ours, contested=True) == fields_hash(theirs, contested=True) == fields_hash(theirs)
    assert fields_hash(ours) != fields_hash(theirs)


# ------------------------------------------------------------------ as recorded


@pytest.mark.parametrize("contested", [False, True])
def test_as_recorded(*, contested: bool) -> None:
    one = decoded(Takara, settled())
    assert as_recorded(deployment(), one, body(), contested=contested)
    assert not as_recorded(deployment(uid="another"), one, body(), contested=contested)
    assert not as_recorded(deployment(), one, body() | {"more": 1}, contested=contested)
    assert not as_recorded(decoded(Deployment, lost(deployment_json(), *IMAGE)), one, body(), contested=contested)
    assert not as_recorded(deployment(), takara(), body(), contested=contested)


def test_a_contest_may_begin_and_end_between_two_records() -> None:
    theirs = decoded(Deployment, scaled(deployment_json(), 7))
    before = decoded(Takara, settled())
    hashes = {"configHash": config_hash(body(), contested=True), "fieldsHash": fields_hash(theirs, contested=True)}
    within = decoded(Takara, settled(record=hashes))
    assert [as_recorded(theirs, one, body(), contested=True) for one in (before, within)] == [True, True]
    assert [as_recorded(theirs, one, body(), contested=False) for one in (before, within)] == [False, False]
