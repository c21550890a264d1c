"""The installed copies of takara-sync: the CronJob or Deployment, its last pass, and the rights of its account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from urllib.parse import quote

import msgspec
from msgspec import Struct

from takara_sync.cli.last_pass import PERIOD
from takara_sync.cli.status.reads import Reader
from takara_sync.cli.status.words import seconds_since

LABEL = "app.kubernetes.io/name=takara-sync"
DEFAULT_NAMESPACE = "takara-system"
LATE_PERIODS = 3
"""A copy is late if its last pass is older than so many periods."""

_KINDS = {"CronJob": "/apis/batch/v1{}/cronjobs", "Deployment": "/apis/apps/v1{}/deployments"}


# ------------------------------------------------------------------ what is read


class _Wire(Struct, frozen=True, rename="camel"):
    """A part of an API object, with the API's own spelling of field names."""


class Meta(_Wire, frozen=True):
    name: str
    namespace: str = ""
    creation_timestamp: str = ""


class _Container(_Wire, frozen=True):
    image: str = ""
    args: tuple[str, ...] | None = None


class _PodSpec(_Wire, frozen=True):
    containers: tuple[_Container, ...] = ()
    service_account_name: str = "default"


class _Template(_Wire, frozen=True):
    spec: _PodSpec = _PodSpec()


class _JobSpec(_Wire, frozen=True):
    template: _Template = _Template()


class _JobTemplate(_Wire, frozen=True):
    spec: _JobSpec = _JobSpec()


class _Spec(_Wire, frozen=True):
    schedule: str = ""
    suspend: bool = False
    replicas: int = 1
    template: _Template = _Template()
    job_template: _JobTemplate | None = None


class _Status(_Wire, frozen=True):
    last_schedule_time: str = ""
    ready_replicas: int = 0


class Workload(_Wire, frozen=True):
    """A CronJob or a Deployment, as far as this command shows it."""

    metadata: Meta
    spec: _Spec = _Spec()
    status: _Status = _Status()

    @property
    def pod(self) -> _PodSpec:
        return (self.spec.job_template.spec if self.spec.job_template else self.spec).template.spec

    @property
    def container(self) -> _Container:
        return next(iter(self.pod.containers), _Container())


class _ConfigMap(_Wire, frozen=True):
    data: dict[str, str] | None = None


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


def copies(reader: Reader, namespaces: Sequence[str], now: datetime) -> tuple[CopyDocument, ...] | None:
    """The installed copies; None if not checked.

    namespaces: where to look besides the default namespace, if the caller may not list all namespaces.
    """
    found: list[CopyDocument] = []
    checked = False
    for kind, path in _KINDS.items():
        workloads = _workloads(reader, kind, path, namespaces)
        checked = checked or workloads is not None
        found += [_copy(reader, kind, each, now) for each in workloads or ()]
    return tuple(found) if checked else None


def _workloads(reader: Reader, kind: str, path: str, namespaces: Sequence[str]) -> list[Workload] | None:
    before = len(reader.unchecked)
    everywhere = _labelled(reader, f"{kind}s of takara-sync", path.format(""))
    if everywhere is not None:
        return everywhere
    found: list[Workload] = []
    checked = False
    for namespace in dict.fromkeys((*namespaces, DEFAULT_NAMESPACE)):
        where = path.format(f"/namespaces/{quote(namespace, safe='')}")
        some = _labelled(reader, f"{kind}s of takara-sync in namespace {namespace}", where)
        checked, found = checked or some is not None, found + (some or [])
    del reader.unchecked[before + 1 :]  # the first line, about all namespaces, says it
    return found if checked else None


def _labelled(reader: Reader, what: str, path: str) -> list[Workload] | None:
    return reader.attempt(what, lambda: reader.items(path, Workload, labelSelector=LABEL))


def _copy(reader: Reader, kind: str, workload: Workload, now: datetime) -> CopyDocument:
    meta, spec, account = workload.metadata, workload.spec, workload.pod.service_account_name
    path = f"/api/v1/namespaces/{quote(meta.namespace, safe='')}/configmaps/{quote(account, safe='')}"
    maps = reader.attempt(f"the last pass of {meta.namespace}/{meta.name}", lambda: reader.one(path, _ConfigMap))
    data = maps[0].data or {} if maps else {}
    suspended = spec.suspend if kind == "CronJob" else spec.replicas == 0
    period = None if suspended or maps is None else _period(kind, spec.schedule, data)
    since = seconds_since(data.get("end", meta.creation_timestamp), now)
    return CopyDocument(
        kind=kind,
        namespace=meta.namespace,
        name=meta.name,
        account=account,
        image=workload.container.image,
        watches=_watched(workload.container.args or ()),
        suspended=suspended,
        schedule=spec.schedule,
        last_scheduled=workload.status.last_schedule_time,
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


def _watched(args: Sequence[str]) -> tuple[str, ...]:
    """The namespaces of `--namespace`; empty means all."""
    return tuple(dict.fromkeys(name for value in _values(args) for name in value.split(",")))


def _values(args: Sequence[str]) -> Iterator[str]:
    for number, arg in enumerate(args):
        flag, equals, value = arg.partition("=")
        if flag in ("--namespace", "-n"):
            yield value if equals else (*args[number + 1 :], "")[0]


# ------------------------------------------------------------------ admission policies


class _Name(_Wire, frozen=True):
    metadata: Meta


class _BindingSpec(_Wire, frozen=True):
    policy_name: str = ""
    validation_actions: tuple[str, ...] = ()


class _Binding(_Wire, frozen=True):
    spec: _BindingSpec = _BindingSpec()


class PolicyDocument(Struct, frozen=True):
    """An admission policy of takara-sync. `enforced`: whether a binding denies what the policy does not allow."""

    name: str
    enforced: bool


def policies(reader: Reader) -> tuple[PolicyDocument, ...] | None:
    """The admission policies of takara-sync; None if not checked."""
    root = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"

    def read() -> tuple[PolicyDocument, ...]:
        found = reader.items(f"{root}ies", _Name, labelSelector=LABEL)
        bindings = reader.items(f"{root}ybindings", _Binding)
        denied = {each.spec.policy_name for each in bindings if "Deny" in each.spec.validation_actions}
        return tuple(PolicyDocument(each.metadata.name, each.metadata.name in denied) for each in found)

    return reader.attempt("admission policies", read)
