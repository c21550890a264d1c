"""The admission policy for the account of takara-sync in Python: which keys of a write it refuses. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from takara_sync.desired import default_container, selector_labels
from tests.world import Json

MAY_BE_ADDED = "metadata.annotations.autopilot.gke.io/"
_OURS = "metadata.annotations.maho.takara.org/"
_SERVER = {"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"}
_RESTRICTIVE: Json = {
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "privileged": False,
    "allowPrivilegeEscalation": False,
    "seccompProfile": {"type": "RuntimeDefault"},
    "appArmorProfile": {"type": "RuntimeDefault"},
    "automountServiceAccountToken": False,
    "hostUsers": False,
    "enableServiceLinks": False,
}
_LISTS = ("tolerations", "topologySpreadConstraints", "imagePullSecrets")
_POD = "spec.template.spec."
_MAIN = f"{_POD}containers[takara]."
_OPEN = re.compile(
    re.escape(_POD) + r"(affinity|nodeSelector\..+)|"
    + re.escape(_MAIN) + r"(resources\.(limits|requests)\..+|securityContext\.capabilities\.drop)"
)  # fmt: skip
_COMPLETED: Json = {
    "imagePullPolicy": "Always",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def completed(name: str) -> Json:
    """The default Deployment of a Takara, as the API server completes it."""
    labels = selector_labels(name)
    pod = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "containers": [default_container() | _COMPLETED],
    }
    return {
        "metadata": {"labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def owned(old: Json | None, new: Json) -> bool:
    """Whether the owners are as they have to be."""
    owners = new["metadata"].get("ownerReferences", [])
    kept = len(owners) == 1 if old is None else owners == old["metadata"].get("ownerReferences", [])
    rightful = {"kind": "Takara", "apiVersion": "maho.takara.org/v1alpha1", "controller": True}
    rightful["name"] = new["metadata"]["name"]
    return kept and sum(rightful.items() <= each.items() for each in owners) == 1


def refused(old: Json | None, new: Json) -> set[str]:
    """The keys that the policy refuses; one with a minus is removed."""
    before = old or completed(new["metadata"]["name"])
    found = {*_maps(before, new), *_lists(_pod(before), _pod(new)), *_containers(_pod(before), _pod(new))}
    return {key for key in found if not key.lstrip("-").startswith(_OURS) and not key.startswith(MAY_BE_ADDED)}


def _pod(deployment: Json) -> Json:
    pod: Json = deployment["spec"]["template"]["spec"]
    return pod


def _maps(old: Json, new: Json) -> Iterator[str]:
    top = {"labels", "annotations"}
    ours = selector_labels(new["metadata"]["name"])
    for at, skip in (("metadata.", _SERVER | {"ownerReferences"}), ("spec.template.metadata.", {"creationTimestamp"})):
        before, after = (_at(one, at) for one in (old, new))
        yield from _map(at, _without(before, skip | top), _without(after, skip | top), {})
        yield from _map(f"{at}labels.", before.get("labels", {}), after.get("labels", {}), ours)
        yield from _map(f"{at}annotations.", before.get("annotations", {}), after.get("annotations", {}), {})
    before, after = (_without(one["spec"], {"template", "replicas"}) for one in (old, new))
    yield from _map("spec.", before, after, {})
    yield from _nested(_POD, _pod(old), _pod(new), ("nodeSelector", "securityContext"), {"containers", *_LISTS}, {})
    default = default_container() | _COMPLETED
    mine = {name: default[name] for name in ("image", "command", "imagePullPolicy")}
    yield from _nested(_MAIN, _main(old), _main(new), ("resources", "securityContext"), set(), mine)


def _nested(at: str, old: Json, new: Json, maps: tuple[str, ...], skip: set[str], ours: Json) -> Iterator[str]:
    """A map, and the maps in it whose keys count one by one."""
    yield from _map(at, _without(old, {*maps, *skip}), _without(new, {*maps, *skip}), ours)
    deeper = {"resources": ("limits", "requests"), "securityContext": ("capabilities",) if at == _MAIN else ()}
    for name in maps:
        yield from _nested(f"{at}{name}.", old.get(name, {}), new.get(name, {}), deeper.get(name, ()), set(), {})


def _map(at: str, old: Json, new: Json, ours: Json) -> Iterator[str]:
    yield from (f"-{at}{name}" for name in old if name not in new)
    for name, value in new.items():
        same = name in old and old[name] == value
        if not same and ours.get(name) != value and (name in old or not _harmless(at, name, value)):
            yield f"{at}{name}"


def _harmless(at: str, name: str, value: Any) -> bool:
    number = name in ("runAsUser", "runAsGroup", "fsGroup") and isinstance(value, int) and value > 0
    return number or bool(_OPEN.fullmatch(at + name)) or (name in _RESTRICTIVE and _RESTRICTIVE[name] == value)


def _lists(old: Json, new: Json) -> Iterator[str]:
    for name in _LISTS:
        if not all(each in new.get(name, []) for each in old.get(name, [])):
            yield f"-{_POD}{name}"


def _containers(old: Json, new: Json) -> Iterator[str]:
    before, after = ({each["name"]: each for each in pod["containers"]} for pod in (old, new))
    yield from (f"{_POD}containers[{name}]" for name in after if name != "takara" and before.get(name) != after[name])
    yield from (f"-{_POD}containers[{name}]" for name in before if name not in after)
    if [name for name in before if name in after] != [name for name in after if name in before]:
        yield f"{_POD}containers"


def _main(deployment: Json) -> Json:
    default = default_container() | _COMPLETED
    return next((each for each in _pod(deployment)["containers"] if each["name"] == "takara"), default)


def _at(deployment: Json, path: str) -> Json:
    found = deployment
    for step in path.split(".")[:-1]:
        found = found.get(step) or {}
    return found


def _without(one: Json, names: set[str]) -> Json:
    return {name: value for name, value in one.items() if name not in names}
