"""Writes: versions and generations, uids, namespaces, sizes, subresources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.talk import (
    Talk,
    deployment,
    generation,
    owner,
    refusal,
    takara,
    version,
)

if TYPE_CHECKING:
    from tests.contract.talk import Both

OTHER_UID = "00000000-0000-4000-8000-000000000000"


def test_a_new_object_has_what_the_server_gives(talk: Talk) -> None:
    for plural, body in (("takaras", takara()), ("deployments", deployment())):
        made = talk.create(plural, body)
        assert generation(made) == 1
        assert made["metadata"]["namespace"] == talk.namespace
        assert {"uid", "resourceVersion", "creationTimestamp"} <= set(made["metadata"])


def test_a_new_takara_has_the_default_status(talk: Talk) -> None:
    assert talk.create("takaras", takara())["status"] == {"observedGeneration": -1}


def test_a_status_given_on_create_is_dropped(talk: Talk) -> None:
    made = talk.create("takaras", {**takara(), "status": {"replicas": 7}})
    assert made["status"] == {"observedGeneration": -1}
    assert "replicas" not in talk.create("deployments", {**deployment(), "status": {"replicas": 7}})["status"]


def test_an_unchanged_write_moves_nothing(talk: Talk) -> None:
    talk.create("deployments", deployment())
    made = talk.settled()
    assert talk.patched("deployments", {"spec": {"replicas": 3}}) == made
    talk.create("takaras", takara())
    written = talk.patched("takaras", {"spec": {"size": 3}})  # a real server stores the default status now
    assert talk.patched("takaras", {"spec": {"size": 3}}) == written


@pytest.mark.parametrize(
    ("patch", "moves"),
    [
        ({"spec": {"replicas": 4}}, True),
        ({"metadata": {"annotations": {"a": "b"}}}, True),
        ({"metadata": {"labels": {"a": "b"}}}, False),
        ({"metadata": {"ownerReferences": None}}, False),
    ],
    ids=["spec", "annotation", "label", "owner"],
)
def test_what_moves_the_generation_of_a_deployment(talk: Talk, patch: dict[str, Any], moves: bool) -> None:
    of = talk.create("takaras", takara())
    made = talk.create("deployments", deployment(ownerReferences=[owner(of)]))
    after = talk.patched("deployments", patch)
    assert version(after) != version(made)
    assert generation(after) == (2 if moves else 1)


@pytest.mark.parametrize(
    ("patch", "moves"),
    [
        ({"spec": {"size": 4}}, True),
        ({"metadata": {"annotations": {"a": "b"}}}, False),
        ({"metadata": {"labels": {"a": "b"}}}, False),
    ],
    ids=["spec", "annotation", "label"],
)
def test_what_moves_the_generation_of_a_takara(talk: Talk, patch: dict[str, Any], moves: bool) -> None:
    made = talk.create("takaras", takara())
    after = talk.patched("takaras", patch)
    assert version(after) != version(made)
    assert generation(after) == (2 if moves else 1)


def test_a_status_write_moves_the_version_only(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    after = talk.patched("takaras", {"status": {"replicas": 1}, "spec": {"size": 9}}, sub="status")
    assert (generation(after), after["spec"]["size"]) == (1, 3)
    assert version(after) != version(made)
    assert after["status"] == {"observedGeneration": -1, "replicas": 1}


def test_the_status_is_not_written_at_the_main_endpoint(talk: Talk) -> None:
    talk.create("takaras", takara())
    after = talk.patched("takaras", {"status": {"replicas": 1}})
    assert (generation(after), after["status"]) == (1, {"observedGeneration": -1})


def test_metadata_of_a_takara_is_not_written_at_the_status(talk: Talk) -> None:
    talk.create("takaras", takara())
    after = talk.patched("takaras", {"metadata": {"labels": {"a": "b"}}, "status": {}}, sub="status")
    assert "labels" not in after["metadata"]


def test_versions_grow_over_all_objects(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("deployments", deployment("b"))
    assert int(version(first)) < int(version(second)) <= int(talk.list("takaras")["metadata"]["resourceVersion"])


@pytest.mark.parametrize("plural", ["takaras", "deployments"])
def test_a_stale_version_is_409(talk: Talk, plural: str) -> None:
    made = talk.create(plural, takara() if plural == "takaras" else deployment())
    talk.patched(plural, {"metadata": {"labels": {"a": "b"}}})
    put = talk.server.call("PUT", talk.path(plural, "one"), {**made, "metadata": {**made["metadata"], "labels": {}}})
    assert refusal(put) == (409, "Conflict", [])
    patch = {"metadata": {"labels": {"a": "c"}, "resourceVersion": version(made)}}
    assert refusal(talk.patch(plural, patch)) == (409, "Conflict", [])


def test_a_put_of_the_current_version_replaces(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    answer = talk.server.call("PUT", talk.path("takaras", "one"), {**made, "spec": {"size": 9}})
    assert (answer.status, answer.body["spec"], generation(answer.body)) == (200, {"size": 9}, 2)


def test_the_kind_may_be_left_out_of_a_deployment_only(talk: Talk) -> None:
    bodies = (("takaras", takara()), ("deployments", deployment()))
    bare = [(plural, {"metadata": body["metadata"], "spec": body["spec"]}) for plural, body in bodies]
    assert [talk.server.call("POST", talk.path(plural), body).status for plural, body in bare] == [400, 201]


def test_a_put_of_an_absent_object_is_404(talk: Talk) -> None:
    gone = {**deployment(), "metadata": {**deployment()["metadata"], "resourceVersion": "1"}}
    assert refusal(talk.server.call("PUT", talk.path("deployments", "one"), gone)) == (404, "NotFound", [])


def test_a_second_create_is_409(talk: Talk) -> None:
    for plural, body in (("takaras", takara()), ("deployments", deployment())):
        talk.create(plural, body)
        assert refusal(talk.server.call("POST", talk.path(plural), body)) == (409, "AlreadyExists", [])


def test_a_merge_patch_with_another_uid(talk: Talk) -> None:
    talk.create("deployments", deployment())
    answer = talk.patch("deployments", {"metadata": {"uid": OTHER_UID, "labels": {"a": "b"}}})
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "metadata.uid")])


def test_the_uid_is_ignored_by_a_merge_patch_of_a_takaras_status(talk: Talk) -> None:
    talk.create("takaras", takara())
    patch = {"metadata": {"uid": OTHER_UID}, "status": {"replicas": 4}}
    assert talk.patched("takaras", patch, sub="status")["status"]["replicas"] == 4


def test_names_and_namespaces_must_fit_the_path(talk: Talk) -> None:
    elsewhere = takara()
    elsewhere["metadata"]["namespace"] = "elsewhere"
    assert talk.server.call("POST", talk.path("takaras"), elsewhere).status == 400
    talk.create("takaras", takara())
    renamed = talk.patch("takaras", {"metadata": {"name": "other"}})
    assert renamed.status in (400, 422)


def test_a_body_of_another_kind_is_400(talk: Talk) -> None:
    answer = talk.server.call("POST", talk.path("deployments"), takara())
    assert refusal(answer) == (400, "BadRequest", [])


def test_a_missing_namespace_is_a_404_that_names_it(server: Both) -> None:
    answer = server.call("POST", "/apis/apps/v1/namespaces/nowhere/deployments", deployment())
    assert refusal(answer) == (404, "NotFound", [])
    assert answer.body["details"] == {"name": "nowhere", "kind": "namespaces"}


def test_a_terminating_namespace_is_403_with_its_cause(talk: Talk) -> None:
    talk.create("takaras", {**takara(), "metadata": {"name": "one", "finalizers": ["example.org/hold"]}})
    path = f"/api/v1/namespaces/{talk.namespace}"
    assert talk.server.call("DELETE", path).body["status"]["phase"] == "Terminating"
    for plural, body in (("takaras", takara("b")), ("deployments", deployment())):
        answer = talk.server.call("POST", talk.path(plural), body)
        assert refusal(answer) == (403, "Forbidden", [("NamespaceTerminating", "metadata.namespace")])
    applied = talk.apply(deployment("c"))
    assert refusal(applied) == (403, "Forbidden", [("NamespaceTerminating", "metadata.namespace")])
    talk.patched("takaras", {"metadata": {"finalizers": None}})
