"""What is read from the API server: what cannot be used is found out early, and costs only itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from takara_sync.objects import Deployment, Pod, PodItem, Takara
from tests.unit.build import Json, condition, decoded, deployment_json, pod_json, settled, takara


@pytest.mark.parametrize("replicas", ["3", 2.5, {}, None])
def test_replicas_that_are_no_number_are_found_out_while_decoding(replicas: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(Deployment, deployment_json(replicas=replicas))


def test_a_deployment_without_replicas_has_the_servers_default() -> None:
    live = deployment_json()
    del live["spec"]["replicas"]
    assert decoded(Deployment, live).replicas == 1


@pytest.mark.parametrize("spec", ["3", [3], 3, {}])
def test_a_spec_without_size_has_none(spec: Any) -> None:
    assert takara(spec=spec).size is None


@pytest.mark.parametrize("status", [{}, {"deployment": None}, {"deployment": "text"}, {"deployment": {"format": "1"}}])
def test_a_record_that_cannot_be_used_is_an_empty_one(status: Any) -> None:
    assert takara(status=status).applied == takara().applied


LIVE = deployment_json(annotations={"a": "b"}, status={"conditions": [], "replicas": 1})


@pytest.mark.parametrize(("kind", "value"), [(Deployment, LIVE), (Takara, settled())])
def test_nothing_that_is_kept_is_a_view_into_the_response(kind: Any, value: Json) -> None:
    response = bytearray(msgspec.json.encode(value))
    found = msgspec.json.decode(response, type=kind)
    response.clear()  # a BufferError while there is a view
    assert found.key.name == "one"


def test_conditions_are_kept_while_they_say_what_is_missing() -> None:
    counts = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}
    late = condition("Progressing", "False", "ProgressDeadlineExceeded")
    for missing in (None, *counts):
        status = {name: 0 if name == missing else count for name, count in counts.items()} | {"conditions": [late]}
        live = decoded(Deployment, deployment_json(status=status))
        assert live.is_complete is (missing is None)
        assert (live.status.condition("Progressing") is None) is (missing is None)


def test_what_a_status_needs_of_a_deployment() -> None:
    live = decoded(Deployment, deployment_json(replicas=7, status={"replicas": 2}))
    lean = live.without_manifest()
    assert (lean.key, lean.uid, lean.replicas, lean.status) == (live.key, live.uid, 7, live.status)
    assert (lean.metadata.resource_version, lean.metadata.generation) == ("10", 1)
    assert (lean.managed_fields, lean.controller) == ((), None)


@pytest.mark.parametrize(
    ("metadata", "owner", "expected"),
    [
        ({}, {}, Pod("p", "ns", "one", "5d9c7", "one-5d9c7")),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}, Pod("p", "ns", "one", "5d9c7", "one-5d9c7", deleting=True)),
        ({"labels": None}, {}, Pod("p", "ns", replica_set="one-5d9c7")),
        ({}, {"kind": "Job"}, Pod("p", "ns", "one", "5d9c7")),
        ({}, {"apiVersion": "v1"}, Pod("p", "ns", "one", "5d9c7")),
        ({}, {"controller": False}, Pod("p", "ns", "one", "5d9c7")),
    ],
)
def test_what_is_kept_of_a_pod(metadata: Json, owner: Json, expected: Pod) -> None:
    found = pod_json("one", "p", **metadata)
    found["metadata"]["ownerReferences"][0] |= owner
    assert decoded(PodItem, found).pod() == expected
