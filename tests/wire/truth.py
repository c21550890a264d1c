"""Whether a report is true: each of its claims against what the server really holds, before the pass and after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from takara_sync.objects import FIELD_MANAGER
from takara_sync.report import CHANGED
from tests.wire.fleet import RESULTS, Behind

if TYPE_CHECKING:
    from takara_sync.simulator import Store
    from tests.wire.command import Ended

Json = dict[str, Any]
_LISTS = ("/apis/maho.takara.org/v1alpha1/takaras", "/apis/apps/v1/deployments")


@dataclass(frozen=True)
class Picture:
    """What a store holds at one moment, by name."""

    takaras: dict[str, Json]
    deployments: dict[str, Json]

    @classmethod
    def of(cls, store: Store) -> Picture:
        lists = (Behind(store).call("GET", path).body["items"] for path in _LISTS)
        return cls(*({one["metadata"]["name"]: one for one in items} for items in lists))

    def right(self, name: str) -> bool:
        """Whether the Deployment is as its Takara asks for it, and ours in every field."""
        takara, deployment = self.takaras[name], self.deployments.get(name)
        if deployment is None:
            return False
        metadata, spec = deployment["metadata"], deployment["spec"]
        labels = {"app": "takara", "takara_cr": name}
        owners = [one["uid"] for one in metadata.get("ownerReferences", [])]
        pod = spec["template"]["spec"]["containers"][0]
        return bool(
            spec["replicas"] == takara["spec"]["size"]
            and labels.items() <= metadata.get("labels", {}).items()
            and owners == [takara["metadata"]["uid"]]
            and (pod["name"], pod["image"]) == ("takara", "busybox")
            and _holders(metadata["managedFields"]) == {(FIELD_MANAGER, "Apply")}
        )

    def has_its_status(self, name: str) -> bool:
        """Whether the status is that of this Takara and of this Deployment, as far as both can be seen in it."""
        takara, deployment = self.takaras[name], self.deployments.get(name)
        status = takara["status"]
        uid = deployment["metadata"]["uid"] if deployment else None
        seen = status["observedGeneration"] == takara["metadata"]["generation"]
        return bool(seen and status.get("deployment", {}).get("uid", uid) == uid)


def _holders(entries: list[Json]) -> set[tuple[str, str]]:
    """Who holds the containers of a Deployment, and by which operation."""
    return {
        (one["manager"], one["operation"])
        for one in entries
        if "f:containers" in one["fieldsV1"].get("f:spec", {}).get("f:template", {}).get("f:spec", {})
    }


def untruths(ended: Ended, before: Picture, after: Picture, *, lost: bool = False) -> list[str]:
    """What is not true in the report. `lost`: a write may have been done without an answer that says so."""
    report = ended.report
    found = [f"{one['name']}: {why}" for one in report["takaras"] for why in _of_one(one, before, after, lost=lost)]
    results = Counter(one["result"] for one in report["takaras"])
    claims = {
        "the exit code": report["exit"] == ended.code,
        "the log's last line": ended.log[-1].get("exit") == ended.code,
        "the log of changes": _each_change_is_logged_once(ended),
        "the counts": report["counts"] == results,
        "the error": (report["error"] is not None) == (ended.code not in (0, 1, 6)) or ended.code == 4,
        "whom it names": [one["name"] for one in report["takaras"]] == sorted(after.takaras) or ended.code in (3, 4),
        "a good end": ended.code != 0 or all(after.right(name) for name in RESULTS if name != "strange"),
        "a failure": ended.code != 1 or "failed" in results,
        "the stranger's Deployment": before.deployments["strange"] == after.deployments["strange"],
    }
    return found + [what for what, holds in claims.items() if not holds]


def _each_change_is_logged_once(ended: Ended) -> bool:
    """What failed later may have been changed before."""
    lines = [line for line in ended.log if line["level"] == "info" and line.get("result") in CHANGED]
    logged = {line["takara"] for line in lines}
    results = {f"{one['namespace']}/{one['name']}": one["result"] for one in ended.report["takaras"]}
    changed = {name for name, result in results.items() if result in CHANGED}
    unfinished = {name for name, result in results.items() if result in ("failed", "not reached")}
    return len({line["message"] for line in lines}) == len(lines) and changed <= logged <= changed | unfinished


def _of_one(said: Json, before: Picture, after: Picture, *, lost: bool) -> list[str]:
    name, result = said["name"], said["result"]
    was, now = before.deployments.get(name), after.deployments.get(name)
    moved = was != now
    claims = {
        "created": (was is None and after.right(name)),
        "updated": (was is not None and moved and after.right(name) and bool(said["changes"])),
        "taken over": (was is not None and moved and after.right(name)),
        "unchanged": (after.right(name) and (lost or not moved)),
        "blocked": not moved,
        "failed": bool(said["message"]),
        "not reached": bool(said["message"]),
    }
    status_moved = before.takaras[name].get("status") != after.takaras[name].get("status")
    untrue = [] if claims.get(result) else [f"{result} ({said['reason']}: {said['message']})"]
    if said["statusWritten"] and not (status_moved and after.has_its_status(name)):
        untrue.append("its status was not written")
    if status_moved and not said["statusWritten"] and not lost:
        untrue.append("its status was written")
    return untrue
