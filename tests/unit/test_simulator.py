"""The simulator's store as a function: what the contract suite, which runs on both servers, cannot ask."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.simulator import Answer, Controllers, Request, Store
from takara_sync.simulator.fields import Entry, Paths, decode, encode
from takara_sync.simulator.patches import PATCHES
from tests.contract.talk import deployment, takara

TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
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


def test_a_seed_makes_it_repeatable() -> None:
    def one() -> bytes:
        store = Store(now=Clock(), seed=7)
        call(store, "POST", DEPLOYMENTS, deployment())
        Controllers(store).settle()
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
    for kind, apply in PATCHES.items():
        apply(target, [{"op": "add", "path": "", "value": patch}] if "json-patch" in kind else patch)
    assert json.dumps(target) == before


def test_the_package_does_not_load_the_simulator() -> None:
    program = "import sys, takara_sync; sys.exit('takara_sync.simulator' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_simulator_loads_no_kubernetes_client_until_it_is_used() -> None:
    program = "import sys, takara_sync.simulator; sys.exit('kubernetes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
