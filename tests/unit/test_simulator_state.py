"""The simulator's state as a test handles it: going back to a moment, objects stored as given, admission hooks."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.simulator import AdmissionReview, Controllers, Refusal, Store
from tests.contract.talk import APPLY, MERGE, deployment, takara
from tests.unit.build import deployment_json, settled
from tests.unit.test_simulator import DEPLOYMENTS, TAKARAS, Clock, call, reason

EVERYTHING = (TAKARAS, DEPLOYMENTS, "/apis/apps/v1/replicasets", "/api/v1/pods", "/api/v1/namespaces")


def everything(store: Store) -> list[Any]:
    return [call(store, "GET", path).json() for path in EVERYTHING]


def live_on(store: Store) -> list[Any]:
    """A few changes of every kind, and what they lead to."""
    call(store, "PATCH", f"{DEPLOYMENTS}/one", deployment(replicas=2), content_type=APPLY, fieldManager="a")
    call(store, "DELETE", f"{TAKARAS}/one")
    call(store, "POST", TAKARAS, takara("two"))
    Controllers(store.objects).settle()
    return everything(store)


@pytest.fixture
def store() -> Store:
    found = Store(now=Clock(), seed=7)
    call(found, "POST", TAKARAS, takara())
    call(found, "PATCH", f"{DEPLOYMENTS}/one", deployment(), content_type=APPLY, fieldManager="a")
    Controllers(found.objects).settle()
    return found


def test_the_same_follows_as_often_as_one_goes_back(store: Store) -> None:
    snapshot, before = store.snapshot(), everything(store)
    first = live_on(store)  # uids, pod names and versions are in it
    for _ in range(2):
        store.restore(snapshot)
        assert everything(store) == before
        assert live_on(store) == first
    assert first != before


def test_requests_hooks_and_the_clock_do_not_go_back(store: Store) -> None:
    snapshot = store.snapshot()
    store.requests.clear()
    store.admission.append(lambda review: review.new)
    call(store, "GET", TAKARAS)
    store.restore(snapshot)
    assert (len(store.requests), len(store.admission)) == (1, 1)


def test_a_snapshot_makes_another_store_a_twin(store: Store) -> None:
    twin = Store(now=Clock())
    twin.restore(store.snapshot())
    assert everything(twin) == everything(store)
    before = everything(store)
    assert live_on(twin) == live_on(store)
    assert everything(store) != before


@pytest.mark.parametrize("odd", [{"spec": {"size": "many"}}, {"spec": None}, {"status": {"conditions": "none"}}])
def test_an_object_is_stored_as_it_is_given(odd: dict[str, Any]) -> None:
    store = Store()
    given = settled() | odd
    store.put(given)
    found = call(store, "GET", "/apis/maho.takara.org/v1alpha1/namespaces/ns/takaras/one").json()
    assert found["apiVersion"] == "maho.takara.org/v1alpha1"
    assert {name: found[name] for name in ("spec", "status")} == {name: given[name] for name in ("spec", "status")}
    kept = ("name", "namespace", "uid", "generation")
    assert {name: found["metadata"][name] for name in kept} == {name: given["metadata"][name] for name in kept}


def test_what_was_put_can_be_written_like_anything_else() -> None:
    store = Store()
    given = deployment_json()
    store.put(given, settled())
    given["spec"]["replicas"] = 9  # the store has a copy
    path = "/apis/apps/v1/namespaces/ns/deployments"
    after = call(store, "PATCH", f"{path}/one", {"metadata": {"labels": {"a": "b"}}}, content_type=MERGE).json()
    assert (after["spec"]["replicas"], after["metadata"]["uid"]) == (3, "deployment-one")
    assert len(after["metadata"]["managedFields"]) == 2
    assert call(store, "POST", path, deployment("new")).status == 201  # its namespace came with it
    with pytest.raises(KeyError):
        store.put({"kind": "Nothing", "metadata": {"name": "one"}})


def test_a_hook_sees_who_writes_what_over_what(store: Store) -> None:
    seen: list[AdmissionReview] = []

    def look(review: AdmissionReview) -> dict[str, Any]:
        seen.append(review)
        return review.new

    store.admission.append(look)
    patch = {"spec": {"replicas": 5}}
    call(store, "PATCH", f"{DEPLOYMENTS}/one", patch, content_type=MERGE, fieldManager="hpa")
    call(store, "PATCH", f"{DEPLOYMENTS}/one/scale", patch, content_type=MERGE)
    (review,) = seen
    assert review.old is not None
    assert (review.manager, review.old["spec"]["replicas"], review.new["spec"]["replicas"]) == ("hpa", 3, 5)


def test_hooks_follow_each_other_and_what_they_return_is_completed_and_checked() -> None:
    def shorten(review: AdmissionReview) -> dict[str, Any]:
        del review.new["spec"]["template"]["spec"]["containers"][0]["resources"]
        return review.new

    def resize(review: AdmissionReview) -> dict[str, Any]:
        return review.new | {"spec": review.new["spec"] | {"replicas": review.new["spec"]["replicas"] * -1}}

    store = Store()
    store.admission += [shorten, resize]
    answer = call(store, "POST", DEPLOYMENTS, deployment())
    assert reason(answer) == (422, "Invalid")
    store.admission.append(resize)
    spec = call(store, "POST", DEPLOYMENTS, deployment()).json()["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["resources"]) == (3, {})


def test_a_refusal_has_the_words_of_its_hook(store: Store) -> None:
    def refuse(_: AdmissionReview) -> dict[str, Any]:
        raise Refusal(403, "Forbidden", "not today")

    before = everything(store)
    store.admission.append(refuse)
    answer = call(store, "PATCH", f"{DEPLOYMENTS}/one", deployment(replicas=9), content_type=APPLY, fieldManager="a")
    assert (answer.status, answer.json()["message"]) == (403, "not today")
    assert everything(store) == before


def test_controllers_go_on_where_a_hook_refuses_their_pods() -> None:
    def refuse_pods(review: AdmissionReview) -> dict[str, Any]:
        if review.new["kind"] == "Pod":
            raise Refusal(403, "Forbidden", "exceeded quota: pods")
        return review.new

    store = Store()
    store.admission.append(refuse_pods)
    call(store, "POST", DEPLOYMENTS, deployment())
    Controllers(store.objects).settle()
    assert call(store, "GET", f"{DEPLOYMENTS}/one").json()["status"]["unavailableReplicas"] == 3
