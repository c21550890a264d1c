"""The simulator's state as a test handles it: going back to a moment, objects stored as given, admission hooks."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.simulator import Controllers, Refusal, Store
from tests.contract.talk import APPLY, deployment, takara
from tests.unit.test_simulator import DEPLOYMENTS, TAKARAS, Clock, call, reason

EVERYTHING = (TAKARAS, DEPLOYMENTS, "/apis/apps/v1/replicasets", "/api/v1/pods", "/api/v1/namespaces")


def everything(store: Store) -> list[Any]:
    return [call(store, "GET", path).json() for path in EVERYTHING]


def live_on(store: Store) -> list[Any]:
    """A few changes of every kind, and what they lead to."""
    call(store, "PATCH", f"{DEPLOYMENTS}/one", deployment(replicas=2), content_type=APPLY, fieldManager="a")
    call(store, "DELETE", f"{TAKARAS}/one")
    call(store, "POST", TAKARAS, takara("two"))
    Controllers(store).settle()
    return everything(store)


@pytest.fixture
def store() -> Store:
    found = Store(now=Clock(), seed=7)
    call(found, "POST", TAKARAS, takara())
    call(found, "PATCH", f"{DEPLOYMENTS}/one", deployment(), content_type=APPLY, fieldManager="a")
    Controllers(found).settle()
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
    store.admission.append(lambda new: new)
    call(store, "GET", TAKARAS)
    store.restore(snapshot)
    assert (len(store.requests), len(store.admission)) == (1, 1)


def test_hooks_follow_each_other_and_what_they_return_is_completed_and_checked() -> None:
    def shorten(new: dict[str, Any]) -> dict[str, Any]:
        del new["spec"]["template"]["spec"]["containers"][0]["resources"]
        return new

    def resize(new: dict[str, Any]) -> dict[str, Any]:
        return new | {"spec": new["spec"] | {"replicas": new["spec"]["replicas"] * -1}}

    store = Store()
    store.admission += [shorten, resize]
    answer = call(store, "POST", DEPLOYMENTS, deployment())
    assert reason(answer) == (422, "Invalid")
    store.admission.append(resize)
    spec = call(store, "POST", DEPLOYMENTS, deployment()).json()["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["resources"]) == (3, {})


def test_a_refusal_has_the_words_of_its_hook(store: Store) -> None:
    def refuse(_: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(403, "Forbidden", "not today")

    before = everything(store)
    store.admission.append(refuse)
    answer = call(store, "PATCH", f"{DEPLOYMENTS}/one", deployment(replicas=9), content_type=APPLY, fieldManager="a")
    assert (answer.status, answer.json()["message"]) == (403, "not today")
    assert everything(store) == before


def test_controllers_go_on_where_a_hook_refuses_their_pods() -> None:
    def refuse_pods(new: dict[str, Any]) -> dict[str, Any]:
        if new["kind"] == "Pod":
            raise Refusal(403, "Forbidden", "exceeded quota: pods")
        return new

    store = Store()
    store.admission.append(refuse_pods)
    call(store, "POST", DEPLOYMENTS, deployment())
    Controllers(store).settle()
    assert call(store, "GET", f"{DEPLOYMENTS}/one").json()["status"]["unavailableReplicas"] == 3
