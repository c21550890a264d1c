"""The same on a real API server, which decides itself who somebody is and what that one may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.poison.refusing import ended

if TYPE_CHECKING:
    from pathlib import Path

    from tests.control_plane.server import ControlPlane

GROUPS = {"as-groups": ["system:masters"]}
USERS: dict[str, dict[str, Any]] = {
    "a token": {},
    "an unknown token": {"token": "nobody"},
    "no token": {"token": ""},
    "as somebody without rights": {"as": "jane"},
    "as somebody with a group": {"as": "jane"} | GROUPS,
    "as a group of nobody": GROUPS,
}


@pytest.mark.parametrize("what", USERS)
def test_the_same_rights(control_plane: ControlPlane, namespace: str, tmp_path: Path, what: str) -> None:
    user = control_plane.user()
    config = yaml.safe_load(user.kubeconfig.read_text())
    config["users"][0]["user"] |= USERS[what]
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))
    flag = f"--kubeconfig={path}"
    kubectl = control_plane.kubectl(flag, "get", "takaras", "--namespace", namespace, check=False)
    code, _, _ = ended(["once", flag, "--namespace", namespace])
    assert (kubectl.code == 0) == (code == 0), f"{kubectl.stderr} {code}"
