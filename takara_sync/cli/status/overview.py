"""`takara-sync status`: the installed copies, the Takaras by state, rights and admission policies. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from takara_sync.cli.check import CheckedDocument
from takara_sync.cli.render import aligned, fitted, style
from takara_sync.cli.status.copies import CopyDocument
from takara_sync.cli.status.words import age, counted, moment, seconds_since
from takara_sync.conditions import Reason
from takara_sync.objects import Takara
from takara_sync.text import one_line, some

UNSEEN = "Unseen"
"""The state of a Takara without a Ready condition: no pass has written its status."""
DELETING = "Deleting"

_ROWS_MAX = 20  # Takaras in the table; the JSON has all of them


# ------------------------------------------------------------------ the form of -o json


class AttentionDocument(Struct, frozen=True, rename="camel"):
    """A Takara that is not Ready, or whose generation is ahead of its status (`stale`). `since`: of this state."""

    namespace: str
    name: str
    size: int | None
    ready_replicas: int
    state: str
    stalled: bool
    stale: bool
    since: str
    message: str


class TakarasDocument(Struct, frozen=True, rename="camel"):
    """The Takaras by state: the reason of the condition Ready, `Unseen` or `Deleting`."""

    total: int
    states: dict[str, int]
    attention: tuple[AttentionDocument, ...]


class RightsDocument(Struct, frozen=True):
    """The rights of an account: of a ServiceAccount (`namespace/name`), or of the caller (empty)."""

    account: str
    checks: tuple[CheckedDocument, ...]


class OverviewDocument(Struct, frozen=True):
    """Without a NAME. A part is null if it is not checked. `installed`: what `check` finds about the copies, such as
    their admission policies."""

    copies: tuple[CopyDocument, ...] | None
    takaras: TakarasDocument | None
    rights: tuple[RightsDocument, ...]
    installed: tuple[CheckedDocument, ...]
    next: tuple[str, ...] = ()


# ------------------------------------------------------------------ facts


def takaras_document(takaras: Iterable[Takara]) -> TakarasDocument:
    """The Takaras, sorted by key."""
    every = [attention(takara) for takara in sorted(takaras, key=lambda takara: takara.key)]
    states = Counter(each.state for each in every)
    first = {Reason.READY: -1, UNSEEN: 1, DELETING: 2}
    ordered = sorted(states, key=lambda state: (first.get(state, 0), state))
    return TakarasDocument(
        len(every),
        {str(state): states[state] for state in ordered},
        tuple(each for each in every if each.state != Reason.READY or each.stale),
    )


def attention(takara: Takara) -> AttentionDocument:
    """The state of one Takara. Its status may have any form."""
    ready, replicas = takara.condition("Ready"), takara.recorded_status.get("readyReplicas")
    return AttentionDocument(
        takara.metadata.namespace,
        takara.metadata.name,
        takara.size if type(takara.size) is int else None,
        replicas if type(replicas) is int else 0,
        DELETING if takara.deleting else one_line(ready.get("reason") or UNSEEN),
        stalled=takara.condition("Stalled").get("status") == "True",
        stale=not takara.is_recorded,
        since=one_line(ready.get("lastTransitionTime", "")),
        message=one_line(ready.get("message", "")),
    )


def next_steps(copies: Sequence[CopyDocument] | None, takaras: TakarasDocument | None) -> Iterator[str]:
    """What a person can do, the most important first."""
    for copy in copies or ():
        where = f"{copy.kind} {copy.namespace}/{copy.name}"
        look = f"kubectl -n {copy.namespace} get jobs,pods, and kubectl -n {copy.namespace} logs of the newest pod"
        if copy.suspended:
            yield f"{where} is suspended, so nothing runs: {_resume(copy)}"
        elif copy.late:
            yield f"{where} is late: see {look}"
        elif copy.last_pass and copy.last_pass.exit:
            yield f"The last pass of {where} ended with exit code {copy.last_pass.exit}: see {look}"
    if copies is not None and not copies:
        yield "No installed copy was found: takara-sync manifests | kubectl apply --server-side -f -"
    waiting = [each for each in takaras.attention if each.stalled] if takaras else []
    for each in waiting[:1]:
        them = (
            "A person has to act on" if len(waiting) == 1 else f"A person has to act on {len(waiting)} Takaras, first"
        )
        yield f"{them} {each.namespace}/{each.name}: takara-sync status {each.namespace}/{each.name}"


def _resume(copy: CopyDocument) -> str:
    if copy.kind == "CronJob":
        return f"""kubectl -n {copy.namespace} patch cronjob {copy.name} -p '{{"spec":{{"suspend":false}}}}'"""
    return f"kubectl -n {copy.namespace} scale deployment/{copy.name} --replicas=1"


# ------------------------------------------------------------------ in words


def lines(document: OverviewDocument, now: datetime) -> Iterator[str]:
    """Everything but the first lines, which every form of the command has."""
    if document.copies is not None:
        yield ""
        yield "Installed copies: none found" if not document.copies else "Installed copies"
        for copy in document.copies:
            yield from (fitted(f"  {line}", indent=4) for line in _copy_lines(copy, now))
    if document.takaras is not None:
        yield ""
        yield from _takara_lines(document.takaras, now)
    for rights in document.rights:
        yield ""
        yield from _rights_lines(rights)
    if document.installed:
        yield ""
        yield "The install"
        for check in document.installed:
            mark = style("ok     ", "green") if check.ok else style("missing", "red")
            yield f"  {mark}  {fitted(f'{check.what}: {check.detail}' if check.detail else check.what, indent=11)}"


def _copy_lines(copy: CopyDocument, now: datetime) -> Iterator[str]:
    runs = f"schedule {copy.schedule}" if copy.kind == "CronJob" else "runs all the time"
    state = style("SUSPENDED", "yellow") if copy.suspended else runs
    watches = f", watches {some(copy.watches)}" if copy.watches else ""
    yield f"{copy.kind} {copy.namespace}/{copy.name}: {state}, image {copy.image}{watches}"
    if copy.last_scheduled:
        yield f"  last scheduled  {moment(copy.last_scheduled, now)}"
    last, late = copy.last_pass, style(", LATE", "red") if copy.late else ""
    if last is None:
        yield f"  last pass       none recorded{late}"
        return
    yield f"  last pass       {moment(last.end, now)}{late}, exit code {last.exit}, version {last.version}"
    yield f"                  {last.result}"
    if last.last_success != last.end:
        yield f"  last success    {moment(last.last_success, now) if last.last_success else 'never'}"


def _takara_lines(takaras: TakarasDocument, now: datetime) -> Iterator[str]:
    states = ", ".join(f"{number} {state}" for state, number in takaras.states.items())
    yield fitted(f"{counted(takaras.total, 'Takara')}{': ' if states else ''}{states}", indent=2)
    if not takaras.attention:
        return
    rows: list[tuple[str, ...]] = [("NAMESPACE", "NAME", "SIZE", "READY", "STATE", "SINCE", "MESSAGE")]
    rows += [_row(each, now) for each in takaras.attention[:_ROWS_MAX]]
    for line, row in zip(aligned(rows), (None, *takaras.attention), strict=False):
        yield style(fitted(f"  {line}", indent=4), "" if row is None else "red" if row.stalled else "yellow")
    if len(takaras.attention) > _ROWS_MAX:
        yield f"  and {len(takaras.attention) - _ROWS_MAX} more: kubectl get takaras -A"
    if any(each.stale for each in takaras.attention):
        yield "  stale: no pass has written a status for the newest generation yet"


def _row(each: AttentionDocument, now: datetime) -> tuple[str, ...]:
    since = seconds_since(each.since, now)
    state = each.state + (", stale" if each.stale and each.state != UNSEEN else "")
    size = "" if each.size is None else str(each.size)
    ago = "" if since is None else age(max(0.0, since))
    return each.namespace, each.name, size, str(each.ready_replicas), state, ago, each.message


def _rights_lines(rights: RightsDocument) -> Iterator[str]:
    whose = f"Rights of ServiceAccount {rights.account}" if rights.account else "Your rights"
    missing = [check for check in rights.checks if check.detail]  # also what a pass can do without
    yield f"{whose}: {len(rights.checks) - len(missing)} of {len(rights.checks)} that a pass needs"
    for check in missing:
        mark = style("missing", "red" if rights.account and not check.ok else "")
        yield f"  {mark}  {fitted(f'{check.what}: {check.detail}', indent=11)}"
