"""Deleting, and what the garbage collector and the controllers make of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.talk import Talk, deployment, generation, owner, refusal, takara

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER_UID = "00000000-0000-4000-8000-000000000000"
HOLD = "example.org/hold"
PATIENCE = 60.0  # seconds


def eventually(true: Callable[[], bool], talk: Talk) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        talk.moment()


def gone(talk: Talk, plural: str, name: str = "one") -> bool:
    return talk.server.call("GET", talk.path(plural, name)).status == 404


def owned_pair(talk: Talk) -> dict[str, Any]:
    made = talk.create("takaras", takara())
    talk.applied(deployment(ownerReferences=[owner(made)]))
    talk.server.settle(talk.namespace)
    return made


def test_a_delete_answers_success_and_the_uid(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    answer = talk.delete("takaras")
    assert (answer.body["kind"], answer.body["status"]) == ("Status", "Success")
    assert answer.body["details"] == {
        "name": "one",
        "group": "maho.takara.org",
        "kind": "takaras",
        "uid": made["metadata"]["uid"],
    }
    assert gone(talk, "takaras")


def test_a_delete_of_an_absent_object_is_404(talk: Talk) -> None:
    answer = talk.server.call("DELETE", talk.path("takaras", "one"))
    assert refusal(answer) == (404, "NotFound", [])


@pytest.mark.parametrize("key", ["uid", "resourceVersion"])
def test_a_precondition_that_does_not_hold_is_409(talk: Talk, key: str) -> None:
    made = talk.create("takaras", takara())
    body = {"preconditions": {key: OTHER_UID if key == "uid" else "1"}}
    answer = talk.server.call("DELETE", talk.path("takaras", "one"), body)
    assert refusal(answer) == (409, "Conflict", [])
    body = {"preconditions": {key: made["metadata"][key]}}
    assert talk.server.call("DELETE", talk.path("takaras", "one"), body).status == 200


def test_what_a_takara_owned_is_collected(talk: Talk) -> None:
    owned_pair(talk)
    assert len(talk.list("pods")["items"]) == 3
    talk.delete("takaras")
    eventually(lambda: gone(talk, "deployments"), talk)
    eventually(lambda: not talk.list("pods")["items"], talk)
    assert talk.list("replicasets")["items"] == []


def test_a_deployment_whose_owners_uid_is_gone_is_collected(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    other = {**owner(made), "uid": OTHER_UID}
    talk.create("deployments", deployment(ownerReferences=[other]))
    eventually(lambda: gone(talk, "deployments"), talk)
    assert not gone(talk, "takaras")


def test_a_deployment_of_two_owners_stays_until_both_are_gone(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    owners = [owner(first), owner(second, controller=False)]
    talk.create("deployments", deployment(ownerReferences=owners))
    talk.delete("takaras", "a")
    eventually(lambda: len(talk.get("deployments")["metadata"]["ownerReferences"]) == 1, talk)
    talk.delete("takaras", "b")
    eventually(lambda: gone(talk, "deployments"), talk)


def test_a_deployment_of_nobody_stays(talk: Talk) -> None:
    owned_pair(talk)
    talk.create("deployments", deployment("two"))
    talk.delete("takaras")
    eventually(lambda: gone(talk, "deployments"), talk)
    assert not gone(talk, "deployments", "two")


def test_orphans_lose_their_reference_and_stay(talk: Talk) -> None:
    owned_pair(talk)
    talk.delete("takaras", policy="Orphan")
    eventually(lambda: gone(talk, "takaras"), talk)
    assert "ownerReferences" not in talk.get("deployments")["metadata"]


def test_foreground_deletion_ends_with_the_last_dependent(talk: Talk) -> None:
    owned_pair(talk)
    held = {"metadata": {"finalizers": [HOLD]}}
    talk.patched("deployments", held)
    answer = talk.delete("takaras", policy="Foreground")
    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert answer.body["metadata"]["deletionTimestamp"]
    assert generation(answer.body) == 2
    eventually(lambda: "deletionTimestamp" in talk.get("deployments")["metadata"], talk)
    assert not gone(talk, "takaras")
    talk.patched("deployments", {"metadata": {"finalizers": None}})
    eventually(lambda: gone(talk, "takaras") and gone(talk, "deployments"), talk)


def test_a_finalizer_keeps_the_object_until_it_is_taken(talk: Talk) -> None:
    talk.create("takaras", takara())
    talk.patched("takaras", {"metadata": {"finalizers": [HOLD]}})
    first = talk.delete("takaras").body
    again = talk.delete("takaras").body
    assert first["metadata"]["deletionTimestamp"] == again["metadata"]["deletionTimestamp"]
    assert (generation(first), generation(again)) == (2, 2)
    after = talk.patched("takaras", {"spec": {"size": 5}})
    assert (after["spec"]["size"], generation(after)) == (5, 3)
    talk.patched("takaras", {"metadata": {"finalizers": []}})
    assert gone(talk, "takaras")


def test_an_apply_on_a_deployment_being_deleted_works(talk: Talk) -> None:
    talk.applied(deployment(finalizers=[HOLD]))
    talk.delete("deployments")
    after = talk.applied(deployment(replicas=5, finalizers=[HOLD]))
    assert "deletionTimestamp" in after["metadata"]
    talk.patched("deployments", {"metadata": {"finalizers": None}})


def test_a_new_object_of_the_same_name_has_another_uid(talk: Talk) -> None:
    first = talk.create("takaras", takara())
    talk.delete("takaras")
    assert talk.create("takaras", takara())["metadata"]["uid"] != first["metadata"]["uid"]


def test_a_namespace_goes_with_what_is_in_it(talk: Talk) -> None:
    owned_pair(talk)
    path = f"/api/v1/namespaces/{talk.namespace}"
    assert talk.server.call("DELETE", path).status == 200
    eventually(lambda: talk.server.call("GET", path).status == 404, talk)
    assert talk.list("takaras")["items"] == []
