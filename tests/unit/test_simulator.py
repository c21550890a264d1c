"""The simulator's store as a function: what the contract suite, which runs on both servers, cannot ask."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.simulator import Answer, Asked, Controllers, Request, Store
from takara_sync.simulator.fields import Entry, Paths, decode, encode
from takara_sync.simulator.patches import json_patch, merge_patch, strategic_patch
from tests.contract.talk import deployment, takara

if TYPE_CHECKING:
    from collections.abc import Iterator

TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def call(store: Store, method: str, path: str, body: Any = None, **how: Any) -> Answer:
    query = "&".join(f"{name}={how.pop(name)}" for name in ("fieldManager", "dryRun", "watch") if name in how)
    return store.handle(Request.of(method, f"{path}?{query}", body, **how))


def reason(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json()["reason"]


def test_any_token_is_the_user_of_that_name() -> None:
    store = Store()
    call(store, "GET", TAKARAS, user="somebody")
    call(store, "GET", TAKARAS)
    assert [one.user for one in store.requests] == ["somebody", "system:anonymous"]


def test_with_a_set_of_tokens_others_are_401() -> None:
    store = Store(tokens={"secret": "somebody"})
    assert call(store, "GET", TAKARAS, user="secret").status == 200
    for token in ("", "other"):
        assert reason(call(store, "GET", TAKARAS, user=token)) == (401, "Unauthorized")
    assert [(one.user, one.status) for one in store.requests] == [("somebody", 200), ("", 401), ("", 401)]


def test_a_denial_hook_sees_verb_resource_and_place() -> None:
    seen: list[Asked] = []

    def deny(asked: Asked) -> bool:
        seen.append(asked)
        return asked.resource == "takaras/status"

    store = Store(deny=deny)
    call(store, "POST", TAKARAS, takara(), user="u")
    patch = call(store, "PATCH", f"{TAKARAS}/one/status", {}, user="u", content_type="application/merge-patch+json")
    assert reason(patch) == (403, "Forbidden")
    assert seen == [
        Asked("u", "create", "maho.takara.org", "takaras", "default", ""),
        Asked("u", "patch", "maho.takara.org", "takaras/status", "default", "one"),
    ]


def test_without_the_crd_takaras_are_a_plain_404() -> None:
    answer = call(Store(crd=False), "GET", TAKARAS)
    assert (answer.status, answer.body) == (404, b"404 page not found\n")


@pytest.mark.parametrize("size", [-1, None, "3", 2**31, 1.5, True])
def test_a_crd_without_a_schema_lets_everything_in(size: Any) -> None:
    store = Store(crd="schemaless")
    made = call(store, "POST", TAKARAS, takara(size=size, colour="red")).json()
    assert made["spec"] == {"size": size, "colour": "red"}
    assert "status" not in made
    patch = [{"op": "test", "path": "/status", "value": None}, {"op": "add", "path": "/status", "value": {"nodes": []}}]
    answer = call(store, "PATCH", f"{TAKARAS}/one/status", patch, content_type="application/json-patch+json")
    assert answer.json()["status"] == {"nodes": []}


@pytest.mark.parametrize("path", [TAKARAS, DEPLOYMENTS])
def test_a_watch_says_in_one_line_that_it_is_not_served(path: str) -> None:
    answer = call(Store(), "GET", path, watch="true")
    assert reason(answer) == (501, "NotImplemented")
    assert answer.json()["message"] == "watch is not served by the takara-sync simulator"


def test_more_that_is_not_served() -> None:
    store = Store()
    pods = DEPLOYMENTS.replace("apis/apps", "api").replace("deployments", "pods")
    apply = call(store, "PATCH", f"{pods}/one", {}, fieldManager="a", content_type="application/apply-patch+yaml")
    assert reason(apply) == (501, "NotImplemented")
    assert reason(call(store, "DELETE", "/api/v1/namespaces/default")) == (501, "NotImplemented")


def test_a_seed_makes_it_repeatable() -> None:
    def one() -> bytes:
        store = Store(now=Clock(), seed=7)
        call(store, "POST", DEPLOYMENTS, deployment())
        Controllers(store.objects).settle()
        return call(store, "GET", "/api/v1/pods").body

    assert one() == one()


paths: st.SearchStrategy[Paths] = st.frozensets(
    st.lists(st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"']), min_size=1, max_size=4).map(tuple), min_size=1
)


@given(paths)
def test_fields_survive_being_written_and_read(some: Paths) -> None:
    entry = Entry("m", "Apply", "v1", paths=some)
    (encoded,) = encode([entry])
    (found,) = decode([json.loads(json.dumps(encoded))])
    assert found == entry


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, json_values)
def test_patches_leave_their_target_as_it_was(target: Any, patch: Any) -> None:
    before = json.dumps(target)
    merge_patch(target, patch)
    strategic_patch(target, patch)
    json_patch(target, [{"op": "add", "path": "", "value": patch}])
    assert json.dumps(target) == before


ODD: list[Any] = [None, True, -1, 1.5, "x", "", [], {}, [None], [5], ["x"], [{}], {"a": None}, {"a": [5]}]
KINDS = ("apply-patch+yaml", "json-patch+json", "merge-patch+json", "strategic-merge-patch+json")
RICH: dict[str, Any] = {
    "finalizers": ["example.org/a"],
    "annotations": {"a": "b"},
    "ownerReferences": [{"uid": "u"}],
    "generateName": "g",
}


def variants(value: Any) -> Iterator[Any]:
    """The value with each of its parts replaced by each odd one."""
    yield from ODD
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        for other in variants(part):
            changed = value.copy()
            changed[key] = other
            yield changed


@pytest.mark.parametrize("plural", ["takaras", "deployments", "reviews", "scale", "status"])
def test_whatever_is_sent_is_answered(plural: str) -> None:
    store = Store()
    call(store, "POST", TAKARAS, takara())
    call(store, "POST", DEPLOYMENTS, deployment())
    path, body = {
        "takaras": (TAKARAS, {**takara(size=1, template={"a": [{}]}), "status": {"conditions": [{"type": "a"}]}}),
        "deployments": (DEPLOYMENTS, deployment(**RICH)),
        "reviews": (REVIEWS, {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
        "scale": (f"{DEPLOYMENTS}/one/scale", {"metadata": {"uid": "u"}, "spec": {"replicas": 1}}),
        "status": (f"{TAKARAS}/one/status", {**takara(), "status": {"conditions": [{"type": "a"}], "nodes": ["a"]}}),
    }[plural]
    for odd in variants(body):
        call(store, "POST", path, odd)
        call(store, "DELETE", f"{path}/nobody", odd)
        for at in (path, f"{path}/one"):
            call(store, "PUT", at, odd)
            for kind in KINDS:
                call(store, "PATCH", at, odd, content_type=f"application/{kind}", fieldManager="a", dryRun="All")
    Controllers(store.objects).settle()


@pytest.mark.parametrize("odd", ODD)
def test_odd_operations_of_a_json_patch_are_refused(odd: Any) -> None:
    store = Store()
    call(store, "POST", TAKARAS, takara())
    for operation in variants({"op": "add", "path": "/spec/size", "value": 1, "from": "/spec"}):
        call(store, "PATCH", f"{TAKARAS}/one", [operation, odd], content_type="application/json-patch+json")


@pytest.mark.parametrize("value", [*ODD, [{"manager": 5}], [{"manager": "a", "operation": "b", "apiVersion": "c"}]])
def test_odd_managed_fields_never_break_what_follows(value: Any) -> None:
    store = Store()
    call(store, "POST", DEPLOYMENTS, deployment())
    patch = {"metadata": {"managedFields": value}}
    call(store, "PATCH", f"{DEPLOYMENTS}/one", patch, content_type="application/merge-patch+json")
    kind = "application/apply-patch+yaml"
    apply = call(store, "PATCH", f"{DEPLOYMENTS}/one", deployment(), content_type=kind, fieldManager="a")
    assert apply.status == 200


def test_a_refused_write_leaves_everything_as_it_was() -> None:
    store = Store()
    call(store, "POST", TAKARAS, takara())
    before = call(store, "GET", TAKARAS).body
    patch = [{"op": "replace", "path": "/spec/size", "value": 9}, {"op": "test", "path": "/spec/size", "value": 1}]
    answer = call(store, "PATCH", f"{TAKARAS}/one", patch, content_type="application/json-patch+json")
    assert answer.status == 422
    assert call(store, "GET", TAKARAS).body == before


def test_the_package_does_not_load_the_simulator() -> None:
    program = "import sys, takara_sync; sys.exit('takara_sync.simulator' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_simulator_loads_no_kubernetes_client_until_it_is_used() -> None:
    program = "import sys, takara_sync.simulator; sys.exit('kubernetes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
