"""A fleet in which every call of a pass occurs, and the store that holds it."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, cast

from takara_sync.simulator import Controllers, Request, Snapshot, Store
from takara_sync.sync import sync_once
from tests.server import Answer
from tests.support.takaras import takara
from tests.support.transport import in_process
from tests.world import GO_OPERATOR, World, as_the_go_operator

if TYPE_CHECKING:
    from takara_sync.report import Report
    from tests.server import Server

PAGE = 2  # items: every list has more pages than one
FLAGS = ("--tolerate", "blocked")  # with them a pass that does all it can ends with 0
RESULTS = {
    "calm": "unchanged",
    "drifted": "updated",
    "fresh": "created",
    "old": "taken over",
    "still": "unchanged",
    "strange": "blocked",
}


class Behind:
    """A store as it is behind the wire: for World, and for passes that nothing can happen to."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.world = World(cast("Server", self), "default")

    def call(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", accept: str = ""
    ) -> Answer:
        path, _, query = path.partition("?")
        headers = {"content-type": content_type, "accept": accept}
        raw = b"" if body is None else json.dumps(body).encode()
        pairs = dict(pair.split("=") for pair in query.split("&") if pair)
        found = self.store.handle(Request(method, path, pairs, headers, raw))
        return Answer(found.status, json.loads(found.body), found.headers)

    def sync(self) -> Report:
        """A pass without a wire."""
        return sync_once(in_process(self.store.handle), workers=1)


def fleet() -> Store:
    """The fleet of RESULTS, ahead of the pass that converges it."""
    store = Store()
    store.restore(_fleet())
    return store


@functools.cache
def _fleet() -> Snapshot:
    store = Store(seed=7)
    behind, controllers = Behind(store), Controllers(store)
    world = behind.world
    *_, strange = world.create(takara("calm", 1), takara("still", 0), takara("drifted", 2), takara("strange", 2))
    of_nobody = as_the_go_operator(strange, 5)
    del of_nobody["metadata"]["ownerReferences"]
    world.post_deployment(of_nobody)
    for _ in range(3):
        report = behind.sync()
        controllers.settle()
    assert not any(outcome.status_written for outcome in report.takaras), report
    old, _ = world.create(takara("old", 2), takara("fresh", 2))
    world.post_deployment(as_the_go_operator(old, 2), GO_OPERATOR)
    controllers.settle()
    scale = "/apis/apps/v1/namespaces/default/deployments/drifted/scale?fieldManager=kubectl"
    world.call("PATCH", scale, {"spec": {"replicas": 7}}, content_type="application/merge-patch+json")
    return store.snapshot()
