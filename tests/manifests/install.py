"""takara-sync installed on a real server by its own manifests, and its ServiceAccount's identity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from takara_sync.cli.manifests import manifests
from tests.commands.running import Commands
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.server import Server, User
from tests.support.command import loaded

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
WORKLOADS = ("CronJob", "Deployment")


def objects(*argv: str) -> list[Json]:
    """What `takara-sync manifests ARGV` prints."""
    return manifests(loaded(["manifests", *argv])[1])


def without_workload(found: Iterable[Json]) -> list[Json]:
    """Without what would run, and without the CRD, which the control plane has: its Jobs would go on for ever."""
    return [one for one in found if one["kind"] not in (*WORKLOADS, "CustomResourceDefinition")]


def apply(server: Server, found: Iterable[Json], *args: str) -> str:
    """`kubectl apply --server-side` of them."""
    text = yaml.safe_dump_all(found, sort_keys=False)
    return server.kubectl("apply", "--server-side", "-f", "-", *args, stdin=text).stdout


def identity(server: Server, namespace: str = "takara-system", name: str = "takara-sync") -> User:
    """A ServiceAccount of that namespace, with a token as a pod of it gets one."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = server.call("POST", path, body)
    assert answer.status == 201, answer.body
    token = answer.body["status"]["token"]
    config = yaml.safe_load(server.user().kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    kubeconfig = server.folder / f"{name}-of-{namespace}.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))
    kubeconfig.chmod(0o600)
    return User(f"system:serviceaccount:{namespace}:{name}", token, kubeconfig)


class Installed(Commands):
    """Every command as the ServiceAccount of an install namespace, with the variable that its pod has."""

    def __init__(
        self, server: Server, home: str, namespace: str | None = None, *, account: str = "takara-sync"
    ) -> None:
        super().__init__(server, namespace, identity(server, home, account))
        self.last_pass = f"{home}/{account}"

    def environment(self) -> dict[str, str]:
        return super().environment() | {"TAKARA_SYNC_LAST_PASS": self.last_pass}


def tenant(
    server: Server, namespace: str, *roles: str, rules: Mapping[str, list[str]] | None = None, user: User | None = None
) -> User:
    """Somebody with these ClusterRoles in the namespace; `rules`: verbs by resource, `group/resource`."""
    user = user or server.user(admin=False)
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    subjects = [{"kind": "User", "name": user.name, "apiGroup": "rbac.authorization.k8s.io"}]
    refs = [("ClusterRole", name) for name in roles]
    for number, (resource, verbs) in enumerate((rules or {}).items()):
        group, _, name = resource.partition("/")
        rule = {"apiGroups": [group], "resources": [name], "verbs": verbs}
        _post(server, f"{path}/roles", {"metadata": {"name": f"{user.name}-{number}"}, "rules": [rule]})
        refs.append(("Role", f"{user.name}-{number}"))
    for kind, name in refs:
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
        metadata = {"name": f"{user.name}-{kind}-{name}".lower()}
        _post(server, f"{path}/rolebindings", {"metadata": metadata, "roleRef": ref, "subjects": subjects})
    return user


def until(server: Server, user: User, path: str, *, code: int = 200) -> None:
    """Rights take a moment to be known: wait until this user's GET is answered so."""
    wait_until(
        lambda: "" if server.call("GET", path, user=user).status == code else f"{user.name}: {path} is not {code}",
        within=SETTLE_SECONDS,
    )


def _post(server: Server, path: str, body: Json) -> None:
    answer = server.call("POST", path, body)
    assert answer.status == 201, answer.body
