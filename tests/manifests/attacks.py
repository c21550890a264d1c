"""What somebody with the token of takara-sync may try, and what a pass does with the same token. All as dry runs.

`changes` are (path, value): the path is also how a refusal names the key, a value of None removes the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from tests.manifests.pods import DEFAULT, OTHER_PODS, deployment
from tests.server import Answer, Server, User
from tests.world import Json, World, owner_reference, takara

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"

Path = tuple[str, ...]

_SIDE = {"name": "side", "image": "side", "env": [{"name": "A", "value": "1"}]}
_OTHER = {"name": "other", "image": "evil"}
_TOLERATION = {"key": "a", "operator": "Exists"}
_RESTRICTED = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}

TAKARA = "containers[takara]"
SPEC = ("spec", "template", "spec")
META = ("spec", "template", "metadata")
MAIN = (*SPEC, TAKARA)

DRESSED: tuple[tuple[Path, Any], ...] = (
    (("metadata", "labels", "team"), "a"),
    (("metadata", "annotations", "team"), "a"),
    (("metadata", "finalizers"), ["example.com/keep"]),
    (("spec", "minReadySeconds"), 5),
    ((*META, "labels", "team"), "a"),
    ((*META, "annotations", "team"), "a"),
    ((*SPEC, "nodeSelector", "disk"), "ssd"),
    ((*SPEC, "tolerations"), [_TOLERATION]),
    ((*SPEC, "securityContext"), _RESTRICTED),
    ((*SPEC, "priorityClassName"), "low"),
    ((*SPEC, "containers[side]"), _SIDE),
    ((*MAIN, "env"), [{"name": "A", "value": "1"}]),
    ((*MAIN, "resources", "limits", "memory"), "1Gi"),
    ((*MAIN, "securityContext", "readOnlyRootFilesystem"), True),
    ((*MAIN, "securityContext", "capabilities", "drop"), ["ALL"]),
)
"""What people put into the Deployment of a Takara, which a pass leaves as it is."""


def changed(body: Json, *changes: tuple[Path, Any]) -> Json:
    """A copy of a Deployment with each path set to its value, or without it where that is None."""
    made: Json = json.loads(json.dumps(body))  # no part of it is another part too, as in deepcopy
    for path, value in changes:
        at: Any = made
        for step in path[:-1]:
            at = _item(at["containers"], step[11:-1]) if step.startswith("containers[") else at.setdefault(step, {})
        _set(at, path[-1], deepcopy(value))
    return made


def _set(at: Json, step: str, value: Any) -> None:
    if step.startswith("containers["):
        others = [each for each in at["containers"] if each["name"] != step[11:-1]]
        at["containers"] = others if value is None else [*others, value]
    elif value is None:
        at.pop(step, None)
    else:
        at[step] = value


def _item(containers: list[Json], name: str) -> Json:
    return next(each for each in containers if each["name"] == name)


def key(path: Path) -> str:
    """A path as a refusal names it."""
    return ".".join(path)


def replaced(body: Json) -> list[Json]:
    """The JSON patch that replaces the metadata and the spec of a live Deployment by those of this one."""
    kept = ("labels", "annotations", "finalizers", "ownerReferences")
    patch = [{"op": "add", "path": f"/metadata/{one}", "value": body["metadata"].get(one)} for one in kept]
    return [*patch, {"op": "replace", "path": "/spec", "value": body["spec"]}]


class Thief:
    """Somebody with a user's token in one namespace, which has a Takara `one` with its Deployment."""

    def __init__(self, server: Server, user: User, namespace: str | None = None) -> None:
        self.world = World(server, namespace or server.namespace())
        self.user = user
        (self.owner,) = self.world.create(takara("one"))
        self.mine = owner_reference(self.owner)
        self.path = f"/apis/apps/v1/namespaces/{self.world.namespace}/deployments"

    def create(self, body: Json, *, dry: bool = False) -> Answer:
        return self.world.server.call("POST", f"{self.path}{'?dryRun=All' if dry else ''}", body, user=self.user)

    def patch(self, name: str, body: Any, kind: str = MERGE, *, dry: bool = False) -> Answer:
        query = f"fieldManager=takara-sync{'&force=true' if kind == APPLY else ''}{'&dryRun=All' if dry else ''}"
        path = f"{self.path}/{name}?{query}"
        return self.world.server.call("PATCH", path, body, content_type=kind, user=self.user)

    def given(self, *owners: Json, **body: Any) -> Json:
        """The Deployment `one`, there already, made by an admin."""
        return self.world.post_deployment(deployment("one", *owners, **body))

    def update(self, name: str, *changes: tuple[Path, Any]) -> Answer:
        """A dry run that replaces the metadata and the spec of the live Deployment by changed ones."""
        return self.patch(name, replaced(changed(self.world.deployment(name), *changes)), JSON_PATCH, dry=True)


class Attack(NamedTuple):
    """One attack: what it is, what the refusal names, and the answer to it."""

    what: str
    named: str
    answer: Answer


OWNER = "whose controller is the Takara of the same name"
SELECT = "may only select the pods of the Takara of the same name"

# What makes an owner reference to the Takara `one` none that makes a Deployment `one` its own.
OTHER_OWNERS: dict[str, Json] = {
    "no controller": {"controller": False},
    "another name": {"name": "two"},
    "another kind": {"kind": "Other"},
    "another version": {"apiVersion": "maho.takara.org/v9"},
    "another group": {"apiVersion": "maho.takara.org.evil/v1alpha1"},
    "a longer group": {"apiVersion": "x.maho.takara.org/v1alpha1"},
    "the core group": {"apiVersion": "v1"},
}

_SECOND = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "00000000-0000-0000-0000-000000000001"}

OUTSIDE: tuple[tuple[Path, Any], ...] = (
    (("metadata", "labels", "role"), "db"),
    (("metadata", "annotations", "owner"), "me"),
    (("metadata", "annotations", "maho.takara.org.evil/x"), "me"),
    (("metadata", "finalizers"), ["example.com/mine"]),
    (("spec", "paused"), True),
    (("spec", "strategy"), {"type": "Recreate"}),
    (("spec", "minReadySeconds"), 9),
    (("spec", "revisionHistoryLimit"), 0),
    (("spec", "progressDeadlineSeconds"), 700),
)
"""What no pass writes outside of the pod template."""

INSIDE: tuple[tuple[Path, Any], ...] = (
    ((*META, "labels", "role"), "db"),
    ((*META, "annotations", "inject.example/template"), "evil"),
    ((*SPEC, "hostNetwork"), True),
    ((*SPEC, "hostPID"), True),
    ((*SPEC, "serviceAccountName"), "admin"),
    ((*SPEC, "nodeName"), "control-plane"),
    ((*SPEC, "terminationGracePeriodSeconds"), 1),
    ((*SPEC, "automountServiceAccountToken"), True),
    ((*SPEC, "volumes"), [{"name": "host", "hostPath": {"path": "/"}}]),
    ((*SPEC, "initContainers"), [_OTHER]),
    ((*SPEC, "containers[other]"), _OTHER),
    ((*SPEC, "securityContext", "runAsUser"), 0),
    ((*SPEC, "securityContext", "supplementalGroups"), [1]),
    ((*MAIN, "image"), "evil"),
    ((*MAIN, "command"), ["sh"]),
    ((*MAIN, "args"), ["1"]),
    ((*MAIN, "imagePullPolicy"), "Never"),
    ((*MAIN, "envFrom"), [{"secretRef": {"name": "s"}}]),
    ((*MAIN, "lifecycle"), {"postStart": {"exec": {"command": ["sh"]}}}),
    ((*MAIN, "livenessProbe"), {"exec": {"command": ["sh"]}}),
    ((*MAIN, "ports"), [{"containerPort": 80}]),
    ((*MAIN, "securityContext", "allowPrivilegeEscalation"), True),
    ((*MAIN, "securityContext", "runAsUser"), 0),
    ((*MAIN, "securityContext", "capabilities", "add"), ["SYS_ADMIN"]),
    ((*SPEC, "resourceClaims"), [{"name": "gpu", "resourceClaimName": "gpu"}]),
)
"""What no pass writes in the pod template."""

WEAKENED: tuple[tuple[Path, Any], ...] = (
    ((*SPEC, "nodeSelector", "disk"), "hdd"),
    ((*SPEC, "securityContext", "runAsNonRoot"), False),
    ((*SPEC, "securityContext", "seccompProfile"), {"type": "Unconfined"}),
    ((*SPEC, "containers[side]"), _SIDE | {"image": "evil"}),
    ((*SPEC, "containers[side]"), _SIDE | {"image": DEFAULT["image"], "command": DEFAULT["command"]}),
    ((*MAIN, "image"), "side"),
    ((*MAIN, "env"), [{"name": "A", "value": "2"}]),
    ((*MAIN, "resources", "limits", "memory"), "9Gi"),
    ((*MAIN, "securityContext", "readOnlyRootFilesystem"), False),
    ((*MAIN, "securityContext", "capabilities", "drop"), ["NET_RAW"]),
)
"""What people set, with another value."""

ADDED: tuple[tuple[Path, Any], ...] = (
    (("metadata", "annotations", "autopilot.gke.io/resource-adjustment"), "{}"),
    ((*SPEC, "affinity"), {"podAntiAffinity": {}}),
    ((*SPEC, "nodeSelector", "arch"), "amd64"),
    ((*SPEC, "tolerations"), [_TOLERATION, {"key": "b", "operator": "Exists"}]),
    ((*SPEC, "topologySpreadConstraints"),
     [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]),
    ((*SPEC, "imagePullSecrets"), [{"name": "mirror"}]),
    ((*SPEC, "automountServiceAccountToken"), False),
    ((*SPEC, "hostUsers"), False),
    ((*SPEC, "enableServiceLinks"), False),
    ((*SPEC, "securityContext", "runAsUser"), 1000),
    ((*SPEC, "securityContext", "fsGroup"), 2000),
    ((*SPEC, "securityContext", "appArmorProfile"), {"type": "RuntimeDefault"}),
    ((*MAIN, "resources", "limits", "cpu"), "1"),
    ((*MAIN, "resources", "requests", "memory"), "1Mi"),
    ((*MAIN, "securityContext", "runAsNonRoot"), True),
    ((*MAIN, "securityContext", "privileged"), False),
    ((*MAIN, "securityContext", "allowPrivilegeEscalation"), False),
    ((*MAIN, "securityContext", "seccompProfile"), {"type": "RuntimeDefault"}),
)  # fmt: skip
"""What webhooks and policies add: harmless, so it may be added to what a pass writes."""

OURS: tuple[tuple[Path, Any], ...] = (
    (("spec", "replicas"), 7),
    (("metadata", "annotations", "maho.takara.org/x"), "1"),
    (("metadata", "labels", "app"), "takara"),
    ((*MAIN, "image"), "busybox"),
    ((*MAIN, "command"), ["sleep", "3600"]),
)
"""What a pass writes."""


def dress(thief: Thief) -> None:
    """Give the Takara `one` its Deployment with what people put into it, and make a Deployment `foreign`."""
    thief.world.post_deployment(deployment("foreign"))
    body = changed(
        deployment("one", thief.mine), *DRESSED, ((*MAIN, "image"), "nginx"), ((*MAIN, "command"), ["nginx"])
    )
    thief.world.post_deployment(changed(body, (("metadata", "labels", "app"), "db")))


def attacks(thief: Thief) -> Iterator[Attack]:
    """Every attack as a dry run. The Deployment `one` has to be dressed."""
    yield from _owners(thief)
    path: Path
    for path, value in (*OUTSIDE, *INSIDE):
        yield Attack(f"create with {key(path)}", key(path), thief.create(_new(thief, (path, value)), dry=True))
        yield Attack(f"set {key(path)}", key(path), thief.update("one", (path, value)))
    for path, value in WEAKENED:
        yield Attack(f"change {key(path)}", key(path), thief.update("one", (path, value)))
    for path, _ in DRESSED:
        yield Attack(f"remove {key(path)}", f"-{key(path)}", thief.update("one", (path, None)))
    for what, change in OTHER_PODS.items():
        body = deployment("new", _owner(thief, "new"), **change)
        yield Attack(f"create with {what}", "spec.template.", thief.create(body, dry=True))
    reordered = thief.world.deployment("one")["spec"]["template"]["spec"]["containers"][::-1]
    yield Attack("another order", "spec.template.spec.containers",
                 thief.update("one", ((*SPEC, "containers"), reordered)))  # fmt: skip
    for labels in ({"app": "db"}, {"app": "takara", "takara_cr": "two"}, {"takara_cr": "new"}):
        body = changed(_new(thief), ((*META, "labels"), labels), (("spec", "selector", "matchLabels"), labels))
        named = SELECT if labels.get("takara_cr") != "new" else "spec.selector"
        yield Attack(f"select {labels}", named, thief.create(body, dry=True))


def _owners(thief: Thief) -> Iterator[Attack]:
    for what, change in ({"none": None} | OTHER_OWNERS).items():
        owners = [] if change is None else [_owner(thief, "new") | change]
        yield Attack(f"create for {what}", OWNER, thief.create(deployment("new", *owners), dry=True))
    two = [_owner(thief, "new"), _SECOND]
    yield Attack("create with a second owner", OWNER, thief.create(deployment("new", *two), dry=True))
    mine = thief.mine
    for what, owners in (
        ("no owner", []),
        ("a second owner", [mine, _SECOND]),
        ("another uid", [mine | {"uid": "00000000-0000-0000-0000-000000000001"}]),
        ("no controller", [mine | {"controller": False}]),
    ):
        yield Attack(f"update to {what}", OWNER, thief.update("one", (("metadata", "ownerReferences"), owners)))
    yield Attack("steal", OWNER, thief.patch("foreign", {"metadata": {"ownerReferences": [mine]}}, dry=True))
    yield Attack("scale a foreign one", OWNER, thief.patch("foreign", {"spec": {"replicas": 0}}, dry=True))


def legitimate(thief: Thief) -> Iterator[Attack]:
    """What a pass writes, and what may be added to it."""
    yield Attack("create", "", thief.create(_new(thief), dry=True))
    long = deployment("l" * 100, _owner(thief, "l" * 100))
    short = f"{'l' * 52}_0123456789"
    labels = {"app": "takara", "takara_cr": short}
    paths: tuple[Path, ...] = ((*META, "labels"), ("metadata", "labels"), ("spec", "selector", "matchLabels"))
    for path in paths:
        long = changed(long, (path, labels))
    yield Attack("create with a long name", "", thief.create(long, dry=True))
    yield Attack("apply", "", thief.patch("one", deployment("one", thief.mine), APPLY, dry=True))
    for path, value in ADDED:
        yield Attack(f"create with {key(path)}", "", thief.create(_new(thief, (path, value)), dry=True))
    for path, value in (*ADDED, *OURS):
        yield Attack(f"set {key(path)}", "", thief.update("one", (path, value)))


def _new(thief: Thief, *changes: tuple[Path, Any]) -> Json:
    return changed(deployment("new", _owner(thief, "new")), *changes)


def _owner(thief: Thief, name: str) -> Json:
    """Of a Takara that does not exist: admission sees only the reference."""
    return thief.mine | {"name": name}
