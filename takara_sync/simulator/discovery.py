"""What the server says about itself: versions, groups, resources, and the part of OpenAPI v3 that kubectl needs."""

from __future__ import annotations

from collections.abc import Iterable

from takara_sync.simulator.kinds import Kind
from takara_sync.simulator.wire import Json

_VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.3+takara-sync-simulator", "platform": "simulator"}
_VERBS = ["create", "delete", "get", "list", "patch", "update"]
_SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale"}


def pages(kinds: Iterable[Kind]) -> dict[str, Json]:
    """What a GET of each path answers."""
    served: dict[str, list[Kind]] = {}
    for kind in kinds:
        served.setdefault(f"/{'apis' if kind.group else 'api'}/{kind.api_version}", []).append(kind)
    groups = {found[0].group: _group(found[0]) for found in served.values() if found[0].group}
    return {
        "/version": _VERSION,
        "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [*groups.values()]},
        "/openapi/v3": {"paths": {root[1:]: {"serverRelativeURL": f"/openapi/v3{root}"} for root in served}},
        **{f"/apis/{name}": group for name, group in groups.items()},
        **{root: _resources(found) for root, found in served.items()},
        **{f"/openapi/v3{root}": _openapi(root, found) for root, found in served.items()},
    }


def _group(kind: Kind) -> Json:
    version = {"groupVersion": kind.api_version, "version": kind.version}
    head = {"kind": "APIGroup", "apiVersion": "v1", "name": kind.group}
    return {**head, "versions": [version], "preferredVersion": version}


def _resources(kinds: list[Kind]) -> Json:
    found = [_resource(kind, name) for kind in kinds for name in ("", *kind.subresources)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": kinds[0].api_version, "resources": found}


def _resource(kind: Kind, subresource: str) -> Json:
    base = {"namespaced": kind.namespaced, "singularName": kind.kind.lower(), "kind": kind.kind, "verbs": _VERBS}
    if not subresource:
        return {**base, "name": kind.plural, "shortNames": [kind.short_name]}
    return {**base, **(_SCALE if subresource == "scale" else {}), "name": f"{kind.plural}/{subresource}"}


def _openapi(root: str, kinds: list[Kind]) -> Json:
    """What kubectl looks up: that a patch of the kind knows fieldValidation."""
    known = {"parameters": [{"name": "fieldValidation", "in": "query"}], "x-kubernetes-action": "patch"}
    names = [{"group": kind.group, "version": kind.version, "kind": kind.kind} for kind in kinds]
    paths = {f"{root}/{name['kind']}": {"patch": {**known, "x-kubernetes-group-version-kind": name}} for name in names}
    return {"openapi": "3.0.0", "info": {"title": "simulator", "version": "1"}, "paths": paths}
