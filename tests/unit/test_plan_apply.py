"""What an apply carries: the object it is for, the fields handed over, and what it changes and takes away."""

from __future__ import annotations

from takara_sync.desired import deployment_for
from takara_sync.diff import Change
from takara_sync.objects import Deployment, Takara
from takara_sync.plan import Apply, Create, Policy, decide
from tests.unit.build import (
    NOW,
    Json,
    decoded,
    deployment_json,
    entry,
    own_entry,
    settled,
    takara,
    takara_json,
    tree_of,
)


def apply_of(takara: Json, live: Json, policy: Policy = Policy()) -> Apply:  # noqa: B008 - frozen
    found = decide(decoded(Takara, takara), decoded(Deployment, live), policy, NOW)
    assert isinstance(found, Apply)
    return found


def test_an_apply_is_for_the_very_object_that_was_read() -> None:
    metadata = apply_of(settled(size=5), deployment_json(uid="u", resourceVersion="41")).manifest["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"]) == ("u", "41")


def test_a_create_names_no_version() -> None:
    found = decide(takara(), None, Policy(), NOW)
    assert isinstance(found, Create)
    assert not {"uid", "resourceVersion"} & set(found.manifest["metadata"])


def noted(one: Takara) -> Json:
    """A user's Policy.desired: the default and an annotation."""
    return deployment_for(one) | {"metadata": {"annotations": {"note": "new"}}}


def test_changes_of_labels_and_annotations_are_reported() -> None:
    live = deployment_json(annotations={"note": "old"})
    live["metadata"]["labels"] = live["metadata"]["labels"] | {"app": "mine"}
    assert apply_of(takara_json(), live, Policy(desired=noted)).changes == (
        Change("metadata.annotations.note", "old", "new"),
        Change("metadata.labels.app", "mine", "takara"),
    )


SIDECAR: Json = {"name": "sidecar", "image": "x"}


def with_sidecar(live: Json) -> Json:
    live["spec"]["template"]["spec"]["containers"].append(SIDECAR)
    return live


GOES = "spec.template.spec.containers[sidecar]"


def test_what_nobody_holds_goes_with_the_first_apply() -> None:
    live = with_sidecar(deployment_json(managedFields=None))
    assert apply_of(takara_json(), live).changes == (Change(GOES, SIDECAR, None),)


def test_what_others_put_in_stays() -> None:
    theirs = entry("kubectl", tree_of({"spec": {"template": {"spec": {"containers": [SIDECAR]}}}}))
    live = with_sidecar(deployment_json(managedFields=[own_entry(), theirs]))
    assert [change.field for change in apply_of(settled(size=5), live).changes] == ["spec.replicas"]
