"""Writes: versions and generations, uids, namespaces, sizes, subresources."""

from __future__ import annotations

import pytest

from tests.contract.talk import (
    BODIES,
    HOLD,
    OTHER_UID,
    REAL_ONLY,
    Json,
    Talk,
    altered,
    deployment,
    generation,
    owner,
    refusal,
    takara,
    version,
)


def test_a_new_object_has_what_the_server_gives(talk: Talk) -> None:
    for plural, body in BODIES.items():
        made = talk.create(plural, {**body, "status": {"replicas": 7}})
        assert (generation(made), made["metadata"]["namespace"]) == (1, talk.namespace)
        assert {"uid", "resourceVersion", "creationTimestamp"} <= set(made["metadata"])
        assert made["status"] == ({"observedGeneration": -1} if plural == "takaras" else {})
        assert refusal(talk.post(plural, body)) == (409, "AlreadyExists", [])


def test_an_unchanged_write_moves_nothing(talk: Talk) -> None:
    talk.create("deployments", deployment())
    made = talk.settled()
    assert talk.patched("deployments", {"spec": {"replicas": 3}}) == made
    talk.create("takaras", takara())
    written = talk.patched("takaras", {"spec": {"size": 3}})  # a real server stores the default status now
    assert talk.patched("takaras", {"spec": {"size": 3}}) == written


LABEL, ANNOTATION = ({"metadata": {name: {"a": "b"}}} for name in ("labels", "annotations"))


@pytest.mark.parametrize(
    ("plural", "patch", "moves"),
    [
        ("deployments", {"spec": {"replicas": 4}}, True),
        ("deployments", ANNOTATION, True),
        ("deployments", LABEL, False),
        ("deployments", {"metadata": {"ownerReferences": None}}, False),
        ("takaras", {"spec": {"size": 4}}, True),
        ("takaras", ANNOTATION, False),
        ("takaras", LABEL, False),
    ],
)
def test_what_moves_the_generation(talk: Talk, plural: str, patch: Json, moves: bool) -> None:
    of = owner(talk.create("takaras", takara("owner")))
    made = talk.create(plural, altered(BODIES[plural], "metadata.ownerReferences", [of]))
    after = talk.patched(plural, patch)
    assert version(after) != version(made)
    assert generation(after) == (2 if moves else 1)


def test_the_status_and_the_rest_are_written_apart(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    other = {"metadata": {"uid": OTHER_UID, "labels": {"a": "b"}}, "spec": {"size": 9}}  # the uid is not looked at
    after = talk.patched("takaras", other | {"status": {"replicas": 1}}, sub="status")
    assert (generation(after), after["spec"]["size"], "labels" in after["metadata"]) == (1, 3, False)
    assert version(after) != version(made)
    assert after["status"] == {"observedGeneration": -1, "replicas": 1}
    after = talk.patched("takaras", {"status": {"replicas": 2}})
    assert (generation(after), after["status"]["replicas"]) == (1, 1)


def test_a_write_of_what_is_not_there_or_is_another(talk: Talk) -> None:
    assert refusal(talk.put("deployments", deployment(resourceVersion="1"))) == (404, "NotFound", [])
    talk.create("deployments", deployment())
    answer = talk.patch("deployments", {"metadata": {"uid": OTHER_UID, "labels": {"a": "b"}}})
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "metadata.uid")])


@pytest.mark.parametrize("plural", ["takaras", "deployments"])
def test_a_stale_version_is_409(talk: Talk, plural: str) -> None:
    made = talk.create(plural, BODIES[plural])
    talk.patched(plural, LABEL)
    assert refusal(talk.put(plural, altered(made, "metadata.labels", {}))) == (409, "Conflict", [])
    patch = {"metadata": {"labels": {"a": "c"}, "resourceVersion": version(made)}}
    assert refusal(talk.patch(plural, patch)) == (409, "Conflict", [])


@REAL_ONLY
def test_a_terminating_namespace_is_403_with_its_cause(talk: Talk) -> None:
    talk.create("takaras", altered(takara(), "metadata.finalizers", [HOLD]))
    path = f"/api/v1/namespaces/{talk.namespace}"
    assert talk.server.call("DELETE", path).body["status"]["phase"] == "Terminating"
    new = deployment("new")
    for answer in (talk.post("takaras", takara("new")), talk.post("deployments", new), talk.apply(new)):
        assert refusal(answer) == (403, "Forbidden", [("NamespaceTerminating", "metadata.namespace")])
    talk.patched("takaras", {"metadata": {"finalizers": None}})
