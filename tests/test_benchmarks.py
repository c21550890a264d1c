"""A small run of the benchmark: its floor must do the work of takara-sync, and what it saves must be what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.__main__ import main
from benchmarks.cluster import Cluster
from benchmarks.contestants import FLOOR, Contestant, floor, takara_sync
from benchmarks.course import Effort, measure

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import pytest


def test_the_floor_makes_the_deployments_of_takara_sync(control_plane_assets: Path) -> None:
    by_floor, requests_of_floor = _cold(control_plane_assets, Contestant(FLOOR, floor("apply")))
    by_us, requests_of_ours = _cold(control_plane_assets, takara_sync())
    assert by_floor == by_us
    assert requests_of_floor == {"list takaras": 1, "patch deployments": 3}
    lists = {"list deployments": 1, "list pods": 1}
    assert requests_of_ours == requests_of_floor | lists | {"patch takaras/status": 3, "create events": 3}


def test_what_is_saved_is_what_is_printed(
    control_plane_assets: Path,  # noqa: ARG001 - skipped without them
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved = tmp_path / "results.json"
    assert main(["--sizes", "3", "--contestants", "floor", "--runs", "1", "--json", str(saved)]) == 0
    printed = capsys.readouterr().out
    assert "cold: Deployments right" in printed
    assert main(["--read", str(saved)]) == 0
    assert capsys.readouterr().out == printed


def _cold(assets: Path, contestant: Contestant) -> tuple[list[Any], dict[str, int]]:
    with Cluster(assets, 3) as cluster:
        (cold,) = measure(cluster, contestant, Effort(runs=1, patience=0, rest=0), whole=False)
        made = cluster.deployments()
    return [(one["metadata"]["name"], one["metadata"]["labels"], one["spec"]) for one in made], cold.requests
