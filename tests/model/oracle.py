"""What the design asks for, said again without the product's code: the model's own opinion."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from takara_sync.simulator.fields import Paths, decode, flat
from takara_sync.simulator.patches import Path
from tests.support.takaras import Json

OURS = "takara-sync"
LEGACY = ("takara-operator", "before-first-apply", OURS)
UNKNOWN = "an unknown manager"
_GO_OPERATORS = ("f:spec", "f:metadata")  # below these, what is taken over lies
_VOLATILE = ("resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "name", "namespace")


@dataclass(frozen=True)
class Program:
    """One version of takara-sync and how it is run."""

    format: int = 1
    image: str = "busybox"
    templates: bool = True
    max_size: int = 8
    max_changes: int | None = None
    page: int = 500


# ------------------------------------------------------------------ the Takara


def generation(value: Json) -> int:
    return int(value["metadata"]["generation"])


def deleting(value: Json) -> bool:
    return "deletionTimestamp" in value["metadata"]


def paused(takara: Json) -> bool:
    return bool(takara["metadata"].get("annotations", {}).get("maho.takara.org/paused") == "true")


def valid(takara: Json, program: Program) -> bool:
    spec = takara.get("spec")
    if not isinstance(spec, dict):
        return False
    size, template = spec.get("size"), spec.get("template")
    if type(size) is not int or not 0 <= size <= program.max_size:
        return False
    return template is None or (program.templates and _pod_template(template))


def _pod_template(template: Any) -> bool:
    pod = template.get("spec") if isinstance(template, dict) else None
    return isinstance(pod, dict) and bool(pod.get("containers"))


def labels(name: str) -> dict[str, str]:
    """What selects the pods of the Takara of this name."""
    short = name if len(name) <= 63 else f"{name[:52]}_{hashlib.sha256(name.encode()).hexdigest()[:10]}"
    return {"app": "takara", "takara_cr": short}


def desired(takara: Json, program: Program) -> Json:
    """The Deployment that this Takara asks for, its owner reference apart."""
    name = takara["metadata"]["name"]
    main = {"name": "takara", "image": program.image, "command": ["sleep", "3600"]}
    template = takara["spec"].get("template") or {"spec": {"containers": [main]}}
    metadata = template.get("metadata") or {}
    metadata = {**metadata, "labels": {**(metadata.get("labels") or {}), **labels(name)}}
    return {
        "metadata": {"labels": labels(name), "annotations": {"maho.takara.org/format": str(program.format)}},
        "spec": {
            "replicas": takara["spec"]["size"],
            "selector": {"matchLabels": labels(name)},
            "template": {**template, "metadata": metadata},
        },
    }


# ------------------------------------------------------------------ the Deployment


def controller(value: Json) -> Json | None:
    owners = value["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def ours(deployment: Json | None, takara: Json | None) -> bool:
    """Whether this very Takara is the Deployment's controller."""
    owner = deployment and controller(deployment)
    if not owner or takara is None:
        return False
    named = (owner["apiVersion"].partition("/")[0], owner["kind"], owner["name"], owner["uid"])
    return named == ("maho.takara.org", "Takara", takara["metadata"]["name"], takara["metadata"]["uid"])


def stranger(deployment: Json) -> str:
    """The reason for leaving it alone."""
    owner = controller(deployment)
    if owner is None:
        return "DeploymentWithoutController"
    same = (owner["apiVersion"].partition("/")[0], owner["kind"], owner["name"])
    namesake = same == ("maho.takara.org", "Takara", deployment["metadata"]["name"])
    return "DeploymentOfPredecessor" if namesake else "DeploymentOfAnotherController"


def complete(deployment: Json, size: Any) -> bool:
    status = deployment.get("status", {})
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
    seen = status.get("observedGeneration") == deployment["metadata"]["generation"]
    return bool(seen and [deployment["spec"]["replicas"], *counts] == [size] * 4)


def belongs(pod: Json, name: str) -> bool:
    """Whether it is a pod of the Deployment of this name that counts: the design's words, section 2.4."""
    metadata = pod["metadata"]
    owner, hashed = controller(pod), metadata.get("labels", {}).get("pod-template-hash", "")
    made = owner and (owner["kind"], owner["name"]) == ("ReplicaSet", f"{name[: 252 - len(hashed)]}-{hashed}")
    labelled = labels(name).items() <= metadata.get("labels", {}).items()
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return bool(made and labelled and not deleting(pod) and not ended)


def nodes(pods: Iterable[Json], name: str) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in pods if belongs(pod, name))


# ------------------------------------------------------------------ fields


def fields(value: Json) -> dict[Path, Any]:
    """Every field with its value, without what the server counts."""
    metadata = {key: item for key, item in value["metadata"].items() if key not in _VOLATILE}
    rest = {key: item for key, item in value.items() if key not in ("apiVersion", "kind")}
    return flat(rest | {"metadata": metadata})


def holders(deployment: Json) -> tuple[Paths, Paths]:
    """What we hold by apply, and what everybody else holds."""
    mine, others = frozenset[Path](), frozenset[Path]()
    for entry in decode(deployment["metadata"].get("managedFields", [])):
        if (entry.manager, entry.operation, entry.subresource) == (OURS, "Apply", ""):
            mine |= entry.paths
        else:
            others |= entry.paths
    return mine, others


def replica_holders(deployment: Json) -> set[str]:
    """Who else holds the replicas."""
    entries = decode(deployment["metadata"].get("managedFields", []))
    found = [one for one in entries if ("f:spec", "f:replicas") in one.paths]
    return {one.manager for one in found if (one.manager, one.operation) != (OURS, "Apply")}


def we_hold_replicas(deployment: Json) -> bool:
    return ("f:spec", "f:replicas") in holders(deployment)[0]


def illegal_changes(before: Json, after: Json, body: Json) -> list[str]:
    """What a write of ours changed beyond what it asked for and what we alone held."""
    old, new, asked = fields(before), fields(after), fields(body)
    mine, others = holders(before)
    alone = {path for path in mine if path not in others and path not in asked}
    made = {path for path in asked if path not in old}
    found = []
    holding = {path[:length] for path in old.keys() | new.keys() for length in range(len(path))}
    for path in (old.keys() | new.keys()) - holding:  # what holds others comes and goes with them
        if path in old and path in new and old[path] == new[path]:
            continue
        above = [path[:length] for length in range(1, len(path) + 1)]
        as_asked = path in asked and path in new and new[path] == asked[path]
        defaulted = path not in old and any(one in made for one in above)
        if not (as_asked or defaulted or any(one in alone for one in above)):
            found.append(f"{'/'.join(path)}: {old.get(path)!r} -> {new.get(path)!r}")
    return found


def entries_of_others(deployment: Json) -> list[Json]:
    """managedFields but ours and those that are taken over."""
    found = deployment["metadata"].get("managedFields", [])
    return [one for one in found if one["manager"] not in LEGACY or one.get("subresource")]
