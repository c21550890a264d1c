"""`takara-sync manifests`: the objects of k8s/, for `kubectl apply --server-side -f -`.

It reads the files that the kustomizations name as resources, and does by its options what their patches and components
do. A test compares the result with that of `kubectl kustomize`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from takara_sync.cli.output import write
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit

Json = dict[str, Any]

_HOME = files("takara_sync") / "k8s"
_CLUSTER_WIDE = (("ClusterRole", "takara-sync"), ("ClusterRoleBinding", "takara-sync"))
_ONCE_SECONDS = 170  # k8s/once: the deadline of a pass, and 120 s for scheduling and the image


def run(settings: Settings, stop: Stop) -> Exit:  # noqa: ARG001 - it is over before anybody could ask for the end
    """Print the manifests as YAML."""
    write(yaml.safe_dump_all(manifests(settings), sort_keys=False, width=120))
    return Exit.OK


def manifests(settings: Settings) -> list[Json]:
    """The Takara API, the base and the workload, in the order in which they can be applied."""
    workload = "loop" if settings.mode == "loop" else "cronjob"
    home, objects = settings.install_namespace, [*_read(_HOME / "crd"), *_read(_HOME / workload)]
    objects = [_placed(each, home) for each in objects]
    if home == "default" or home.startswith("kube-"):
        objects = [each for each in objects if each["kind"] != "Namespace"]  # it is there, and the cluster's own
    if settings.watch_namespace:
        objects = [each for each in objects if (each["kind"], each["metadata"]["name"]) not in _CLUSTER_WIDE]
        objects += [role for namespace in settings.watch_namespace for role in _roles(namespace, home)]
    for each in objects:
        if (each["kind"], each["metadata"]["name"]) == ("ValidatingAdmissionPolicy", "takara-sync"):
            each["spec"]["variables"][0]["expression"] = "true" if settings.allow_templates else "false"
        elif each["kind"] == "CronJob":
            _set_job(each["spec"], settings)
        elif each["kind"] == "Deployment":
            _set_pod(each["spec"]["template"]["spec"], settings)
    return objects


def _read(path: Traversable) -> Iterator[Json]:
    """The objects of a file, or of the resources of a kustomization."""
    if path.is_file():
        yield from yaml.safe_load_all(path.read_text("utf-8"))
    else:
        for resource in yaml.safe_load((path / "kustomization.yaml").read_text("utf-8"))["resources"]:
            yield from _read(path / resource)


def _placed(one: Json, home: str) -> Json:
    """The object in the install namespace."""
    metadata = one["metadata"]
    if one["kind"] == "Namespace" and metadata["name"] != home:
        # It may hold other things, so it goes without the label by which an uninstall finds what it deletes.
        del metadata["labels"]["app.kubernetes.io/name"]
        metadata["name"] = home
    if "namespace" in metadata:
        metadata["namespace"] = home
    for subject in one.get("subjects", ()):
        subject["namespace"] = home
    return one


def _roles(namespace: str, home: str) -> Iterator[Json]:
    """The Role in a watched namespace, and its binding to our ServiceAccount in the install namespace."""
    for role in _read(_HOME / "components" / "namespaced" / "role.yaml"):
        _placed(role, home)["metadata"]["namespace"] = namespace
        yield role


def _set_job(spec: Json, settings: Settings) -> None:
    if settings.schedule:
        spec["schedule"] = settings.schedule
    if settings.mode == "once":
        spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] = _ONCE_SECONDS
    _set_pod(spec["jobTemplate"]["spec"]["template"]["spec"], settings)


def _set_pod(spec: Json, settings: Settings) -> None:
    (container,) = spec["containers"]
    container["image"] = settings.image
    args = container["args"]
    if settings.mode == "once":
        args = ["once", *(arg for arg in args if not arg.startswith(("--interval=", "--duration=")))]
    if settings.watch_namespace:
        args = [*args, f"--namespace={','.join(settings.watch_namespace)}"]
    if settings.allow_templates:
        args = [*args, "--allow-templates"]
    container["args"] = args
