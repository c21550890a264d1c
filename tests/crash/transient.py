"""What a pass gets over by itself: every write fails once, or the API server is away for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from takara_sync import Report
from takara_sync.errors import Retryable
from takara_sync.kube.response import Request, Response
from takara_sync.report import CHANGED
from tests.crash.process import Call, Process
from tests.crash.simulation import Simulation
from tests.crash.survival import Story, Trial

AWAY = 60  # refused connections in a row: far more than a request has tries


class Troubled(Process):
    """A pass that may have to decide again what it has half done."""

    @property
    def unrecorded(self) -> frozenset[str]:
        """After a lost response, or half a take-over, the pass cannot know from whom it took the replicas."""
        return frozenset(call.takara for call in self.writes if not call.is_status)


@dataclass
class Flaky(Troubled):
    """Each write of a pass fails once with this status; 0: it is executed, and its response is lost."""

    status: int = 0
    failed: set[str] = field(default_factory=set)

    def around(self, request: Request, send: Callable[[], Response]) -> Response:
        call = str(Call(request, None)) + request.content_type
        if not request.writes or call in self.failed:
            return super().around(request, send)
        self.failed.add(call)
        if self.status:
            return Response(self.status, {}, b'{"kind": "Status", "reason": "Conflict", "message": "try again"}')
        super().around(request, send)
        raise Retryable(f"{request} failed: connection reset")


@dataclass
class Away(Troubled):
    """From this request on the API server refuses connections, so many times."""

    number: int = 0
    refusals: int = AWAY

    def around(self, request: Request, send: Callable[[], Response]) -> Response:
        if len(self.calls) >= self.number and self.refusals:
            self.refusals -= 1
            raise Retryable("connection refused", refused=True, executed=False)
        return super().around(request, send)


def done_all_the_same(simulation: Simulation, story: Story, process: Process) -> None:
    """The pass reports what it would have reported, and nothing is left for the next one."""
    simulation.back_to(simulation.start)
    usual = simulation.run(Process())
    trial = Trial(simulation, story)
    report = trial.run(process)
    assert usual is not None
    assert report is not None
    assert (report.exit, changes_of(report)) == (usual.exit, changes_of(usual))
    simulation.settle()
    trial.rest(min(1, len(story.passes) - 1))
    trial.ends_as_told(more=2)


def changes_of(report: Report) -> list[Any]:
    """What changed, without the word for it and the manager before: after half a take-over the fields are ours."""
    return [
        (one.key, one.result in CHANGED, [(change.field, change.old, change.new) for change in one.changes])
        for one in report.takaras
    ]


def troubles(story: Story) -> list[Process]:
    """Each write meets a conflict, too many requests, or its response is lost; the server is away for a while.

    It is away from each request on but the first: where no server was ever reached, the pass soon ends with 3.
    """
    flaky = [Flaky(status=status) for status in (409, 429, 0)]
    return [*flaky, *(Away(number=number) for number in range(1, len(story.passes[0].calls)))]
