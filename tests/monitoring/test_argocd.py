"""The health check of Argo CD, run by the Lua that Argo CD has (5.1), on what passes write into Takaras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from lupa.lua51 import LuaRuntime

from takara_sync.pytest_plugin import TakaraCluster
from tests.support.takaras import takara

SETTINGS = Path(__file__).parents[2] / "k8s" / "monitoring" / "argocd-cm.yaml"
PAUSED = {"maho.takara.org/paused": "true"}


def health(found: dict[str, Any]) -> tuple[str, str]:
    """The status and message that Argo CD shows."""
    check = yaml.safe_load(SETTINGS.read_text())["data"]["resource.customizations.health.maho.takara.org_Takara"]
    lua: Any = LuaRuntime(unpack_returned_tuples=True)  # its stubs know no global and no result
    lua.globals().obj = lua.table_from(found, recursive=True)
    result = lua.execute(check)
    return str(result["status"]), str(result["message"])


def test_from_the_first_pass_to_ready(takara_cluster: TakaraCluster) -> None:
    takara_cluster.create(takara("one", 2))
    assert health(takara_cluster.get("Takara", "one"))[0] == "Progressing"
    takara_cluster.sync()
    assert health(takara_cluster.get("Takara", "one"))[0] == "Progressing"
    takara_cluster.settle()
    takara_cluster.sync()
    assert health(takara_cluster.get("Takara", "one"))[0] == "Healthy"
    takara_cluster.patch("Takara", "one", {"spec": {"size": 3}})
    assert health(takara_cluster.get("Takara", "one")) == (
        "Progressing",
        "takara-sync has not seen this version of the Takara yet",
    )


def test_who_needs_a_person_is_degraded(takara_cluster: TakaraCluster) -> None:
    takara_cluster.create(takara("too-large", 2000))
    takara_cluster.sync()
    status, message = health(takara_cluster.get("Takara", "too-large"))
    assert status == "Degraded"
    assert "2000" in message


def test_a_paused_takara_that_differs_is_suspended(takara_cluster: TakaraCluster) -> None:
    takara_cluster.create(takara("one", 2))
    takara_cluster.sync()
    takara_cluster.settle()
    takara_cluster.patch("Takara", "one", {"metadata": {"annotations": PAUSED}, "spec": {"size": 5}})
    takara_cluster.sync()
    assert health(takara_cluster.get("Takara", "one"))[0] == "Suspended"


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ({"metadata": {"generation": 1}}, "Progressing"),
        ({"metadata": {"generation": 1}, "status": {}}, "Progressing"),
        ({"metadata": {"generation": 1}, "status": {"observedGeneration": 1}}, "Progressing"),
        ({"metadata": {"generation": 1, "deletionTimestamp": "x"}, "status": {"observedGeneration": 1}}, "Progressing"),
    ],
)
def test_an_unusual_status_is_no_error(found: dict[str, Any], status: str) -> None:
    assert health(found)[0] == status
