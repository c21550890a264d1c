"""What must hold of a whole pass: its report, what it left behind, and that a second one has nothing to do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from takara_sync.conditions import Reason
from takara_sync.report import Outcome
from tests.model import oracle
from tests.model.backends import Backend
from tests.model.oracle import Program
from tests.model.passes import Pass
from tests.model.statuses import condition
from tests.support.takaras import Json

_DONE = {"created", "updated", "taken over", "unchanged", "contested"}
_RESULTS = {
    "deleting": {"skipped"},
    "invalid": {"invalid"},
    "paused": {"skipped"},
    "stranger": {"blocked"},
    "predecessor": {"blocked", "skipped"},
    "leaving": {"skipped"},
    "newer": {"blocked"},
    "converge": _DONE | {"failed"},
}
LONGEST_CONTEST = timedelta(days=1)
PREDECESSOR = "DeploymentOfPredecessor"
GARBAGE_COLLECTION = timedelta(minutes=5)
_BAD = ("imagge", "no label value!")  # what the server refuses in a template


class Picture(NamedTuple):
    """Everything at one moment, by name."""

    takaras: dict[str, Json]
    deployments: dict[str, Json]
    pods: list[Json]


def picture(backend: Backend) -> Picture:
    takaras, deployments = (
        {one["metadata"]["name"]: one for one in backend.all(plural)} for plural in ("takaras", "deployments")
    )
    return Picture(takaras, deployments, backend.all("pods"))


def row(  # noqa: PLR0911 - a return for each row
    takara: Json, deployment: Json | None, program: Program
) -> str:
    """The row of the truth table."""
    if oracle.deleting(takara):
        return "deleting"
    if not oracle.valid(takara, program):
        return "invalid"
    if oracle.paused(takara):
        return "paused"
    if deployment is None:
        return "converge"
    if not oracle.ours(deployment, takara):
        return "predecessor" if oracle.stranger(deployment) == PREDECESSOR else "stranger"
    if oracle.deleting(deployment):
        return "leaving"
    return "newer" if _recorded(takara).get("format", 0) > program.format else "converge"


def _recorded(takara: Json) -> Json:
    found: Json = takara.get("status", {}).get("deployment") or {}
    return found


# ------------------------------------------------------------------ any pass


def breaches_of_a_report(one: Pass) -> Iterator[str]:
    """What holds of every report, whatever happened to the pass."""
    report = one.report
    if one.bug is not None:
        yield f"sync_once raised {one.bug!r}"
    if report is None:
        return
    if bugs := [str(outcome.message) for outcome in report.takaras if outcome.bug]:
        yield f"a bug: {bugs}"
    # A create that failed where the Deployment of a predecessor stands has nothing left to do but to wait.
    waiting = {outcome.key.name for outcome in report.takaras if outcome.reason == Reason.PREDECESSOR}
    bad = [path for path, status in one.sight.last.items() if status >= 500 and path.rpartition("/")[2] not in waiting]
    if report.exit == 0 and bad:
        yield f"exit 0, but these writes failed: {bad}"
    if report.exit == 0 and one.sight.pods is None:
        yield "exit 0, but the pods were never listed"
    named = {outcome.key.name for outcome in report.takaras}
    if report.error is None and named != one.sight.listed:
        yield f"the report does not name {sorted(named ^ one.sight.listed)}"


# ------------------------------------------------------------------ a pass that nobody disturbed


def breaches_of_a_pass(one: Pass, before: Picture, after: Picture) -> Iterator[str]:
    """What a pass left behind, where nothing moved but by itself."""
    report = one.report
    if report is None or report.error is not None:
        yield f"an undisturbed pass stopped: {report and report.error}"
        return
    outcomes = {outcome.key.name: outcome for outcome in report.takaras}
    for name, takara in before.takaras.items():
        found = row(takara, before.deployments.get(name), one.program)
        if name not in outcomes or outcomes[name].result not in _RESULTS[found]:
            yield f"{name} is {found}, but reported {outcomes.get(name)}"
            continue
        words = _of_a_takara(one, found, outcomes[name], before, after)
        yield from (f"{name} ({found}, {outcomes[name].result}): {each}" for each in words)
    if report.exit != (wanted := _exit(outcomes)):
        yield f"exit {report.exit}, but the outcomes amount to {wanted}"


def _exit(outcomes: dict[str, Outcome]) -> int:
    results = {str(outcome.result) for outcome in outcomes.values()}
    return 1 if "failed" in results else 6 if results & {"invalid", "blocked"} else 0


def _holds_a_container(deployment: Json | None) -> bool:
    """Whether another manager holds a part of a container: where it is no longer asked for, it stays without ours."""
    entries = deployment["metadata"].get("managedFields", ()) if deployment else ()
    return any("f:containers" in str(entry) for entry in entries if entry["manager"] != "takara-sync")


def _of_a_takara(one: Pass, found: str, outcome: Outcome, before: Picture, after: Picture) -> Iterator[str]:
    name = outcome.key.name
    takara, deployment = after.takaras[name], after.deployments.get(name)
    if outcome.result != "failed" and found == "converge":
        yield from _of_what_converged(one, outcome, before, deployment, takara)
    elif deployment != before.deployments.get(name) and outcome.result != "failed":
        yield "its Deployment was changed"
    needed = any(words in str(takara["spec"]) for words in _BAD) or _holds_a_container(deployment)
    if outcome.result == "failed" and not needed:
        yield f"failed without need: {outcome.message}"
    if found == "predecessor" and (outcome.result == "blocked") != _waited_long(one, before.takaras[name]):
        yield "neither waited for nor blocked when it should be"
    if found not in ("deleting", "newer"):
        yield from _of_its_status(found, outcome, takara, deployment, after)


def _waited_long(one: Pass, before: Json) -> bool:
    """Whether it has waited for garbage collection longer than that takes."""
    ready = condition(before.get("status"), "Ready")
    return ready.get("reason") == PREDECESSOR and (
        one.begun - datetime.fromisoformat(ready["lastTransitionTime"]) > GARBAGE_COLLECTION
    )


def _of_what_converged(
    one: Pass, outcome: Outcome, before: Picture, deployment: Json | None, takara: Json
) -> Iterator[str]:
    if deployment is None or not oracle.ours(deployment, takara):
        yield "there is no Deployment of its own"
        return
    wanted, live = oracle.fields(oracle.desired(takara, one.program)), oracle.fields(deployment)
    if condition(takara["status"], "Ready").get("reason") == "ReplicasContested":
        del wanted["f:spec", "f:replicas"]
        yield from _of_a_contest(one, before.takaras[outcome.key.name])
    missing = ["/".join(path) for path, value in wanted.items() if path not in live or live[path] != value]
    if missing:
        yield f"not as asked for: {missing}"


def _of_a_contest(one: Pass, before: Json) -> Iterator[str]:
    """Replicas are left only to who took them twice, and for a day at most."""
    record = _recorded(before).get("replicasTakenBy")
    if not record:
        yield "contested, but nobody had taken the replicas before"
    elif one.begun - datetime.fromisoformat(record["at"]) >= LONGEST_CONTEST:
        yield f"contested for more than a day, since {record['at']}"


def _of_its_status(
    found: str, outcome: Outcome, takara: Json, deployment: Json | None, after: Picture
) -> Iterator[str]:
    name, status = outcome.key.name, takara.get("status", {})
    ready, stalled = condition(status, "Ready"), condition(status, "Stalled")
    own = deployment if oracle.ours(deployment, takara) else None
    size = takara["spec"].get("size") if isinstance(takara["spec"], dict) else None
    if status.get("observedGeneration") != takara["metadata"]["generation"]:
        yield "its status was not written for this generation"
        return
    done = outcome.result != "failed" and found in ("converge", "paused")
    complete = bool(done and own and oracle.complete(own, size))
    if (ready["status"] == "True") != complete:
        yield f"complete is {complete}, but Ready {ready['status']}"
    nodes = oracle.nodes(after.pods, name) if own else []
    if status["nodes"] != nodes:
        yield f"nodes are {nodes}, in the status {status['nodes']}"
    if status["replicas"] != (own or {}).get("status", {}).get("replicas", 0):
        yield f"{status['replicas']} replicas in the status"
    waits = found in ("invalid", "stranger") or outcome.result in ("failed", "blocked")
    foreign = oracle.stranger(deployment) if deployment and not own else ""
    waits |= found == "paused" and bool(foreign)
    if foreign != PREDECESSOR and (stalled.get("status") == "True") != waits:
        yield f"Stalled is {stalled.get('status')}"
    if found in ("stranger", "predecessor") and ready["reason"] != foreign:
        yield f"not touched for {ready['reason']}, not for {foreign}"
    if unknown := {ready["reason"], stalled.get("reason", ready["reason"])} - {str(reason) for reason in Reason}:
        yield f"reasons that no list holds: {unknown}"


# ------------------------------------------------------------------ the second pass


def breaches_of_a_second_pass(first: Pass, second: Pass) -> Iterator[str]:
    """After a pass, and nothing since, there is nothing to write but for what the server refuses each time."""
    outcomes = first.report.takaras if first.report else ()
    failed = {outcome.key.name for outcome in outcomes if outcome.result == "failed"}
    for sent in second.writes:
        if sent.name not in failed or sent.plural == "takaras":
            yield f"a settled state is written: {sent.method} {sent.path} {str(sent.body)[:2000]}"
    exits = {one.report.exit for one in (first, second) if one.report}
    if len(exits) != 1:
        yield f"two passes over the same state end differently: {exits}"
