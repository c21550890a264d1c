"""What has to hold in every cell: a true report, a bounded number of requests, no write on a failed list, a cure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from takara_sync.reconcile import TRIES
from takara_sync.report import Exit
from tests.wire.asked import EVENT, VICTIMS
from tests.wire.fleet import RESULTS, Behind
from tests.wire.truth import Picture, untruths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.wire.cells import Run

USUAL = Counter(
    {
        "deployments": 1,
        "more deployments": 1,
        "takaras": 1,
        "more takaras": 2,
        "pods": 1,
        "more pods": 4,
        "look-up": 1,
        "create": 2,
        "takara again": 1,
        "deployment again": 1,
        "take-over": 1,
        "apply": 2,
        "status": 3,
    }
)
"""How often each call is made by a pass that nothing happens to."""


def problems(run: Run, *, exact: bool) -> list[str]:
    """What does not hold. exact: nothing is hurried, so how often each call is made is known to the last one."""
    if not run.ended.stdout:
        return [f"{run.cell}: ended with {run.ended.code} and without a report: {run.ended.stderr}"]
    found = [*_end(run, exact=exact), *_requests(run, exact=exact), *_lists(run), *_cure(run)]
    fault = run.cell.fault
    lost = run.cell.done or fault.turn is not None or fault.ends == "late"  # answers of others may be lost with it
    found += untruths(run.ended, run.before, run.after, lost=lost)
    return [f"{run.cell}: {what}" for what in found]


def _end(run: Run, *, exact: bool) -> Iterator[str]:
    """The exit code that the fault leads to, and whose fault it is."""
    allowed = _exits(run) if exact else _exits(run) | ({Exit.UNREADABLE, Exit.CUT_SHORT} - {Exit.OK})
    if run.ended.code not in allowed:
        yield f"ended with {run.ended.code}: {run.ended.report['error']}"
    results = {one["name"]: one["result"] for one in run.ended.report["takaras"]}
    victim = VICTIMS.get(run.cell.call)
    failed = RESULTS | ({victim: "failed"} if victim else {})
    late = run.cell.fault.ends == "late"
    expected = [RESULTS] * run.ends_well + [failed] * (late or not run.ends_well)
    if run.ended.code in (Exit.OK, Exit.FAILED) and not run.cell.fault.lasts and results not in expected:
        yield f"results are {results}"


def _exits(run: Run) -> set[Exit]:
    ends = run.cell.fault.ends
    if run.ends_well:
        return {Exit.OK} | ({Exit.FAILED, Exit.UNREADABLE, Exit.CUT_SHORT} if ends == "late" else set())
    if ends == "stopped" or run.in_a_list:
        return {Exit.UNREADABLE}
    if ends == "late":
        return {Exit.FAILED, Exit.UNREADABLE, Exit.CUT_SHORT}
    return {Exit.FAILED, Exit.UNREADABLE} if run.cell.fault.lasts else {Exit.FAILED}


def _requests(run: Run, *, exact: bool) -> Iterator[str]:
    """No call is made more often than usual, but the struck one for as often as it is tried."""
    cell, server, fault = run.cell, run.server, run.cell.fault
    if not server.struck:
        yield "was not struck"
    if server.calls["other"]:
        yield "asked for what no pass needs"
    if fault.lasts:
        calls = 1 if run.in_a_list else USUAL.total()
        after = len(server.requests) + server.connections - server.before
        if after > calls * TRIES * 2:
            yield f"{after} requests and connections after the fault began"
        return
    tries = 1 if cell.done and run.ends_well else fault.tries[cell.call]
    exact = exact and fault.ends != "late"
    if fault.ends != "well" and (server.struck != tries if exact else server.struck > tries):
        yield f"struck {server.struck} times instead of {tries}"
    limits = USUAL + Counter({cell.call: server.struck - 1}) + _read_again(run)
    limits["apply"] += cell.done  # of what was created without a response: its status needs a record of an apply
    if fault.ends == "late":  # on a busy machine other calls are late, too
        limits = Counter({call: times * TRIES for call, times in limits.items()})
    limits[EVENT] = 2 * len(RESULTS)
    yield from (f"{call} {times} times" for call, times in server.calls.items() if times > limits[call])


def _read_again(run: Run) -> Counter[str]:
    """What another try costs: both objects are read by name before it; a list whose token expired starts anew."""
    if run.in_a_list:
        return Counter({run.cell.call.removeprefix("more "): run.server.struck - 1})
    return Counter(dict.fromkeys(("takara again", "deployment again"), min(run.server.struck, TRIES - 1)))


def _lists(run: Run) -> Iterator[str]:
    """A list that failed leads to no write: without the Takaras to no write at all, without the pods to no status."""
    if run.cell.fault.ends == "well" or not run.in_a_list:
        return
    writes = [each for each in run.server.writes if "pods" not in run.cell.call or each.endswith("/status")]
    if writes:
        yield f"wrote {writes}"


def _cure(run: Run) -> Iterator[str]:
    """Once the fault is gone, one pass converges everything, and the next one has nothing to do."""
    behind = Behind(run.server.store)
    report = behind.sync()
    after = Picture.of(run.server.store)
    wrong = [name for name in RESULTS if name != "strange" and not (after.right(name) and after.has_its_status(name))]
    if report.exit != Exit.BLOCKED or wrong:
        yield f"not cured: {report.exit!r}, {wrong}, {report.error}"
    if behind.sync().counts != {"unchanged": len(RESULTS) - 1, "blocked": 1} or Picture.of(run.server.store) != after:
        yield "not at rest after the cure"
