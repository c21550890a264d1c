"""managedFields: who owns what after whose write.  The product's drift check and take-over rest on this."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    OUR_FIELDS,
    Talk,
    altered,
    deployment,
    entry,
    generation,
    ours,
    owned,
    owner,
    takara,
)

CONTAINER = 'spec/template/spec/containers/k:{"name":"takara"}'
RESTART = {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}}


def image(name: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "takara", "image": name}]}}}}


@pytest.mark.parametrize(
    "patch",
    [
        RESTART,
        {"metadata": {"annotations": {"a": "b"}}},
        {"spec": {"replicas": 3}},
        {"metadata": {"labels": {"app": "takara", "more": "labels"}}},
        image("busybox"),
        {"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "busybox"}]}}}},
    ],
    ids=["rollout restart", "annotation", "same replicas", "same label", "same image", "another container"],
)
def test_our_entry_stays_byte_for_byte_under(talk: Talk, patch: dict[str, Any]) -> None:
    made = talk.applied(deployment())
    assert entry(talk.strategic(patch)) == entry(made)


@pytest.mark.parametrize(
    ("patch", "lost"),
    [
        ({"spec": {"replicas": 5}}, {"spec/replicas"}),
        (image("other"), {f"{CONTAINER}/image"}),
        ({"metadata": {"labels": {"app": "other"}}}, {"metadata/labels/app"}),
        ({"metadata": {"labels": {"app": None}}}, {"metadata/labels/app"}),
        (
            {"spec": {"template": {"spec": {"containers": [{"name": "takara", "command": ["other"]}]}}}},
            {f"{CONTAINER}/command"},
        ),
    ],
    ids=["scale", "set image", "label", "label removed", "command"],
)
def test_our_entry_loses_what_somebody_changes_and_an_apply_restores_it(
    talk: Talk, patch: dict[str, Any], lost: set[str]
) -> None:
    made = talk.applied(deployment())
    assert owned(talk.strategic(patch)) == OUR_FIELDS - lost
    after = talk.applied(deployment())
    assert (ours(after), after["spec"]["replicas"], entry(after, "somebody", "Update")) == (ours(made), 3, None)


def test_a_removed_owner_reference_leaves_our_entry_and_no_new_generation(talk: Talk) -> None:
    of = talk.create("takaras", takara())
    body = deployment(ownerReferences=[owner(of)])
    made = talk.applied(body)
    after = talk.patched("deployments", {"metadata": {"ownerReferences": None}})
    assert (owned(after), generation(after)) == (OUR_FIELDS, 1)
    again = talk.applied(body)
    assert (ours(again), generation(again)) == (ours(made), 1)
    assert again["metadata"]["ownerReferences"] == made["metadata"]["ownerReferences"]


def test_a_new_value_belongs_to_its_writer(talk: Talk) -> None:
    talk.applied(deployment())
    after = talk.strategic(image("other"))
    assert owned(after, "somebody", "Update") == {f"{CONTAINER}/image"}
    assert (entry(after, "somebody", "Update") or {})["time"]


def test_a_writer_without_a_name_is_named_by_its_program(talk: Talk) -> None:
    talk.applied(deployment())
    after = talk.patched("deployments", {"spec": {"replicas": 5}}, query="")
    assert owned(after, "python-urllib3", "Update") == {"spec/replicas"}


def test_a_put_takes_what_it_changes(talk: Talk) -> None:
    talk.applied(deployment())
    made = altered(talk.settled(), "metadata.resourceVersion")
    answer = talk.put("deployments", altered(made, "spec.replicas", 7), query="fieldManager=somebody")
    assert owned(answer.body) == OUR_FIELDS - {"spec/replicas"}
    assert owned(answer.body, "somebody", "Update") == {"spec/replicas"}


def test_a_put_without_managed_fields_keeps_them(talk: Talk) -> None:
    talk.applied(deployment())
    made = talk.settled()
    answer = talk.put("deployments", altered(made, "metadata.managedFields"))
    assert answer.body["metadata"]["managedFields"] == made["metadata"]["managedFields"]


def test_the_status_has_an_entry_of_its_own(talk: Talk) -> None:
    talk.create("takaras", takara())
    after = talk.patched("takaras", {"status": {"replicas": 1}}, sub="status")
    assert owned(after, "somebody", "Update", "status") & {"status", "status/replicas"}, "the real CRD: atomic"


def test_the_controllers_own_entry(talk: Talk) -> None:
    talk.applied(deployment())
    after = talk.settled()
    theirs = owned(after, "kube-controller-manager", "Update", "status")
    assert {"status/replicas", "status/conditions", "status/observedGeneration"} <= theirs
    assert (generation(after), owned(after)) == (1, OUR_FIELDS)


def test_what_a_create_owns(talk: Talk) -> None:
    made = talk.create("deployments", deployment(), query="fieldManager=somebody")
    own = {"imagePullPolicy", "resources", "terminationMessagePath", "terminationMessagePolicy"}
    pod = {"dnsPolicy", "restartPolicy", "schedulerName", "securityContext", "terminationGracePeriodSeconds"}
    rolling = "spec/strategy/rollingUpdate"
    assert owned(made, "somebody", "Update") == {
        *OUR_FIELDS,
        *("metadata/labels", "spec/template/metadata/labels"),
        *("spec/progressDeadlineSeconds", "spec/revisionHistoryLimit", "spec/strategy/type"),
        *(rolling, f"{rolling}/maxSurge", f"{rolling}/maxUnavailable"),
        *(f"{CONTAINER}/{name}" for name in own),
        *(f"spec/template/spec/{name}" for name in pod),
    }
