"""`takara-sync status NAME`: one Takara, what there is, who owns each field, and the next step. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from takara_sync.backoff import wait_after
from takara_sync.cli.render import aligned, fitted, style
from takara_sync.cli.status.overview import attention
from takara_sync.cli.status.words import counted, moment, shown
from takara_sync.conditions import CAUSES, REJECTED, Reason
from takara_sync.desired import selector_text
from takara_sync.diff import dotted, paths, value_at
from takara_sync.events import REPORTER
from takara_sync.managed_fields import REPLICAS, holders
from takara_sync.objects import FIELD_MANAGER, Deployment, PodDetail, PodStatus, Takara
from takara_sync.ownership import controlled_by
from takara_sync.status import nodes_of
from takara_sync.text import one_line, rfc3339

_ROWS_MAX = 20  # pods and events in the text; the JSON has all of them


# ------------------------------------------------------------------ what is read


class _Wire(Struct, frozen=True, rename="camel"):
    """A part of an API object, with the API's own spelling of field names."""


class _PhaseAndStatus(PodStatus, frozen=True):
    phase: str = ""
    reason: str = ""


class PodAndStatus(PodDetail, frozen=True):
    """A pod with its phase, which a pass does not need."""

    status: _PhaseAndStatus = _PhaseAndStatus()


class _Series(_Wire, frozen=True):
    count: int = 0
    last_observed_time: str | None = None


class Event(_Wire, frozen=True):
    """An Event of events.k8s.io/v1."""

    event_time: str | None = None
    deprecated_last_timestamp: str | None = None
    series: _Series | None = None
    type: str = ""
    reason: str = ""
    note: str = ""
    reporting_controller: str = ""

    @property
    def at(self) -> str:
        """The last time that it happened."""
        last = self.series.last_observed_time if self.series else None
        return last or self.event_time or self.deprecated_last_timestamp or ""


# ------------------------------------------------------------------ the form of -o json


class ConditionDocument(Struct, frozen=True):
    """A condition."""

    type: str
    status: str
    reason: str
    message: str
    since: str


class DeploymentDocument(Struct, frozen=True, rename="camel"):
    """The Deployment of the same name. `controller`: its controller. `observed`: whether the Deployment controller has
    seen its newest generation."""

    controller: str
    ours: bool
    deleting: bool
    replicas: int
    updated: int
    ready: int
    available: int
    observed: bool
    conditions: tuple[ConditionDocument, ...]


class FieldDocument(Struct, frozen=True):
    """A field of the Deployment, and one of its owners. `since`: the last write of this owner; empty if unknown."""

    field: str
    value: Any
    owner: str
    subresource: str
    since: str


class PodDocument(Struct, frozen=True):
    """A pod. `state`: as kubectl shows it."""

    name: str
    state: str
    ready: bool
    restarts: int
    message: str


class EventDocument(Struct, frozen=True):
    """An event about the Takara. `reporter`: the controller that sent it."""

    time: str
    type: str
    reason: str
    note: str
    reporter: str


class RetryDocument(Struct, frozen=True, rename="camel"):
    """What takara-sync leaves as it is for a while: `field` and who wants it otherwise, since when, when it tries
    again, and how often it did in a row."""

    field: str
    manager: str
    since: str
    next_try: str
    times: int


class DetailDocument(Struct, frozen=True, rename="camel"):
    """One Takara. A part is null if it is not checked; `deployment` also if it does not exist."""

    namespace: str
    name: str
    uid: str
    spec: Any
    generation: int
    observed_generation: int | None
    paused: bool
    deleting: bool
    state: str
    stalled: bool
    stale: bool
    since: str
    message: str
    conditions: tuple[ConditionDocument, ...]
    deployment: DeploymentDocument | None
    fields: tuple[FieldDocument, ...] | None
    contest: RetryDocument | None
    admission: RetryDocument | None
    pods: tuple[PodDocument, ...] | None
    events: tuple[EventDocument, ...] | None
    next: tuple[str, ...]


# ------------------------------------------------------------------ facts


def document(
    takara: Takara,
    deployment: Deployment | None,
    pods: Sequence[PodAndStatus] | None,
    events: Sequence[Event] | None,
    *,
    checked: bool = True,
) -> DetailDocument:
    """All facts. deployment: None if it does not exist, or is not checked. pods, events: None if not checked."""
    seen, observed = attention(takara), takara.recorded_status.get("observedGeneration")
    found = None if pods is None else pods_of(takara, pods)
    shown_events = None if events is None else tuple(map(_event, sorted(events, key=lambda event: event.at)))
    contest, admission = _contest(takara), _admission(takara)
    return DetailDocument(
        namespace=takara.metadata.namespace,
        name=takara.metadata.name,
        uid=takara.uid,
        spec=takara.spec,
        generation=takara.metadata.generation,
        observed_generation=observed if type(observed) is int else None,
        paused=takara.paused,
        deleting=takara.deleting,
        state=seen.state,
        stalled=seen.stalled,
        stale=seen.stale,
        since=seen.since,
        message=seen.message,
        conditions=tuple(_condition(each) for each in takara.conditions),
        deployment=None if deployment is None else _deployment(deployment, takara),
        fields=fields_of(deployment) if checked else None,
        contest=contest,
        admission=admission,
        pods=found,
        events=shown_events,
        next=tuple(next_steps(takara, deployment if checked else None, found or (), contest or admission)),
    )


def _deployment(deployment: Deployment, takara: Takara) -> DeploymentDocument:
    status, owner = deployment.status, deployment.controller
    return DeploymentDocument(
        controller="" if owner is None else f"{owner.kind} {owner.name}",
        ours=controlled_by(deployment, takara),
        deleting=deployment.deleting,
        replicas=deployment.replicas,
        updated=status.updated_replicas,
        ready=status.ready_replicas,
        available=status.available_replicas,
        observed=status.observed_generation == deployment.metadata.generation,
        conditions=tuple(_condition(msgspec.to_builtins(each)) for each in status.all_conditions),
    )


def _condition(found: dict[str, Any]) -> ConditionDocument:
    texts = (found.get(key) for key in ("type", "status", "reason", "message", "lastTransitionTime"))
    return ConditionDocument(*(one_line(text) if isinstance(text, str) else "" for text in texts))


def fields_of(deployment: Deployment | None) -> tuple[FieldDocument, ...]:
    """Each field of the Deployment that has an owner, once for each of its owners, without its status."""
    if deployment is None:
        return ()
    live, found = deployment.as_manifest(), list[FieldDocument]()
    for entry in deployment.managed_fields:
        every = list(paths(entry.fields)) if entry.subresource != "status" else []
        parents = {path[:length] for path in every for length in range(len(path))}
        found += [
            FieldDocument(dotted(path), value_at(live, path), entry.manager, entry.subresource, entry.time or "")
            for path in every
            if path not in parents and path[0] in live  # as_manifest has what a manifest can set
        ]
    return tuple(sorted(found, key=lambda each: (each.field, each.owner)))


def pods_of(takara: Takara, pods: Sequence[PodAndStatus]) -> tuple[PodDocument, ...]:
    """The pods of the Deployment of this Takara, without strays, sorted by name."""
    known = [msgspec.structs.replace(each.pod(), deleting=False) for each in pods]
    names = set(nodes_of(known, [takara]).get(takara.key, ()))
    return tuple(sorted((_pod(each) for each in pods if each.metadata.name in names), key=lambda pod: pod.name))


def _pod(pod: PodAndStatus) -> PodDocument:
    status = pod.status
    containers = (*(status.init_container_statuses or ()), *(status.container_statuses or ()))
    waiting = next(
        (each.state.waiting for each in containers if each.state.waiting and each.state.waiting.reason), None
    )
    conditions = {each.type: each for each in status.conditions or ()}
    scheduled, ready = conditions.get("PodScheduled"), conditions.get("Ready")
    unscheduled = scheduled if scheduled and scheduled.status == "False" else None
    why = waiting or unscheduled
    if pod.metadata.deletion_timestamp is not None:
        state = "Terminating"
    elif why:
        state = why.reason
    else:
        state = status.reason or status.phase or "Pending"
    return PodDocument(
        pod.metadata.name,
        one_line(state),
        ready=ready.status == "True" if ready else status.phase == "Running",
        restarts=sum(each.restart_count for each in containers),
        message=one_line(why.message) if why else "",
    )


def _event(event: Event) -> EventDocument:
    texts = (event.at, event.type, event.reason, event.note, event.reporting_controller)
    return EventDocument(*map(one_line, texts))


def _contest(takara: Takara) -> RetryDocument | None:
    """The manager that keeps the replicas; None if there is no contest."""
    record = takara.applied.replicas_taken_by
    if record is None or takara.condition("Ready").get("reason") != Reason.REPLICAS_CONTESTED:
        return None
    next_try = _after(record.at, wait_after(record.times))
    return RetryDocument("spec.replicas", one_line(record.manager), record.at, next_try, record.times)


def _admission(takara: Takara) -> RetryDocument | None:
    """The field that a webhook or policy changes; None if there is none."""
    record = takara.applied.changed_on_admission
    if record is None:
        return None
    next_try = _after(record.at, wait_after(record.times))
    return RetryDocument(one_line(record.field), "a webhook or policy", record.at, next_try, record.times)


def _after(at: str, wait: timedelta) -> str:
    try:
        return rfc3339(datetime.fromisoformat(at) + wait)
    except (ValueError, OverflowError):
        return ""


# ------------------------------------------------------------------ the next step


def next_steps(
    takara: Takara, deployment: Deployment | None, pods: Sequence[PodDocument], retry: RetryDocument | None
) -> Iterator[str]:
    """What happens next, or what a person can do; the most important first."""
    here, seen = f"-n {takara.metadata.namespace}", attention(takara)
    if takara.deleting:
        yield "Wait: garbage collection removes its Deployment."
        return
    if takara.paused:
        yield (
            f"takara-sync leaves its Deployment alone until the annotation goes: "
            f"kubectl {here} annotate takara {takara.metadata.name} maho.takara.org/paused-"
        )
    if seen.stale:
        yield f"No pass has seen generation {takara.metadata.generation} yet: takara-sync status says whether one runs."
        return
    if seen.stalled:
        again = " A loop tries again within 5 minutes." if takara.condition("Stalled").get("reason") in REJECTED else ""
        yield f"A person has to act: {takara.condition('Stalled').get('message', '')}{again}"
    elif seen.state == Reason.REPLICAS_CONTESTED or seen.state in CAUSES:
        yield seen.message
    if retry and retry.next_try:
        yield f"takara-sync tries {retry.field} again at {retry.next_try}."
    elif deployment is not None and not takara.paused and not seen.stalled and deployment.replicas != takara.size:
        by = next((entry.manager for entry in holders(deployment.managed_fields, REPLICAS)), "")
        who = f", set by {one_line(by)}" if by and by != FIELD_MANAGER else ""
        yield f"The next pass sets the replicas: {deployment.replicas}{who}, to {takara.size}."
    yield from _pod_steps(here, pods)
    if not seen.stalled and seen.state != Reason.READY and not pods and not retry and not takara.paused:
        labels = selector_text(takara.metadata.name)
        yield f"See what keeps pods away: kubectl {here} describe deployment,replicaset -l {labels}"


def _pod_steps(here: str, pods: Sequence[PodDocument]) -> Iterator[str]:
    worst = next((pod for pod in pods if pod.message), next((pod for pod in pods if not pod.ready), None))
    if worst is not None:
        yield f"See why {worst.name} is {worst.state}: kubectl {here} describe pod {worst.name}"


# ------------------------------------------------------------------ in words


def lines(document: DetailDocument, now: datetime) -> Iterator[str]:
    """Everything but the first lines, which every form of the command has."""
    yield ""
    yield f"Takara {document.namespace}/{document.name}"
    size = document.spec.get("size") if isinstance(document.spec, dict) else document.spec
    template = ", a template of its own" if isinstance(document.spec, dict) and document.spec.get("template") else ""
    marks = "".join(f", {word}" for word, on in (("PAUSED", document.paused), ("DELETING", document.deleting)) if on)
    yield fitted(f"  spec        size {shown(size)}{template}{marks}", indent=14)
    yield from _state_lines(document, now)
    yield ""
    yield from _deployment_lines(document, now)
    if document.contest or document.admission:
        yield from _retry_lines(document, now)
    if document.pods is not None:
        yield ""
        yield from _pod_lines(document.pods)
    if document.fields:
        yield ""
        yield "Fields of the Deployment, and who owns them"
        rows = [("FIELD", "OWNER", "LAST WRITE", "VALUE"), *(_field_row(field, now) for field in document.fields)]
        for line, field in zip(aligned(rows), (None, *document.fields), strict=True):
            foreign = field is not None and field.owner != FIELD_MANAGER
            yield style(fitted(f"  {line}", indent=4), "yellow" if foreign else "")
    if document.events is not None:
        yield ""
        yield from _event_lines(document.events, now)


def _state_lines(document: DetailDocument, now: datetime) -> Iterator[str]:
    colour = "green" if document.state == Reason.READY else "red" if document.stalled else "yellow"
    since = f" since {moment(document.since, now)}" if document.since else ""
    yield f"  state       {style(document.state, colour)}{', Stalled' if document.stalled else ''}{since}"
    if document.message:
        yield fitted(f"  message     {document.message}", indent=14)
    of = "no status yet" if document.observed_generation in (None, -1) else f"status of {document.observed_generation}"
    stale = style(f", {of}: STALE", "yellow") if document.stale else ""
    yield f"  generation  {document.generation}{stale}"


def _deployment_lines(document: DetailDocument, now: datetime) -> Iterator[str]:
    found = document.deployment
    if found is None:
        yield "Deployment: not checked" if document.fields is None else "Deployment: there is none"
        return
    owner = "controlled by this Takara" if found.ours else f"controlled by {found.controller or 'nobody'}: LEFT ALONE"
    seen = "" if found.observed else ", not yet seen by its controller"
    yield f"Deployment: {owner}{', DELETING' if found.deleting else ''}{seen}"
    yield (
        f"  replicas    {found.replicas} wanted, {found.updated} updated, {found.ready} ready, "
        f"{found.available} available"
    )
    for each in found.conditions:
        text = f"  {each.type:<11} {each.status} ({each.reason}) since {moment(each.since, now)}: {each.message}"
        yield fitted(text, indent=14)


def _retry_lines(document: DetailDocument, now: datetime) -> Iterator[str]:
    for retry in filter(None, (document.contest, document.admission)):
        text = (
            f"  contest     {retry.manager} sets {retry.field}; last set back {moment(retry.since, now)}, "
            f"next try {moment(retry.next_try, now)}"
        )
        yield style(fitted(text, indent=14), "yellow")


def _pod_lines(pods: Sequence[PodDocument]) -> Iterator[str]:
    states = Counter(pod.state for pod in pods)
    yield f"{counted(len(pods), 'pod').capitalize()}{': ' if pods else ''}" + ", ".join(
        f"{number} {state}" for state, number in sorted(states.items())
    )
    odd = [pod for pod in pods if not pod.ready]
    rows = [(pod.name, pod.state, counted(pod.restarts, "restart"), pod.message) for pod in odd[:_ROWS_MAX]]
    yield from (style(fitted(f"  {line}", indent=4), "yellow") for line in (aligned(rows) if rows else ()))
    if len(odd) > _ROWS_MAX:
        yield f"  and {len(odd) - _ROWS_MAX} more"


def _field_row(field: FieldDocument, now: datetime) -> tuple[str, ...]:
    owner = field.owner + (f", subresource {field.subresource}" if field.subresource else "")
    since = moment(field.since, now) if field.since else "unknown"
    return one_line(field.field), one_line(owner), one_line(since), shown(field.value)


def _event_lines(events: Sequence[EventDocument], now: datetime) -> Iterator[str]:
    yield f"Events{'' if events else ': none'} (the cluster keeps them for about an hour)"
    rows = [
        (moment(each.time, now), each.reason, each.note + (f" [{each.reporter}]" if each.reporter != REPORTER else ""))
        for each in events[-_ROWS_MAX:]
    ]
    for line, each in zip(aligned(rows) if rows else (), events[-_ROWS_MAX:], strict=True):
        yield style(fitted(f"  {line}", indent=4), "yellow" if each.type == "Warning" else "")
