"""What is read from the API server: what cannot be used is found out early, and costs only itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from takara_sync.objects import Deployment
from tests.unit.build import decoded, deployment_json, takara


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
