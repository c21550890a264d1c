"""`takara-sync manifests`: the objects of k8s/, for `kubectl apply --server-side -f -`.

It builds the kustomizations of k8s/ with the packages for YAML and JSON patches, and then sets what the options say. A
test compares the result with that of `kubectl kustomize`.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import jsonpatch
import yaml

from takara_sync.cli.render import write
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit

Json = dict[str, Any]

_HOME = files("takara_sync") / "k8s"
_CLUSTER_WIDE = (("ClusterRole", "takara-sync"), ("ClusterRoleBinding", "takara-sync"))


def run(settings: Settings, stop: Stop) -> Exit:  # noqa: ARG001 - no step of it waits
    """Print the manifests as YAML."""
    write(yaml.safe_dump_all(manifests(settings), sort_keys=False, width=120))
    return Exit.OK


def manifests(settings: Settings) -> list[Json]:
    """The Takara API, the base and the workload, in the order in which they can be applied."""
    home, objects = settings.install_namespace, [*_built("crd"), *_built(settings.mode)]
    if settings.watch_namespace:
        objects = [each for each in objects if _name(each) not in _CLUSTER_WIDE]
    if home == "default" or home.startswith("kube-"):
        objects = [each for each in objects if each["kind"] != "Namespace"]  # it exists in every cluster
    for each in objects:
        _place(each, home)
        if each["kind"] in ("CronJob", "Deployment"):
            _set_workload(each["spec"], settings)
    for namespace in settings.watch_namespace:
        for role in _read("components/namespaced/role.yaml"):
            _place(role, home)
            role["metadata"]["namespace"] = namespace
            objects.append(role)
    if settings.allow_templates:
        _patch(objects, "components/templates")
    return objects


def _read(path: str) -> list[Json]:
    return list(yaml.safe_load_all((_HOME / path).read_text("utf-8")))


def _built(folder: str) -> list[Json]:
    """The objects that `kubectl kustomize` prints for a folder."""
    objects: list[Json] = []
    for resource in _read(f"{folder}/kustomization.yaml")[0]["resources"]:
        path = f"{folder}/{resource}"
        objects += _read(path) if path.endswith(".yaml") else _built(path)
    _patch(objects, folder)
    return objects


def _patch(objects: list[Json], folder: str) -> None:
    """Apply the JSON patches of a kustomization or component, each to its target."""
    for patch in _read(f"{folder}/kustomization.yaml")[0].get("patches", ()):
        for each in objects:
            if _name(each) == (patch["target"]["kind"], patch["target"]["name"]):
                jsonpatch.apply_patch(each, yaml.safe_load(patch["patch"]), in_place=True)


def _name(one: Json) -> tuple[str, str]:
    return one["kind"], one["metadata"]["name"]


def _place(one: Json, home: str) -> None:
    """Move an object to the install namespace."""
    metadata = one["metadata"]
    if one["kind"] == "Namespace" and metadata["name"] != home:
        # It may hold other things, so it goes without the label by which an uninstall finds what it deletes.
        del metadata["labels"]["app.kubernetes.io/name"]
        metadata["name"] = home
    if "namespace" in metadata:
        metadata["namespace"] = home
    for subject in one.get("subjects", ()):
        subject["namespace"] = home


def _set_workload(spec: Json, settings: Settings) -> None:
    if settings.schedule:
        spec["schedule"] = settings.schedule
    job = spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec
    (container,) = job["template"]["spec"]["containers"]
    container["image"] = settings.image
    if settings.watch_namespace:
        container["args"].append(f"--namespace={','.join(settings.watch_namespace)}")
