"""A simulated cluster with a clock of its own: passes over it, what people do there, and what a pass meets.

world = World(takara("one", 3))
world.sync()                                       # one pass; world.verbs("one") is what it requested
world.scale("one", 7)
world.instead("apply", failure(409), times=1)
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from takara_sync.kube.api import JSON_PATCH, Request, Response
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Report, Result
from takara_sync.simulator.kinds import DEPLOYMENT
from takara_sync.simulator.wire import Refusal
from takara_sync.sync import sync_once
from tests.support.transport import in_process
from tests.unit.build import Json
from tests.unit.people import People

WRITES = ("create", "apply", "take over", "write status")
EVERYTHING = Key("", "")
_PODS_OF_ONE = "get pods"
_OBJECT = re.compile(r".*/namespaces/([^/]+)/(\w+)/([^/]+)(/status)?")


class Call(NamedTuple):
    """One request of a pass: a list, a get, or one of WRITES."""

    verb: str
    key: Key = EVERYTHING


def call_of(request: Request) -> Call:
    """What this request is for."""
    found = _OBJECT.fullmatch(request.path)
    if found is None and request.path.endswith("/namespaces/ns/pods"):
        selector = dict(request.query)["labelSelector"]
        return Call(_PODS_OF_ONE, Key("ns", selector.rpartition("=")[2]))
    if found is None:
        return Call(f"list {request.path.rpartition('/')[2]}")
    namespace, plural, name, _ = found.groups()
    return Call(_verb(request, plural), Key(namespace, name))


def _verb(request: Request, plural: str) -> str:
    if request.method == "GET":
        return f"get {plural[:-1]}"
    if request.content_type == JSON_PATCH:
        return "write status" if plural == "takaras" else "take over"
    assert isinstance(request.body, dict)
    return "create" if request.body["metadata"]["resourceVersion"] == "1" else "apply"


def failure(code: int, reason: str = "", message: str = "no quota") -> Response:
    """A Status as the API server sends it; one without a reason is what etcd's errors look like."""
    answer = Refusal(code, reason, message).answer
    return Response(answer.status, answer.headers, answer.body)


class World(People):
    """One cluster. `calls`: the requests of the last pass, without its Events. `events`: these, as they were sent.

    `changed`: the Deployments that its writes changed.
    """

    def __init__(self, *takaras: Json) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.changed: list[Key] = []
        self.events: list[Json] = []
        self.records: list[logging.LogRecord] = []
        self.around: Callable[[Call, Callable[[], Response]], Response] = lambda _, send: send()
        self.cluster = in_process(self.handle, self._meet)
        self.create("ns", *takaras)

    # -------------------------------------------------------------- passes

    def sync(self, policy: Policy = Policy(), *, workers: int = 1, **options: Any) -> Report:  # noqa: B008 - frozen
        """One pass in the order of names; what it requested, changed and logged begins anew."""
        for each in (self.calls, self.changed, self.events, self.records):
            each.clear()
        logger, handler = logging.getLogger("takara_sync"), _Keep(self.records)
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            return sync_once(self.cluster, policy, workers=workers, now=self.now, **{"start": EVERYTHING} | options)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)

    @property
    def logged(self) -> Counter[Key]:
        """How many lines of the last pass say that a Deployment was created, or which fields were changed."""
        lines = (one.__dict__ for one in self.records if one.levelno == logging.INFO)
        told = (one for one in lines if one.get("changes") or one["result"] == Result.CREATED)
        return Counter(Key(*one["takara"].split("/")) for one in told)

    @property
    def writes(self) -> list[str]:
        return [call.verb for call in self.calls if call.verb in WRITES]

    def verbs(self, name: str = "one") -> list[str]:
        """What was requested about one Takara and its Deployment, in order."""
        return [call.verb for call in self.calls if call.key.name == name]

    # -------------------------------------------------------------- what a pass meets

    def before(self, verb: str, action: Callable[[], object]) -> object:
        """Do something once, ahead of the first request of this kind."""
        return self._meets(verb, "", 1, lambda send: (action(), send())[1])

    def instead(self, verb: str, outcome: Response | Exception, name: str = "", times: int = 999) -> object:
        """This instead of what the server would do, so many times."""
        return self._meets(verb, name, times, lambda _: come(outcome))

    def _meets(self, verb: str, name: str, times: int, then: Callable[[Callable[[], Response]], Response]) -> object:
        before, left = self.around, [None] * times

        def around(call: Call, send: Callable[[], Response]) -> Response:
            if call.verb == verb and call.key.name.startswith(name) and left:
                left.pop()
                return then(send)
            return before(call, send)

        self.around = around
        return self

    def calm(self) -> None:
        """From now on nothing gets in between."""
        self.around = lambda _, send: send()

    def _meet(self, request: Request, send: Callable[[], Response]) -> Response:
        if request.path.endswith("/events"):
            assert isinstance(request.body, dict)
            self.events.append(request.body)
            return self.around(Call("send event"), send)
        call = call_of(request)
        self.calls.append(call)
        return self.around(call, lambda: self._observed(call, send))

    def _observed(self, call: Call, send: Callable[[], Response]) -> Response:
        with self.lock:
            before = self._content(call.key)
            response = send()
            self.changed += [call.key] if self._content(call.key) != before else []
            return response

    def _content(self, key: Key) -> Any:
        """What of a Deployment nobody may change without a line in the log."""
        found = self.store.get(DEPLOYMENT, *key)
        return found and (
            {**found["metadata"], "managedFields": 0, "resourceVersion": 0, "generation": 0},
            found["spec"],
        )


class _Keep(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


def come(outcome: Response | Exception) -> Response:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def results(report: Report) -> dict[str, str]:
    return {outcome.key.name: str(outcome.result) for outcome in report.takaras}


def result(report: Report) -> str:
    (outcome,) = report.takaras
    return str(outcome.result)
