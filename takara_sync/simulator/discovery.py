"""What the server says about itself: versions, groups, resources, and OpenAPI v3 as far as kubectl asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from takara_sync.simulator.wire import Answer, Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from takara_sync.simulator.kinds import Kind

_VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.3+takara-sync-simulator", "platform": "simulator"}
_VERBS = ["create", "delete", "get", "list", "patch", "update"]
_SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
_REVIEWS = "authorization.k8s.io/v1"
_REVIEW = {"name": "selfsubjectaccessreviews", "singularName": "", "namespaced": False, "verbs": ["create"]}


def answer(path: str, kinds: Iterable[Kind]) -> Answer | None:
    """The answer to a GET of a path that is about the server, or None."""
    if path in ("/healthz", "/livez", "/readyz"):
        return Answer.text(200, "ok")
    served: dict[str, list[Kind]] = {_REVIEWS: []}
    for kind in kinds:
        served.setdefault(kind.api_version, []).append(kind)
    groups = [_group(version) for version in served if "/" in version]
    about: Json = {
        "/version": _VERSION,
        "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups},
        "/openapi/v3": {"paths": {_root(of)[1:]: {"serverRelativeURL": f"/openapi/v3{_root(of)}"} for of in served}},
        **{f"/apis/{group['name']}": group for group in groups},
        **{_root(version): _resources(version, found) for version, found in served.items()},
        **{f"/openapi/v3{_root(version)}": _openapi(version, found) for version, found in served.items()},
    }
    return Answer.of(200, about[path]) if path in about else None


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _group(version: str) -> Json:
    name, _, number = version.rpartition("/")
    spoken = {"groupVersion": version, "version": number}
    return {"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": [spoken], "preferredVersion": spoken}


def _resources(version: str, kinds: list[Kind]) -> Json:
    found: list[Json] = [{**_REVIEW, "kind": "SelfSubjectAccessReview"}] if version == _REVIEWS else []
    for kind in kinds:
        base = {"namespaced": kind.namespaced, "singularName": kind.kind.lower(), "kind": kind.kind}
        found.append({"name": kind.plural, **base, "verbs": _VERBS, "shortNames": [kind.short_name]})
        for sub in kind.subresources:
            shown = base | (_SCALE if sub == "scale" else {})
            found.append({"name": f"{kind.plural}/{sub}", **shown, "verbs": ["get", "patch", "update"]})
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": found}


def _openapi(version: str, kinds: list[Kind]) -> Json:
    """What kubectl looks up: that a patch of the kind knows fieldValidation."""
    paths = {}
    for kind in kinds:
        known = {"group": kind.group, "version": kind.version, "kind": kind.kind}
        patch = {"parameters": [{"name": "fieldValidation", "in": "query"}], "x-kubernetes-group-version-kind": known}
        paths[f"{_root(version)}/{kind.plural}/{{name}}"] = {"patch": {**patch, "x-kubernetes-action": "patch"}}
    return {"openapi": "3.0.0", "info": {"title": "simulator", "version": "1"}, "paths": paths}
