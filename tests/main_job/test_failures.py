"""What cannot be done is said in one sentence, with the code that fits it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.control_plane.server import ControlPlane
from tests.server import User
from tests.support.command import run
from tests.support.takaras import takara
from tests.tool import Called
from tests.world import World

WRONG = "no-such-token"


def _unreadable(kubeconfig: Path, *words: str, args: tuple[str, ...] = ()) -> None:
    """`once` with this kubeconfig ends with 3, and says why in its report and in its log."""
    done = run("once", "--kubeconfig", str(kubeconfig), *args)
    assert done.code == 3, done
    assert "Traceback" not in done.stderr
    assert WRONG not in done.stdout + done.stderr
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

        _unreadable(_changed(world.server.user(), tmp_path, server=server), "connection refused")


def test_a_wrong_token(world: World, tmp_path: Path) -> None:
    _unreadable(_changed(world.server.user(), tmp_path, token=WRONG), "401", "Check the user of the kubeconfig context")


def test_a_certificate_that_nobody_vouches_for(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.user().kubeconfig.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))

    _unreadable(path, "certificate-authority")


def test_a_server_without_the_crd(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    _unreadable(fresh_control_plane(crd=False).user().kubeconfig, "Install the CRD")


def test_missing_rights_name_the_verb_the_resource_and_the_namespace(control_plane: ControlPlane) -> None:
    world = World(control_plane, control_plane.namespace())
    nobody = control_plane.user(admin=False)

    args = ("-n", world.namespace)
    _unreadable(nobody.kubeconfig, "list", "deployments", world.namespace, args=args)


def test_a_takara_that_is_refused_fails_alone(control_plane: ControlPlane) -> None:
    world = World(control_plane, control_plane.namespace())
    tool = Called(control_plane, world.namespace)
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
