"""What cannot be done is said in one sentence, with the code that fits it."""

from __future__ import annotations

import socket
import subprocess
from typing import TYPE_CHECKING

import yaml

from tests.tool import COMMAND, Tool
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.control_plane.server import ControlPlane
    from tests.server import User

WRONG = "no-such-token"


def _once(kubeconfig: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "once", "--kubeconfig", str(kubeconfig), *args],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _unreadable(done: subprocess.CompletedProcess[str], *words: str) -> None:
    said = done.stdout + done.stderr
    assert done.returncode == 3, said
    assert "Traceback" not in said
    for word in words:
        assert word in done.stdout
        assert word in done.stderr


def _changed(user: User, folder: Path, **cluster_or_user: str) -> Path:
    """The user's kubeconfig with another server or another token."""
    config = yaml.safe_load(user.kubeconfig.read_text())
    if server := cluster_or_user.get("server"):
        config["clusters"][0]["cluster"]["server"] = server
    if token := cluster_or_user.get("token"):
        config["users"][0]["user"] = {"token": token}
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


def test_a_dead_port(world: World, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        server = f"https://127.0.0.1:{unused.getsockname()[1]}"

        _unreadable(_once(_changed(world.server.user(), tmp_path, server=server)), "connection refused")


def test_a_wrong_token(world: World, tmp_path: Path) -> None:
    done = _once(_changed(world.server.user(), tmp_path, token=WRONG))

    _unreadable(done, "401", "Check the user of the kubeconfig context")
    assert WRONG not in done.stdout + done.stderr


def test_a_certificate_that_nobody_vouches_for(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.user().kubeconfig.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))

    _unreadable(_once(path), "certificate-authority")


def test_a_server_without_the_crd(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    _unreadable(_once(fresh_control_plane(crd=False).user().kubeconfig), "Install the CRD")


def test_missing_rights_name_the_verb_the_resource_and_the_namespace(control_plane: ControlPlane) -> None:
    world = World(control_plane, control_plane.namespace())
    nobody = control_plane.user(admin=False)

    _unreadable(_once(nobody.kubeconfig, "-n", world.namespace), "list", "deployments", world.namespace)


def test_a_takara_that_is_refused_fails_alone(control_plane: ControlPlane) -> None:
    world = World(control_plane, control_plane.namespace())
    tool = Tool(control_plane, world.namespace)
    world.create(takara("a-good", 1), takara("refused", 1), takara("z-good", 1))
    expression = 'object.metadata.name != "refused"'
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": world.namespace},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}},
                "resourceRules": [
                    {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}
                ],
            },
            "validations": [{"expression": expression, "message": "not on my watch"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": world.namespace},
        "spec": {"policyName": world.namespace, "validationActions": ["Deny"]},
    }
    admission = "/apis/admissionregistration.k8s.io/v1"
    world.call("POST", f"{admission}/validatingadmissionpolicies", policy)
    world.call("POST", f"{admission}/validatingadmissionpolicybindings", binding)
    probe = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "refused"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments?dryRun=All"
    while control_plane.call("POST", path, probe).status != 422:  # a policy takes a moment to be enforced
        pass

    first = tool.once()

    assert first.code == 1
    assert first.results == {"a-good": "created", "refused": "failed", "z-good": "created"}
    stalled = world.condition("refused", "Stalled")
    assert stalled["reason"] == "ApplyFailed"
    assert "not on my watch" in stalled["message"]
    assert "refused" in first.log[-1]["message"]

    world.call("DELETE", f"{admission}/validatingadmissionpolicybindings/{world.namespace}")
    while control_plane.call("POST", path, probe).status == 422:
        pass
    assert tool.converge().results["refused"] == "created"
    assert world.condition("refused", "Stalled")["status"] == "False"
