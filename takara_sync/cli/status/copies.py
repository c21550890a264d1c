"""The installed copies of takara-sync, and the last pass that each recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from takara_sync.cli.installed import copy_of
from takara_sync.cli.last_pass import PERIOD
from takara_sync.cli.status.reads import Reader
from takara_sync.cli.status.words import seconds_since

LABEL = "app.kubernetes.io/name=takara-sync"
DEFAULT_NAMESPACE = "takara-system"
LATE_PERIODS = 3
"""A copy is late if its last pass is older than so many periods."""

Json = dict[str, Any]

_KINDS = {"CronJob": "/apis/batch/v1{}/cronjobs", "Deployment": "/apis/apps/v1{}/deployments"}


# ------------------------------------------------------------------ the form of -o json


class LastPassDocument(Struct, frozen=True, rename="camel"):
    """The last pass that a copy recorded. `exit` is its exit code. `lastSuccess`: the end of the last pass with 0."""

    start: str
    end: str
    exit: int | None
    result: str
    version: str
    counts: dict[str, int]
    last_success: str


class CopyDocument(Struct, frozen=True, rename="camel"):
    """An installed copy. `watches`: its namespaces, all if empty. `lastPass`: null if there is none, or if it is not
    checked. `late`: its last pass, or its start if there is none, is older than three periods; null if unknown."""

    kind: str
    namespace: str
    name: str
    account: str
    image: str
    watches: tuple[str, ...]
    suspended: bool
    schedule: str
    last_scheduled: str
    last_pass: LastPassDocument | None
    late: bool | None


# ------------------------------------------------------------------ reads


class _ConfigMap(Struct, frozen=True):
    data: dict[str, str] | None = None


def copies(reader: Reader, namespaces: Sequence[str], now: datetime) -> tuple[CopyDocument, ...] | None:
    """The installed copies; None if not checked.

    namespaces: where to look besides the default namespace, if the caller may not list all namespaces.
    """
    found = {kind: _workloads(reader, kind, path, namespaces) for kind, path in _KINDS.items()}
    if all(each is None for each in found.values()):
        return None
    return tuple(_copy(reader, kind, each, now) for kind, every in found.items() for each in every or ())


def _workloads(reader: Reader, kind: str, path: str, namespaces: Sequence[str]) -> list[Json] | None:
    before = len(reader.unchecked)
    everywhere = _labelled(reader, f"{kind}s of takara-sync", path.format(""))
    if everywhere is not None:
        return everywhere
    found: list[Json] = []
    checked = False
    for namespace in dict.fromkeys((*namespaces, DEFAULT_NAMESPACE)):
        where = path.format(f"/namespaces/{quote(namespace, safe='')}")
        some = _labelled(reader, f"{kind}s of takara-sync in namespace {namespace}", where)
        checked, found = checked or some is not None, found + (some or [])
    del reader.unchecked[before + 1 :]  # the first line, about all namespaces, says it
    return found if checked else None


def _labelled(reader: Reader, what: str, path: str) -> list[Json] | None:
    return reader.attempt(what, lambda: reader.items(path, Json, labelSelector=LABEL))


def _copy(reader: Reader, kind: str, workload: Json, now: datetime) -> CopyDocument:
    copy, spec, meta = copy_of(workload), workload["spec"], workload["metadata"]
    path = f"/api/v1/namespaces/{quote(copy.home, safe='')}/configmaps/{quote(copy.account, safe='')}"
    maps = reader.attempt(f"the last pass of {copy.name}", lambda: reader.one(path, _ConfigMap))
    data = maps[0].data or {} if maps else {}
    suspended, schedule = not copy.runs, spec.get("schedule", "")
    period = None if suspended or maps is None else _period(kind, schedule, data)
    since = seconds_since(data.get("end", meta.get("creationTimestamp", "")), now)
    return CopyDocument(
        kind=kind,
        namespace=copy.home,
        name=meta["name"],
        account=copy.account,
        image=copy.image,
        watches=copy.namespaces,
        suspended=suspended,
        schedule=schedule,
        last_scheduled=workload.get("status", {}).get("lastScheduleTime") or "",
        last_pass=_last_pass(data) if data else None,
        late=None if period is None or since is None else since > LATE_PERIODS * period,
    )


def _period(kind: str, schedule: str, data: Mapping[str, str]) -> float | None:
    """The seconds between two records; None for a schedule that is not a number of minutes."""
    if kind == "CronJob":
        minutes, _, rest = schedule.partition(" ")
        every = "1" if minutes == "*" else minutes.removeprefix("*/")
        return int(every) * 60.0 if rest == "* * * *" and every.isdecimal() and minutes.startswith("*") else None
    try:
        return max(PERIOD, float(data.get("interval", "")))
    except ValueError:
        return PERIOD


def _last_pass(data: Mapping[str, str]) -> LastPassDocument:
    """The record. A person may have written anything into the ConfigMap."""
    code = data.get("exit", "")
    start, end, result, version, last = (
        data.get(key, "") for key in ("start", "end", "result", "version", "lastSuccess")
    )
    return LastPassDocument(start, end, int(code) if code.isdecimal() else None, result, version, _counts(data), last)


def _counts(data: Mapping[str, str]) -> dict[str, int]:
    try:
        return msgspec.json.decode(data.get("counts", "{}"), type=dict[str, int])
    except msgspec.MsgspecError:
        return {}
