"""What the server says about itself: versions, groups, resources, and OpenAPI v3 as far as kubectl asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from takara_sync.simulator.wire import Answer, Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from takara_sync.simulator.kinds import Kind

VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3+takara-sync-simulator",
    "platform": "simulator",
}
_VERBS = ["create", "delete", "get", "list", "patch", "update"]
_REVIEWS = "authorization.k8s.io/v1"


def answer(path: str, kinds: Iterable[Kind]) -> Answer | None:
    """The answer to a GET of a path that is about the server, or None."""
    by_version: dict[str, list[Kind]] = {_REVIEWS: []}
    for kind in kinds:
        by_version.setdefault(kind.api_version, []).append(kind)
    if path in ("/healthz", "/livez", "/readyz"):
        return Answer(200, b"ok", {"Content-Type": "text/plain; charset=utf-8"})
    found = _fixed(path, by_version)
    parts = path.strip("/").split("/")
    if parts[:2] == ["openapi", "v3"] and (version := _version(parts[2:])) in by_version:
        found = _openapi(version, by_version[version])
    elif (version := _version(parts)) in by_version:
        found = _resources(version, by_version[version])
    elif len(parts) == 2 and parts[0] == "apis":  # noqa: PLR2004 - /apis/<group>
        found = next((group for group in _groups(by_version) if group["name"] == parts[1]), None)
    return None if found is None else Answer.of(200, found)


def _fixed(path: str, by_version: dict[str, list[Kind]]) -> Json | None:
    if path == "/version":
        return VERSION
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": _groups(by_version)}
    if path == "/openapi/v3":
        served = {_prefix(version): {"serverRelativeURL": f"/openapi/v3/{_prefix(version)}"} for version in by_version}
        return {"paths": served}
    return None


def _version(parts: list[str]) -> str:
    """`apps/v1` of [apis, apps, v1], `v1` of [api, v1]."""
    prefix = {"apis": 3, "api": 2}.get(parts[0] if parts else "", 0)
    return "/".join(parts[1:]) if prefix and len(parts) == prefix else ""


def _prefix(version: str) -> str:
    return f"apis/{version}" if "/" in version else f"api/{version}"


def _groups(versions: Iterable[str]) -> list[Json]:
    found = []
    for version in versions:
        group, _, number = version.rpartition("/")
        if group:
            spoken = {"groupVersion": version, "version": number}
            found.append(
                {
                    "kind": "APIGroup",
                    "apiVersion": "v1",
                    "name": group,
                    "versions": [spoken],
                    "preferredVersion": spoken,
                }
            )
    return found


def _resources(version: str, kinds: list[Kind]) -> Json:
    found: list[Json] = []
    for kind in kinds:
        base = {"namespaced": kind.namespaced, "singularName": kind.kind.lower(), "kind": kind.kind}
        found.append(
            {
                "name": kind.plural,
                **base,
                "verbs": _VERBS,
                "shortNames": list(kind.short_names),
                "categories": list(kind.categories),
            }
        )
        for sub in kind.subresources:
            scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"} if sub == "scale" else {}
            found.append({"name": f"{kind.plural}/{sub}", **base, **scale, "verbs": ["get", "patch", "update"]})
    if version == _REVIEWS:
        found.append(
            {
                "name": "selfsubjectaccessreviews",
                "singularName": "selfsubjectaccessreview",
                "namespaced": False,
                "kind": "SelfSubjectAccessReview",
                "verbs": ["create"],
            }
        )
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": found}


def _openapi(version: str, kinds: list[Kind]) -> Json:
    """What kubectl looks up: that a patch of the kind knows fieldValidation; `explain` gets the CRD's schema."""
    paths, schemas = {}, {}
    for kind in kinds:
        known = [{"group": kind.group, "version": kind.version, "kind": kind.kind}]
        query: list[Any] = [
            {"name": name, "in": "query", "schema": {"type": "string"}}
            for name in ("dryRun", "fieldManager", "fieldValidation", "force")
        ]
        place = "namespaces/{namespace}/" if kind.namespaced else ""
        paths[f"/{_prefix(version)}/{place}{kind.plural}/{{name}}"] = {
            "patch": {
                "parameters": query,
                "x-kubernetes-action": "patch",
                "x-kubernetes-group-version-kind": known[0],
            }
        }
        of = kind.schema or {"type": "object"}
        schemas[f"{kind.version}.{kind.kind}"] = {**of, "x-kubernetes-group-version-kind": known}
    return {
        "openapi": "3.0.0",
        "info": {"title": "takara-sync simulator", "version": VERSION["gitVersion"]},
        "paths": paths,
        "components": {"schemas": schemas},
    }
