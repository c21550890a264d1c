"""Objects as somebody who means harm would make them, each a change of a real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.poison.values import NASTY, Json, Poison, at, nested, paths

Change = Callable[[Json], object]

MANY = 2_000
LARGE = "l" * 2**17
_BAD_KEYS = (
    "k:",
    "k:{",
    "k:5",
    'k:{"name":["x"]}',
    'k:{"name":{"a":1}}',
    "k:" + "[" * 5000,
    "f:",
    ":",
    "",
    "v:{",
    NASTY,
)


def edited(change: Change) -> Callable[[Json], bytes]:
    """What is served after `change` was at the object."""

    def serve(live: Json) -> bytes:
        copy = json.loads(json.dumps(live))
        change(copy)
        return json.dumps(copy).encode()

    return serve


def deployment(change: Change) -> Poison:
    return Poison("deployments", "", edited(change))


def takara(change: Change) -> Poison:
    return Poison("takaras", "", edited(change))


def held_by(manager: str, **more: Any) -> Change:
    """Another manager has set the replicas; our entry lost them."""

    def change(live: Json) -> None:
        entries = live["metadata"]["managedFields"]
        for each in entries:
            each["fieldsV1"].get("f:spec", {}).pop("f:replicas", None)
        fields: Json = {"f:spec": {"f:replicas": {}}}
        entries.append({"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": fields} | more)
        live["spec"]["replicas"] = 9

    return change


def fields_v1(tree: Any, manager: str = "takara-sync", operation: str = "Apply") -> Change:
    """Our own entry, or a legacy manager's, is this; and the image is another one, so that it is looked into."""

    def change(live: Json) -> None:
        entry = {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsV1": tree}
        live["metadata"]["managedFields"].insert(0, entry)
        container(live)["image"] = "odd"

    return change


def container(live: Json) -> Json:
    found: Json = live["spec"]["template"]["spec"]["containers"][0]
    return found


def owned_by(*owners: Any) -> Change:
    return lambda live: live["metadata"].update(ownerReferences=list(owners))


def owner(**more: Any) -> Json:
    return {"apiVersion": "apps/v1", "kind": "X", "name": "x", "uid": "u", "controller": True} | more


def failing(reason: str, kind: str = "ReplicaFailure", status: str = "True") -> Change:
    condition = {"type": kind, "status": status, "reason": reason, "message": NASTY + LARGE}
    return lambda live: live["status"].update(conditions=[condition], replicas=0)


def status_with(**keys: Any) -> Change:
    return lambda live: live["status"].update(keys)


def condition(**more: Any) -> Json:
    whole = {
        "type": "Odd",
        "status": "True",
        "reason": "R",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return whole | more


def annotated(size: int) -> Change:
    return lambda live: live["metadata"].setdefault("annotations", {}).update(big="a" * size, odd=NASTY)


def twice(key: str, raw: bytes) -> Callable[[Json], bytes]:
    """The key is there two times; the second one counts."""
    return lambda live: json.dumps(live).encode()[:-1] + b', "' + key.encode() + b'": ' + raw + b"}"


_ODD_TREES: dict[str, Any] = {
    "a list": [1],
    "a text": "x",
    "null": None,
    "of wrong types": {"f:spec": [], "f:metadata": 5, "f:status": {"f:x": "y", "f:conditions": [{}]}},
    "of wrong types deeper": {"f:spec": {"f:template": {"f:spec": {"f:containers": 7}}, "f:replicas": [1]}},
    "of bad keys": {
        "f:spec": {"f:template": {"f:spec": {"f:containers": {key: {"f:image": {}} for key in _BAD_KEYS}}}}
    },
    "of huge keys": {"f:spec": {f"f:{LARGE}": {}, "f:template": {f'k:{{"name":"{LARGE}"}}': {}}}},
    "nested 90 times": json.loads(b'{"f:a":' * 90 + b"{}" + b"}" * 90),
    "nested 900 times": {"f:spec": json.loads(nested(900))},
}
DEPLOYMENTS: dict[str, Poison] = {
    "a nasty manager": deployment(held_by(NASTY, subresource="scale")),
    "a nasty time": deployment(held_by("x", time=NASTY)),
    "a nasty subresource": deployment(held_by("x", subresource=NASTY)),
    "a manager of 128 KiB": deployment(held_by(LARGE)),
    "a nasty image": deployment(lambda live: container(live).update(image=NASTY)),
    "an image of 128 KiB": deployment(lambda live: container(live).update(image=LARGE)),
    "a nasty container": deployment(lambda live: container(live).update(name=NASTY)),
    "a container whose name is a list": deployment(lambda live: container(live).update(name=["x"])),
    "ports of wrong types": deployment(
        lambda live: container(live).update(ports=[{"containerPort": {}, "protocol": []}])
    ),
    "pods fail in a nasty way": deployment(failing(NASTY)),
    "no progress in a nasty way": deployment(failing("ProgressDeadlineExceeded", "Progressing", "False")),
    "a nasty controller": deployment(owned_by(owner(kind=NASTY, name=LARGE))),
    "a nasty predecessor": deployment(
        lambda live: owned_by(live["metadata"]["ownerReferences"][0] | {"uid": NASTY})(live)
    ),
    "two controllers": deployment(lambda live: live["metadata"]["ownerReferences"].append(owner())),
    "two controllers, ours second": deployment(lambda live: live["metadata"]["ownerReferences"].insert(0, owner())),
    "owners in a list of a list": deployment(owned_by([owner()])),
    "an owner with a number as uid": deployment(owned_by(owner(uid=5))),
    "a manager 2,000 times": deployment(
        lambda live: live["metadata"].update(managedFields=live["metadata"]["managedFields"] * (MANY // 3))
    ),
    "observedGeneration is a text": deployment(status_with(observedGeneration="1")),
    "replicas are -1": deployment(status_with(replicas=-1, observedGeneration=-1)),
    "2,000 conditions": deployment(status_with(conditions=[condition(type=f"C{number}") for number in range(MANY)])),
    "annotations of 256 kB": deployment(annotated(2**18)),
    "annotations of a megabyte": deployment(annotated(2**20)),
    "another version twice": Poison("deployments", "", twice("metadata", b'{"name": "x"}')),
    "a spec twice": Poison("deployments", "", twice("spec", b"[]")),
} | {
    f"fieldsV1 {what}{' of the Go operator' * legacy}": deployment(
        fields_v1(tree, *(("takara-operator", "Update") if legacy else ()))
    )
    for what, tree in _ODD_TREES.items()
    for legacy in (False, True)
}


def with_template(**keys: Any) -> Poison:
    """The template's container says this, and its Deployment is applied anew for it."""
    return takara(lambda live: live["spec"].get("template", {}).get("spec", {})["containers"][0].update(keys))


def wide_template(live: Json) -> None:
    live["spec"]["template"]["spec"]["containers"] = [{"name": f"c{number}", "image": NASTY} for number in range(500)]


TAKARAS: dict[str, Poison] = {
    "a nasty size": takara(lambda live: live["spec"].update(size=NASTY)),
    "a size of 128 KiB": takara(lambda live: live["spec"].update(size=LARGE)),
    "a size that is a tree": takara(lambda live: live["spec"].update(size={NASTY: json.loads(nested(80))})),
    "a nasty container": with_template(name=NASTY),
    "a nasty image": with_template(image=NASTY),
    "a container whose name is a list": with_template(name=["x"], image={}),
    "ports of wrong types": with_template(ports=[{"containerPort": {}, "protocol": []}, 5]),
    "env of wrong types": with_template(env=[{"name": {"a": 1}}, []]),
    "numbers of wrong sizes": with_template(image=10**400, name=-(10**30), env=1e308),
    "nested 80 times": with_template(env=json.loads(nested(80))),
    "500 containers": takara(wide_template),
    "2,000 conditions": takara(status_with(conditions=[condition(type=f"C{number}") for number in range(MANY)])),
    "2,000 conditions of one type": takara(status_with(conditions=[condition()] * MANY)),
    "2,000 wrong conditions": takara(status_with(conditions=[None, 5, {}, condition(status=True), []] * (MANY // 5))),
    "two conditions of others": takara(status_with(conditions=[condition(type="A"), condition(type="B")])),
    "nasty conditions": takara(status_with(conditions=[condition(type=NASTY, reason=NASTY, message=LARGE)])),
    "Ready in a nasty way": takara(
        status_with(
            conditions=[condition(type="Ready", reason=NASTY, lastTransitionTime=NASTY), condition(type="Stalled")]
        )
    ),
    "Ready of wrong types": takara(
        status_with(conditions=[condition(type="Ready", status=[], reason=["x"], message=5, lastTransitionTime={})])
    ),
    "Stalled of wrong types": takara(status_with(conditions=[condition(type="Stalled", reason=["x"], message=5)])),
    "a nasty contest": takara(
        lambda live: live["status"]["deployment"].update(
            replicasTakenBy={"manager": NASTY, "at": NASTY, "times": 2**62}
        )
    ),
    "a contest in another age": takara(
        lambda live: live["status"]["deployment"].update(
            replicasTakenBy={"manager": "somebody", "at": "0001-01-01T00:00:00+23:59", "times": -(2**62)}
        )
    ),
    "a record of wrong types": takara(lambda live: live["status"].update(deployment=[{"uid": 5}, NASTY])),
    "nodes of wrong types": takara(status_with(nodes=[NASTY, 5, None, {}], replicas="x", selector=[NASTY])),
    "a nasty generation": takara(lambda live: live["metadata"].update(generation=2**63 - 1)),
    "a nasty version": takara(lambda live: live["metadata"].update(resourceVersion=NASTY)),
    "annotations of a megabyte": takara(annotated(2**20)),
    "nasty labels": takara(lambda live: live["metadata"].update(labels={NASTY: NASTY, "": LARGE})),
    "a status twice": Poison("takaras", "", twice("status", b'"x"')),
    "paused twice": Poison("takaras", "", twice("spec", b'{"size": 3, "size": "x"}')),
}
HOSTILE = [Poison(poison.plural, what, poison.change) for of in (DEPLOYMENTS, TAKARAS) for what, poison in of.items()]


def nasty_texts(plural: str, full: Json) -> list[Poison]:
    """A nasty text in the place of each part of an object."""
    return [at(plural, path, "nasty", json.dumps(NASTY).encode()) for path in paths(full)]
