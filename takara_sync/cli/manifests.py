"""`takara-sync manifests`: the objects of k8s/, for `kubectl apply --server-side -f -`.

It builds the kustomizations of k8s/ with the packages for YAML and JSON patches, and then sets what the options say. A
test compares the result with that of `kubectl kustomize`. docs/chart.py makes the Helm chart from the same objects.
"""

from __future__ import annotations

import math
import shlex
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any

import jsonpatch
import yaml
from jsonpointer import resolve_pointer, set_pointer

from takara_sync.cli.options import load
from takara_sync.cli.render import write
from takara_sync.cli.settings import Settings, about
from takara_sync.cli.sources import flag_of
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError
from takara_sync.report import Exit

Json = dict[str, Any]

_HOME = files("takara_sync") / "k8s"
_CLUSTER_WIDE = (("ClusterRole", "takara-sync"), ("ClusterRoleBinding", "takara-sync"))
_KEEP_THEIR_NAMES = ("CustomResourceDefinition", "Namespace")  # as in kustomize
_WORKLOADS = ("CronJob", "Deployment")
_REFERENCES = {
    "RoleBinding": ("/roleRef/name", "/subjects/0/name"),
    "ClusterRoleBinding": ("/roleRef/name", "/subjects/0/name"),
    "Role": ("/rules/0/resourceNames/0",),
    "ValidatingAdmissionPolicyBinding": ("/spec/policyName",),
    "FlowSchema": ("/spec/priorityLevelConfiguration/name", "/spec/rules/0/subjects/0/serviceAccount/name"),
    "CronJob": ("/spec/jobTemplate/spec/template/spec/serviceAccountName",),
    "Deployment": ("/spec/template/spec/serviceAccountName",),
}
"""Where an object names another one of the install, as JSON pointers."""
_PLACES = ("/metadata/namespace", "/subjects/0/namespace", "/spec/rules/0/subjects/0/serviceAccount/namespace")
"""Where an object names the install namespace."""
PASSED_ON = tuple(
    name
    for name, field in Settings.model_fields.items()
    if {"loop", "manifests"} <= set(about(field)["commands"]) and name != "allow_templates"  # that is a component
)
"""The options that go into the arguments of the installed copy as they are."""


def run(settings: Settings, stop: Stop) -> Exit:  # noqa: ARG001 - no step of it waits
    """Print the manifests, or what to delete, as YAML.

    Raises:
        ConfigurationError: --replaces has no options of this command.
    """
    found = left_by(settings) if settings.replaces else manifests(settings)
    write(yaml.safe_dump_all(found, sort_keys=False, width=120) if found else "")
    return Exit.OK


def manifests(settings: Settings) -> list[Json]:
    """The Takara API, the base and the workload, in the order in which they can be applied."""
    objects = _chosen(settings)
    for each in objects:
        _place(each, settings.install_namespace)
        if each["kind"] in _WORKLOADS:
            _set_workload(each["spec"], settings)
        if each["kind"] == "ValidatingAdmissionPolicy":
            _set_policy(each["spec"], settings)
    for namespace in settings.watch_namespace:
        for role in _read("components/namespaced/role.yaml"):
            _place(role, settings.install_namespace)
            role["metadata"]["namespace"] = namespace
            objects.append(role)
    if settings.allow_templates:
        _patch(objects, "components/templates")
    _rename(objects, settings.name_prefix or "")
    return objects


def _chosen(settings: Settings) -> list[Json]:
    """The objects of the folders and components."""
    objects = [*([] if settings.skip_crd else _built("crd")), *_built(settings.mode)]
    if settings.network_policy:
        objects += _built("components/network-policy")
    if settings.priority_level:
        objects += _built("components/priority")
    if settings.uid_from_cluster:
        _patch(objects, "components/uid-from-cluster")
    home = settings.install_namespace
    there_already = home == "default" or home.startswith("kube-")
    left_out = [("Namespace", "takara-system")] if there_already else []
    left_out += _CLUSTER_WIDE if settings.watch_namespace else ()
    return [each for each in objects if _name(each) not in left_out]


def left_by(settings: Settings) -> list[Json]:
    """What an install with the options of --replaces has, and this one does not have: by name, and never the CRD.

    Raises:
        ConfigurationError: they are no options of this command.
    """
    try:
        old = load(["manifests", *shlex.split(settings.replaces or "")])[1]
    except ValueError as error:
        raise ConfigurationError(f"--replaces cannot be read: {error}", "Quote the options as one word.") from error
    kept = {(each["kind"], *_place_and_name(each).values()) for each in manifests(settings)}
    left = [each for each in manifests(old) if (each["kind"], *_place_and_name(each).values()) not in kept]
    return [
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": _place_and_name(each)}
        for each in sorted(left, key=_when_deleted)
        if each["kind"] not in _KEEP_THEIR_NAMES
    ]


def _when_deleted(one: Json) -> int:
    """First what runs, last what guards it."""
    return 0 if one["kind"] in _WORKLOADS else 2 if one["kind"].startswith("ValidatingAdmission") else 1


def _read(path: str) -> list[Json]:
    return deepcopy(_parsed((_HOME / path).read_text("utf-8")))


@cache  # docs/chart.py builds hundreds of sets of manifests
def _parsed(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


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
                jsonpatch.apply_patch(each, deepcopy(_parsed(patch["patch"])[0]), in_place=True)


def _name(one: Json) -> tuple[str, str]:
    return one["kind"], one["metadata"]["name"]


def _place_and_name(one: Json) -> dict[str, str]:
    return {key: one["metadata"][key] for key in ("namespace", "name") if key in one["metadata"]}


def _place(one: Json, home: str) -> None:
    """Move an object to the install namespace."""
    metadata = one["metadata"]
    if one["kind"] == "Namespace" and metadata["name"] != home:
        # It may hold other things, so it goes without the label by which an uninstall finds what it deletes.
        del metadata["labels"]["app.kubernetes.io/name"]
        metadata["name"] = home
    for place in _PLACES:
        if resolve_pointer(one, place, None):
            set_pointer(one, place, home)


def _rename(objects: list[Json], prefix: str) -> None:
    """Put the prefix before each name, and where another object names it."""
    own = {each["metadata"]["name"] for each in objects if each["kind"] not in _KEEP_THEIR_NAMES}
    for each in objects:
        names = ("/metadata/name", *_REFERENCES.get(each["kind"], ()))
        for pointer in names if each["kind"] not in _KEEP_THEIR_NAMES else ():
            if (name := resolve_pointer(each, pointer, None)) in own:
                set_pointer(each, pointer, prefix + name)


def _set_workload(spec: Json, settings: Settings) -> None:
    if settings.schedule:
        spec["schedule"] = settings.schedule
    job = spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec
    if "activeDeadlineSeconds" in job and "pass_timeout" in settings.model_fields_set:
        job["activeDeadlineSeconds"] += math.ceil(settings.pass_timeout)  # the first 175 s are for a pass of 50 s
    pod = job["template"]["spec"]
    (container,) = pod["containers"]
    container["image"], container["imagePullPolicy"] = settings.image, settings.image_pull_policy
    container["args"] = _arguments(container["args"], settings)
    container["resources"] = {
        "requests": {"cpu": settings.cpu_request, "memory": settings.memory_request},
        "limits": ({"cpu": settings.cpu_limit} if settings.cpu_limit else {}) | {"memory": settings.memory_limit},
    }
    if settings.image_pull_secret:
        pod["imagePullSecrets"] = [{"name": name} for name in settings.image_pull_secret]
    if settings.heartbeat_secret:
        secret = {"name": settings.heartbeat_secret, "key": "heartbeat-url"}
        url = {"name": "TAKARA_SYNC_HEARTBEAT_URL", "valueFrom": {"secretKeyRef": secret}}
        container["env"] = [*container.get("env", ()), url]


def _arguments(shipped: list[str], settings: Settings) -> list[str]:
    """What the mode has, each overridden by its option if that is given; then the other options that are given."""
    names = [name for name in PASSED_ON if name in settings.model_fields_set and getattr(settings, name) is not False]
    given = {flag_of(name): _argument(name, settings) for name in names}
    first = [given.pop(argument.partition("=")[0], argument) for argument in shipped]
    namespaces = [f"--namespace={','.join(settings.watch_namespace)}"] if settings.watch_namespace else []
    return [*first, *given.values(), *namespaces]


def _argument(name: str, settings: Settings) -> str:
    value = getattr(settings, name)
    if value is True:
        return flag_of(name)
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    return f"{flag_of(name)}={','.join(value) if isinstance(value, tuple) else value}"


def _set_policy(spec: Json, settings: Settings) -> None:
    """The variables of the admission policy that say what an install allows, as CEL has them."""
    values = {"image": settings.pod_image, "imagePullPolicy": settings.pod_pull_policy}
    expressions = {name: f"'{value}'" for name, value in values.items() if value}
    for variable in spec.get("variables", ()):
        if variable["name"] == "mayBeAdded" and settings.may_be_added:
            listed = ", ".join(f"'{field}'" for field in settings.may_be_added)
            variable["expression"] = f"{variable['expression']} + [{listed}]"
        variable["expression"] = expressions.get(variable["name"], variable["expression"])
