"""The new CRD over the one that the Go operator left: v1beta1, no schema, nothing pruned, anything stored.

The API of today refuses to make such a CRD, so it is written straight into etcd, as are most of its Takaras: as an
API server of 2019 stored them, which knew no managedFields.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Commands
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.test_migration import Admin, blocks
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator, takara

THEN = "2019-09-01T00:00:00Z"
CRD = "takaras.maho.takara.org"
CRD_PATH = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD}"
TAKARAS = "/apis/maho.takara.org/v1alpha1/takaras"
NAMES = {"kind": "Takara", "listKind": "TakaraList", "plural": "takaras", "singular": "takara"}
ESTABLISHED = {"NamesAccepted": "True", "Established": "True"}  # and no NonStructuralSchema
FIELDS = {"observedGeneration", "nodes", "replicas", "readyReplicas", "selector", "conditions", "deployment"}

MIGRATION = blocks("Coming from the Go operator")[0][0]
PLAIN = blocks("Run it")[1][0]

# What a CRD without schema let in, as pairs of spec and status: what a pass can use, and what a person has to mend.
ABSENT = object()
USABLE: dict[str, tuple[Any, Any]] = {
    "plain": ({"size": 2}, {"nodes": ["plain-0"]}),
    "zero": ({"size": 0}, ABSENT),
    "unknown-field": ({"size": 1, "colour": "red"}, {}),
    "null-nodes": ({"size": 1}, {"nodes": None}),
    "null-status": ({"size": 1}, None),
    "text-status": ({"size": 1}, "fine"),
    "unknown-status": ({"size": 1}, {"phase": "Running", "nodes": "many", "deep": {"er": [1]}}),
    "odd-conditions": ({"size": 1}, {"conditions": ["x", {"type": "Old"}], "replicas": "1", "deployment": 7}),
}
UNUSABLE: dict[str, tuple[Any, Any]] = {
    "text": ({"size": "3"}, {"nodes": ["text-0"]}),
    "null": ({"size": None}, ABSENT),
    "negative": ({"size": -1}, {"nodes": None}),
    "fraction": ({"size": 1.5}, ABSENT),
    "large": ({"size": 2**31}, ABSENT),
    "missing": ({"colour": "red"}, {"phase": "Failed", "deployment": 7}),
    "list": ([1], "fine"),
    "no-spec": (ABSENT, ABSENT),
    "null-spec": (None, None),
    "text-template": ({"size": 1, "template": "x"}, ABSENT),
}
REASONS = dict.fromkeys(UNUSABLE, "InvalidSize") | dict.fromkeys(("list", "no-spec", "null-spec"), "InvalidSpec")
REASONS["text-template"] = "TemplatesNotAllowed"
OLD_PODS = {"plain": 2, "negative": 3}
"""Whose Deployment the Go operator had made, and how many replicas it has."""


def old_crd() -> Json:
    """As Operator SDK 0.10 made it and the API server stored it."""
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": THEN, "reason": reason, "message": ""}
        for kind, reason in {"NamesAccepted": "NoConflicts", "Established": "InitialNamesAccepted"}.items()
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": CRD, "uid": str(uuid.uuid4()), "generation": 1, "creationTimestamp": THEN},
        "spec": {
            "group": "maho.takara.org",
            "names": NAMES,
            "scope": "Namespaced",
            "subresources": {"status": {}},
            "version": "v1alpha1",
            "versions": [{"name": "v1alpha1", "served": True, "storage": True}],
            "conversion": {"strategy": "None"},
            "preserveUnknownFields": True,
        },
        "status": {"conditions": conditions, "acceptedNames": NAMES, "storedVersions": ["v1alpha1"]},
    }


def applied(crd: Json) -> Json:
    """The CRD as `kubectl apply` leaves it: what was in the file is noted, in the words of v1beta1."""
    written = {key: value for key, value in crd["spec"].items() if key not in ("conversion", "preserveUnknownFields")}
    noted = crd | {"metadata": {"annotations": {}, "name": CRD}, "spec": written}
    del noted["status"]
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(noted)}
    return crd | {"metadata": crd["metadata"] | {"annotations": annotations}}


def stored(name: str, spec: Any, status: Any) -> Json:
    metadata = {"name": name, "namespace": "default", "uid": str(uuid.uuid4()), "generation": 1}
    found = {**takara(name), "metadata": metadata | {"creationTimestamp": THEN}, "spec": spec, "status": status}
    return {key: value for key, value in found.items() if value is not ABSENT}


class Left:
    """A cluster as the Go operator leaves it."""

    def __init__(self, server: ControlPlane, crd: Json) -> None:
        self.server = server
        self.world = World(server, "default")
        self._put(f"apiextensions.k8s.io/customresourcedefinitions/{CRD}", crd)
        self.takaras(many=0)
        everything = USABLE | UNUSABLE
        for name, (spec, status) in everything.items():
            self._put(f"maho.takara.org/takaras/default/{name}", stored(name, spec, status))
        self.takaras(many=len(everything))
        for name, replicas in OLD_PODS.items():
            self.world.post_deployment(as_the_go_operator(self.world.takara(name), replicas), GO_OPERATOR)
        self.world.settle()
        self.before = self.uids()

    def _put(self, key: str, value: Json) -> None:
        pair = {"key": f"/registry/{key}".encode(), "value": json.dumps(value).encode()}
        body = {name: base64.b64encode(part).decode() for name, part in pair.items()}
        answer = self.server._etcd.call("POST", "/v3/kv/put", body)
        assert answer.status == 200, answer.body

    def takaras(self, many: int | None = None) -> dict[str, Json]:
        """Those that are served, or once there are so many: the server answers 429 while it changes over, twice."""
        found: dict[str, Json] = {}

        def unserved() -> str:
            answer = self.server.call("GET", TAKARAS)
            assert answer.status in (200, 404, 429), answer.body
            items = answer.body["items"] if answer.status == 200 else []
            found.update((one["metadata"]["name"], one) for one in items)
            return "" if answer.status == 200 and many in (None, len(items)) else str(answer.body)

        wait_until(unserved, within=SETTLE_SECONDS, every=0.1)
        return found

    def uids(self) -> dict[str, str]:
        return {name: one["metadata"]["uid"] for name, one in self.takaras().items()}

    def crd(self) -> Any:
        return self.world.call("GET", CRD_PATH)

    def wait_for_the_new_crd(self) -> None:
        """Its default shows as soon as it is in force; its conditions and short name a moment later or earlier."""

        def old() -> str:
            seen, status = self.takaras()["zero"].get("status"), self.crd()["status"]
            conditions = {one["type"]: one["status"] for one in status["conditions"]}
            done = seen == {"observedGeneration": -1} and conditions == ESTABLISHED
            return "" if done and status["acceptedNames"].get("shortNames") else f"not in force: {seen} {status}"

        wait_until(old, within=SETTLE_SECONDS, every=0.05)

    def deployments(self) -> Json:
        """What the Go operator had made, as far as a pass has to leave it alone."""
        live = [self.world.deployment(name) for name in OLD_PODS]
        return {one["metadata"]["uid"]: (one["spec"], self.world.pods(one["metadata"]["name"])) for one in live}


@pytest.mark.parametrize(
    ("command", "crd"),
    [
        pytest.param(MIGRATION, old_crd(), id="server-side over kubectl create"),
        pytest.param(PLAIN, applied(old_crd()), id="client-side over kubectl apply"),
    ],
)
def test_no_takara_is_lost_and_each_can_be_mended(
    fresh_control_plane: Callable[..., ControlPlane], control_plane_assets: Path, command: str, crd: Json
) -> None:
    cluster = Left(fresh_control_plane(crd=False), crd)
    admin, tool, world = Admin(cluster.server, control_plane_assets), Commands(cluster.server), cluster.world
    before, old = cluster.deployments(), cluster.crd()["spec"]
    if command == PLAIN:
        refused = admin.run("kubectl apply --server-side -f k8s/crd/takara.yaml")
        assert (refused.returncode, "--force-conflicts" in refused.stderr) == (1, True)
        assert cluster.crd()["spec"] == old

    admin.done(command)

    cluster.wait_for_the_new_crd()
    assert cluster.crd()["spec"].get("preserveUnknownFields", False) is False
    assert "colour" not in str(cluster.takaras())
    assert cluster.uids() == cluster.before
    wait_until(lambda: admin.run("kubectl get tk").stderr, within=SETTLE_SECONDS)  # the short name is new
    listed = admin.done("kubectl get tk -A -o wide").splitlines()[1:]
    assert sorted(line.split()[1] for line in listed) == sorted(cluster.before)

    first = tool.once()
    assert first.code == 6, first.stdout + first.stderr
    done = dict.fromkeys(USABLE, "created") | dict.fromkeys(UNUSABLE, "invalid") | {"plain": "taken over"}
    assert first.results == done
    assert {name: first.line_of(name)["reason"] for name in UNUSABLE} == REASONS
    stalled = {name: world.condition(name, "Stalled") for name in UNUSABLE}
    assert {name: one["reason"] for name, one in stalled.items() if one["status"] == "True"} == REASONS
    world.settle()
    assert tool.once().code == 6
    again = tool.once()
    assert (again.code, again.writes) == (6, [])
    assert cluster.deployments() == before  # no pod restarted
    for name, one in cluster.takaras().items():
        assert set(one["status"]) <= FIELDS
        assert one["status"]["nodes"] == world.pods(name)
    sizes = {name: spec["size"] for name, (spec, _) in USABLE.items()} | OLD_PODS
    assert {name: len(world.pods(name)) for name in cluster.before} == dict.fromkeys(UNUSABLE, 0) | sizes

    one_by_one = "text-template", "no-spec", "text"
    bodies = [takara(name, 1) for name in UNUSABLE if name not in one_by_one]
    world.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, bodies)))
    for name in one_by_one:
        world.kubectl("patch", "tk", name, "--type=merge", "-p", '{"spec": {"size": 1, "template": null}}')
    mended = tool.converge()
    done = dict.fromkeys(USABLE, "unchanged") | dict.fromkeys(UNUSABLE, "created") | {"negative": "taken over"}
    assert mended.results == done
    world.settle()
    tool.converge()
    tool.settled()
    assert cluster.uids() == cluster.before
    assert "serverside-applied" in admin.done("kubectl apply --server-side -k k8s/crd")  # as the next install does
