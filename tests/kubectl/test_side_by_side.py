"""For each row of the table: both commands reach the server as the same user and by the same way, or neither does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import tenacity

from takara_sync.kube import api as api_module
from tests.kubectl import rows_kubeconfig, rows_network, rows_plugins
from tests.kubectl.place import Place, Servers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.kubectl.table import Row

ROWS = [*rows_kubeconfig.ROWS, *rows_network.ROWS, *rows_plugins.ROWS]
SHORT = 50
"""How many rows every test run takes, drawn from its seed."""


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_module, "BACKOFF", tenacity.wait_none())


def test_the_table() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names)) >= 120


@pytest.mark.parametrize("half", [0, 1])
def test_a_part_of_the_table(
    servers: Servers,
    control_plane_assets: Path,
    tmp_path: Path,
    seed: int,
    long: bool,
    half: int,
    count: Callable[[str, int], None],
) -> None:
    """With --long all of it."""
    some = ROWS if long else random.Random(seed).sample(ROWS, SHORT)  # noqa: S311 - trials, no secrets
    problems: list[str] = []
    for number, row in enumerate(some[half::2]):
        problems += compare(tmp_path / str(number), row, servers, control_plane_assets)
    assert not problems, "\n".join(problems)
    count("rows beside kubectl", len(some[half::2]))


def compare(folder: Path, row: Row, servers: Servers, assets: Path) -> Iterator[str]:
    """What is wrong with this row."""
    folder.mkdir()
    place = Place(folder, row, servers)
    place.prepare()
    expected, words = place.kubectl(assets / "kubectl")
    found, code, said = place.takara_sync()
    if (found == expected) == bool(row.differs):
        both = f"kubectl {sorted(expected)}, takara-sync {sorted(found)}"
        yield f"{row.name}: {both}\n    {words[-300:]}\n    {said[-400:]}"
    if bool(found) != (code in (0, 1)):
        yield f"{row.name}: exit code {code}: {said[-400:]}"
    if not found and (code not in (2, 3) or "Traceback" in said):
        yield f"{row.name}: {code} {said[-1000:]}"
