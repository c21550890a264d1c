"""Deleting, and what the garbage collector and the controllers make of it."""

from __future__ import annotations

from tests.contract.talk import HOLD, OTHER_UID, Talk, deployment, generation, owner, refusal, takara, wait


def gone(talk: Talk, plural: str, name: str = "one") -> bool:
    return talk.server.call("GET", talk.path(plural, name)).status == 404


def owned_pair(talk: Talk) -> None:
    talk.applied(deployment(ownerReferences=[owner(talk.create("takaras", takara()))]))
    talk.server.settle(talk.namespace)


def test_a_delete_answers_success_and_the_uid(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    answer = talk.delete("takaras")
    assert (answer.body["kind"], answer.body["status"]) == ("Status", "Success")
    about = {"name": "one", "group": "maho.takara.org", "kind": "takaras", "uid": made["metadata"]["uid"]}
    assert answer.body["details"] == about
    assert gone(talk, "takaras")
    answer = talk.server.call("DELETE", talk.path("takaras", "one"))
    assert refusal(answer) == (404, "NotFound", [])


def test_what_a_takara_owned_is_collected(talk: Talk) -> None:
    owned_pair(talk)
    talk.create("deployments", deployment("two", replicas=0))
    assert len(talk.list("pods")["items"]) == 3
    talk.delete("takaras")
    wait(talk, lambda: gone(talk, "deployments"))
    wait(talk, lambda: not talk.list("pods")["items"])
    assert not gone(talk, "deployments", "two")  # it has no owner


def test_a_deployment_whose_owners_uid_is_gone_is_collected(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    other = {**owner(made), "uid": OTHER_UID}
    talk.create("deployments", deployment(ownerReferences=[other]))
    wait(talk, lambda: gone(talk, "deployments"))
    assert not gone(talk, "takaras")


def test_a_deployment_of_two_owners_stays_until_both_are_gone(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    owners = [owner(first), owner(second, controller=False)]
    talk.create("deployments", deployment(ownerReferences=owners))
    talk.delete("takaras", "a")
    wait(talk, lambda: len(talk.get("deployments")["metadata"]["ownerReferences"]) == 1)
    talk.delete("takaras", "b")
    wait(talk, lambda: gone(talk, "deployments"))


def test_orphans_lose_their_reference_and_stay(talk: Talk) -> None:
    owned_pair(talk)
    talk.delete("takaras", policy="Orphan")
    wait(talk, lambda: gone(talk, "takaras"))
    assert "ownerReferences" not in talk.get("deployments")["metadata"]


def test_foreground_deletion_ends_with_the_last_dependent(talk: Talk) -> None:
    owned_pair(talk)
    talk.patched("deployments", {"metadata": {"finalizers": [HOLD]}})
    answer = talk.delete("takaras", policy="Foreground")
    assert answer.body["metadata"]["deletionTimestamp"]
    assert (answer.body["metadata"]["finalizers"], generation(answer.body)) == (["foregroundDeletion"], 2)
    wait(talk, lambda: "deletionTimestamp" in talk.get("deployments")["metadata"])
    assert not gone(talk, "takaras")
    talk.patched("deployments", {"metadata": {"finalizers": None}})
    wait(talk, lambda: gone(talk, "takaras") and gone(talk, "deployments"))


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
