"""What a cluster holds, in a form in which two runs of the same story can be compared."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import unified_diff
from typing import Any, NamedTuple

import msgspec

from takara_sync.record import FORMAT
from tests.world import Json

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r'"[0-9a-f]{64}"')
_CONTROLLERS = "kube-controller-manager"  # what it holds depends on when it came to work
_SUFFIX = 5  # random characters at the end of a pod's name


class State(NamedTuple):
    """The objects of one namespace, as the server tells them."""

    namespace: str
    takaras: list[Json]
    deployments: list[Json]
    replica_sets: list[Json]


def comparable(state: State, forgotten: Collection[str] = (), *, hashes: bool = True) -> str:
    """The state without what may differ: uids (but for whose they are), versions, times, ends of pod names.

    forgotten: Takaras whose memory of a contest is left out. hashes: whether they are compared too; they are made
    over uids, times and the namespace, so that those of two namespaces differ.
    """
    told = {
        "takaras": {one["metadata"]["name"]: _takara(one, forgotten) for one in state.takaras},
        "deployments": {one["metadata"]["name"]: _object(one, sets=state.replica_sets) for one in state.deployments},
    }
    whose = {one["metadata"]["uid"]: _name(one) for one in (*state.takaras, *state.deployments)}
    encoded = msgspec.json.encode(told, order="sorted")
    text = msgspec.json.format(encoded, indent=1).decode().replace(state.namespace, "<namespace>")
    text = _TIME.sub("<time>", _UID.sub(lambda found: whose.get(found[0], "<uid>"), text))
    return text if hashes else _without_hashes(text, state)


def _without_hashes(text: str, state: State) -> str:
    """Neither those that are recorded, nor those in the names of ReplicaSets (a template may hold a time)."""
    for one in state.replica_sets:
        text = text.replace(one["metadata"]["name"], "<ReplicaSet>")
    return _HASH.sub('"<hash>"', text)


def differences(due: str, found: str) -> str:
    """The lines in which two comparable states differ; pytest would take minutes for that."""
    lines = unified_diff(due.splitlines(), found.splitlines(), "due", "found", lineterm="")
    return "" if due == found else "\n".join(lines)


def _name(one: Json) -> str:
    return f"<{one['kind']} {one['metadata']['name']}>"


def _object(one: Json, sets: list[Json]) -> Json:
    """A Deployment with everything that it has; of its ReplicaSets the sizes."""
    dropped = ("resourceVersion", "managedFields")
    metadata = {key: value for key, value in one["metadata"].items() if key not in dropped}
    entries = one["metadata"].get("managedFields", ())
    owners = sorted((each for each in entries if each["manager"] != _CONTROLLERS), key=_writer)
    return {
        "metadata": metadata,
        "managedFields": owners,
        "spec": one["spec"],
        "status": _without_words(one.get("status") or {}),
        "replicaSets": sorted(
            each["spec"]["replicas"]
            for each in sets
            if any(owner["uid"] == one["metadata"]["uid"] for owner in each["metadata"].get("ownerReferences", ()))
        ),
    }


def _without_words(status: Json) -> Json:
    """A Deployment's status without why its controller says so: that depends on when it looked."""
    conditions = [{"type": each["type"], "status": each["status"]} for each in status.get("conditions", ())]
    return status | {"conditions": conditions}


def _writer(entry: Json) -> tuple[str, ...]:
    return tuple(str(entry.get(key, "")) for key in ("manager", "operation", "subresource"))


def _takara(one: Json, forgotten: Collection[str]) -> Json:
    dropped = ("resourceVersion", "managedFields")
    metadata = {key: value for key, value in one["metadata"].items() if key not in dropped}
    status = dict(one.get("status") or {})
    status["nodes"] = [name[:-_SUFFIX] for name in status.get("nodes") or ()]
    record = status.get("deployment")
    if isinstance(record, dict):
        # The hash is made over a time too; the pass that finds nothing to do shows that it is right.
        left_out = {"configHash"} | ({"replicasTakenBy"} if one["metadata"]["name"] in forgotten else set())
        status["deployment"] = {key: value for key, value in record.items() if key not in left_out}
    return {"metadata": metadata, "spec": one.get("spec"), "status": status}


# ------------------------------------------------------------------ what is right, whoever did it


_SAYS_WHY_NOT = {"Paused", "ReplicasContested", "DeploymentDeleting", "DeploymentOfPredecessor"}


def controller_uid(deployment: Json) -> Any:
    owners = deployment["metadata"].get("ownerReferences", ())
    return next((owner["uid"] for owner in owners if owner.get("controller")), None)


def ready_reason(takara: Json) -> str:
    """What the Takara says of itself; empty where nothing was told yet."""
    conditions = (takara.get("status") or {}).get("conditions") or ()
    stalled = any(each["type"] == "Stalled" and each["status"] == "True" for each in conditions)
    reasons = [str(each["reason"]) for each in conditions if each["type"] == "Ready"]
    return "Stalled" if stalled else "".join(reasons)


def wrong(takara: Json, deployment: Json | None) -> str:
    """What keeps this Takara from being converged, or from saying why it is not; empty where all is well."""
    if "deletionTimestamp" in takara["metadata"] or ready_reason(takara) in {"Stalled"} | _SAYS_WHY_NOT:
        return ""
    record = (takara.get("status") or {}).get("deployment") or {}
    if record.get("format", 0) > FORMAT:  # a newer program's, whose status is left alone
        return ""
    name, uid, spec = takara["metadata"]["name"], takara["metadata"]["uid"], takara["spec"]
    if deployment is None or controller_uid(deployment) != uid:
        return f"{name} has no Deployment of its own"
    live = deployment["spec"]
    wanted = (spec.get("template") or {}).get("spec", {}).get("containers") or [{"name": "takara", "image": "busybox"}]
    facts = {
        "replicas": (live["replicas"], spec["size"]),
        "images": (_images(live["template"]["spec"]["containers"]), _images(wanted)),
        "labels": ((deployment["metadata"].get("labels") or {}).get("app"), "takara"),
        "told": (takara["status"].get("observedGeneration"), takara["metadata"]["generation"]),
        "record": (record.get("uid"), deployment["metadata"]["uid"]),
    }
    return "; ".join(f"{name}: {what} is {found}, not {due}" for what, (found, due) in facts.items() if found != due)


def _images(containers: list[Json]) -> dict[str, str]:
    return {each["name"]: each["image"] for each in containers}


def all_wrong(state: State) -> list[str]:
    """Of each Takara what is wrong with it."""
    deployments = {one["metadata"]["name"]: one for one in state.deployments}
    found = (wrong(takara, deployments.get(takara["metadata"]["name"])) for takara in state.takaras)
    return [each for each in found if each]
