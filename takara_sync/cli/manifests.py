"""`takara-sync manifests`: the objects of k8s/, for `kubectl apply --server-side -f -`.

It reads the same files as `kubectl kustomize`, as far as they need it: resources, components, JSON patches of one
target, and `$patch: delete`. What it does not know it refuses. Then it says what the options say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import jsonpatch
import yaml

from takara_sync.cli.output import write
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError
from takara_sync.report import Exit

Json = dict[str, Any]

_NAMESPACE = "takara-system"
_WATCHED = "default"  # what components/namespaced says
_TEMPLATE = {"CronJob": ("spec", "jobTemplate", "spec", "template"), "Deployment": ("spec", "template")}


def run(settings: Settings, stop: Stop) -> Exit:  # noqa: ARG001 - it is over before anybody could ask for the end
    """Print the manifests as YAML.

    Raises:
        ConfigurationError: the schedule is none.
    """
    write(yaml.safe_dump_all(manifests(settings), sort_keys=False, width=120))
    return Exit.OK


def manifests(settings: Settings) -> list[Json]:
    """The Takara API, the base and the workload, in the order in which they can be applied."""
    home = files("takara_sync") / "k8s"
    objects = [*build(home, "crd"), *build(home, settings.mode)]
    if settings.watch_namespace:
        objects = apply_component(home, "components/namespaced", objects)
    if settings.allow_templates:
        objects = apply_component(home, "components/templates", objects)
    placed = [each for one in objects for each in _placed(one, settings)]
    for each in placed:
        if each["kind"] in _TEMPLATE:
            _set_workload(each, settings)
    return placed


def _placed(one: Json, settings: Settings) -> Iterator[Json]:
    """The object in the install namespace, or once in each watched one, or as it is where it is in none."""
    home, metadata = settings.install_namespace, one["metadata"]
    if one["kind"] == "Namespace":
        if home != "default" and not home.startswith("kube-"):  # those are there, and the cluster's own
            yield one if home == _NAMESPACE else one | {"metadata": _theirs(metadata, home)}
        return
    if "subjects" in one:
        one = one | {"subjects": [subject | {"namespace": home} for subject in one["subjects"]]}
    places = {_NAMESPACE: (home,), _WATCHED: settings.watch_namespace, None: (None,)}[metadata.get("namespace")]
    for place in places:
        yield one if place is None else one | {"metadata": metadata | {"namespace": place}}


def _theirs(metadata: Json, home: str) -> Json:
    """The metadata of a namespace that may have been there before: without the label by which an uninstall finds it,
    or with takara-sync everything else in it would go."""
    labels = {key: value for key, value in metadata["labels"].items() if not key.startswith("app.kubernetes.io/")}
    return metadata | {"name": home, "labels": labels}


def _set_workload(one: Json, settings: Settings) -> None:
    template = one
    for key in _TEMPLATE[one["kind"]]:
        template = template[key]
    (container,) = template["spec"]["containers"]
    container["image"] = settings.image
    scope = f"--namespace={','.join(settings.watch_namespace)}"
    container["args"] = [scope if arg == f"--namespace={_WATCHED}" else arg for arg in container["args"]]
    if one["kind"] == "CronJob" and settings.schedule:
        one["spec"]["schedule"] = _checked(settings.schedule)


def _checked(schedule: str) -> str:
    """Five fields, or @hourly and its like; a time zone has no place in it (Kubernetes refuses TZ= as well)."""
    if not re.fullmatch(r"@[a-z]+|[-*,/?0-9A-Za-z]+( +[-*,/?0-9A-Za-z]+){4}", schedule):
        raise ConfigurationError(f"The schedule cannot be {schedule!r}: expected five fields, such as '*/5 * * * *'")
    return schedule


# ------------------------------------------------------------------ as kubectl kustomize does it


def build(home: Traversable, folder: str) -> list[Json]:
    """The objects of one folder with a kustomization.yaml; `folder` is relative to `home`."""
    objects: list[Json] = []
    return _built(home, folder, _load(home, folder), objects)


def apply_component(home: Traversable, folder: str, objects: list[Json]) -> list[Json]:
    """`objects` as the component in `folder` changes them."""
    return _built(home, folder, _load(home, folder), objects)


def _load(home: Traversable, folder: str) -> Json:
    found = yaml.safe_load((home / folder / "kustomization.yaml").read_text("utf-8"))
    unknown = set(found) - {"apiVersion", "kind", "resources", "components", "patches"}
    assert not unknown, f"{folder}/kustomization.yaml has {unknown}, which takara-sync manifests does not know"
    return dict(found)


def _built(home: Traversable, folder: str, found: Json, objects: list[Json]) -> list[Json]:
    objects = list(objects)
    for resource in found.get("resources", ()):
        if resource.endswith(".yaml"):
            objects += yaml.safe_load_all((home / folder / resource).read_text("utf-8"))
        else:
            objects += build(home, _joined(folder, resource))
    for component in found.get("components", ()):
        objects = apply_component(home, _joined(folder, component), objects)
    for patch in found.get("patches", ()):
        objects = _patched(objects, yaml.safe_load(patch["patch"]), patch.get("target"))
    return objects


def _joined(folder: str, relative: str) -> str:
    parts = folder.split("/")
    for part in relative.split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _patched(objects: list[Json], patch: Any, target: Json | None) -> list[Json]:
    if target is None:
        assert patch.get("$patch") == "delete", "the only patch without a target is a deletion"
        return [each for each in objects if _name(each) != _name(patch)]
    wanted = (target["kind"], target["name"])
    return [jsonpatch.apply_patch(each, patch) if _name(each) == wanted else each for each in objects]


def _name(one: Json) -> tuple[str, str]:
    return one["kind"], one["metadata"]["name"]
