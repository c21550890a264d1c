"""What the writes of a pass meet, and then: the cases of the two tables of takara_sync.reconcile."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from takara_sync.errors import Retryable
from takara_sync.kube.api import Response
from takara_sync.plan import Policy
from tests.support.takaras import takara
from tests.unit.build import TEMPLATE, owner
from tests.unit.world import World, failure

READ = ["get deployment", "get takara"]
STATUS = ["write status", "get takara", "write status"]
TEMPLATES = Policy(allow_templates=True)
LOST = Retryable("lost", timed_out=True)
ETCD = failure(500, message="etcdserver: leader changed")


class Case(NamedTuple):
    """What a pass meets, and then: its requests, the line of the report, the replicas, the changes of a size."""

    name: str
    start: Callable[[], World]
    meet: Callable[[World], object]
    verbs: list[str]
    outcome: tuple[str, int, str] = ("updated", 0, "")
    replicas: int = 3
    sizes: tuple[tuple[int, int], ...] = ()
    policy: Policy = Policy()


def new() -> World:
    return World(takara("one", 3))


def converged() -> World:
    world = new()
    world.sync()
    world.minutes = 1
    return world


def drifted() -> World:
    world = converged()
    world.scale()
    return world


def settled() -> World:
    world = converged()
    world.settle()
    return world


def cleared() -> World:
    world = converged()
    world.clear_managed_fields()
    world.scale(replicas=4)
    return world


def legacy() -> World:
    world = new()
    world.deploy(labels={"app": "takara"})
    return world


def templated() -> World:
    world = World(takara("one", 3, template=TEMPLATE))
    world.sync(TEMPLATES)
    world.edit(size=4)
    return world


def again(world: World, *takaras: object) -> None:
    """The Deployment changes, and the Takara is deleted, and perhaps created anew."""
    world.scale(replicas=8)
    world.delete("Takara")
    world.create("ns", *takaras)  # type: ignore[arg-type]


def meets(outcome: Response | Exception, verb: str = "apply") -> Callable[[World], object]:
    return lambda world: world.instead(verb, outcome)


GONE = ("skipped", 0, "NotFound")
UNAVAILABLE = ("failed", 1, "Unavailable")
REJECTED = ("failed", 1, "ApplyFailed")
NOT_FOUND = failure(404, "NotFound")
STRANGER = [owner("one", uid="x")]
TRANSIENT: list[Response | Exception] = [
    failure(503),
    failure(500, "InternalError"),
    Response(502, {}, b"<html>"),
    LOST,
    ETCD,
]
REFUSED = Retryable("refused", executed=False, refused=True)
ACTING = [
    Case("a conflict", drifted, lambda w: w.before("apply", lambda: w.scale(replicas=8)),
         ["apply", *READ, "apply", "write status"], sizes=((8, 3),)),
    Case("a conflict with another size", drifted,
         lambda w: w.before("apply", lambda: (w.scale(replicas=8), w.edit(size=5))),
         ["apply", *READ, "apply", "write status"], replicas=5, sizes=((8, 5),)),
    Case("five conflicts", drifted, meets(failure(409, "Conflict")),
         ["apply", *[*READ, "apply"] * 4], ("failed", 1, "Conflict"), replicas=7),
    Case("a Deployment of nobody", new, lambda w: w.before("create", lambda: w.deploy(ownerReferences=None)),
         ["create", *READ, "write status"], ("blocked", 6, "DeploymentWithoutController")),
    Case("the Takara is gone", drifted, lambda w: w.before("apply", lambda: again(w)),
         ["apply", *READ], GONE, replicas=8),
    Case("another Takara of that name", drifted, lambda w: w.before("apply", lambda: again(w, takara("one", 3))),
         ["apply", *READ], GONE, replicas=8),
    Case("deleted before a take-over", legacy, lambda w: w.before("take over", lambda: w.delete("Deployment")),
         ["take over", *READ, "create", "write status"], ("created", 0, "")),
    Case("deleted within a take-over", legacy, lambda w: w.before("apply", lambda: w.delete("Deployment")),
         ["take over", "apply", *READ, "create", "write status"], ("created", 0, "")),
    Case("deleted before an apply", drifted, lambda w: w.before("apply", lambda: w.delete("Deployment")),
         ["apply", *READ, "create", "write status"], ("created", 0, "")),
    Case("cleared fields", cleared, lambda _: None,
         ["apply", *READ, "take over", "apply", "write status"], sizes=((4, 3),)),
    Case("cleared fields, and a conflict", cleared, lambda w: w.instead("take over", failure(409, "Conflict"), times=1),
         ["apply", *[*READ, "take over"] * 2, "apply", "write status"], sizes=((4, 3),)),
    *(Case(f"rejected with {code}", drifted, meets(failure(code, "Invalid")),
           ["apply", "write status"], REJECTED, replicas=7) for code in (400, 403, 422)),
    Case("500 without a reason once", templated, lambda w: w.instead("apply", ETCD, times=1),
         ["apply", *READ, "apply", "write status"], replicas=4, sizes=((3, 4),), policy=TEMPLATES),
    Case("500 without a reason twice, a template of its own", templated, meets(ETCD),
         ["apply", *READ, "apply", "write status"], ("failed", 1, "ApplyRejected"), policy=TEMPLATES),
    *(Case(f"a transient failure to the end: {number}", drifted, meets(each),
           ["apply", *[*READ, "apply"] * 4], UNAVAILABLE, replicas=7) for number, each in enumerate(TRANSIENT)),
    Case("429 to the end", drifted, meets(failure(429)), ["apply"] * 5, UNAVAILABLE, replicas=7),
    Case("20 refused connections", drifted, lambda w: w.instead("apply", REFUSED, times=20),
         [*["apply"] * 21, "write status"], sizes=((7, 3),)),
    Case("the namespace is missing", new, meets(NOT_FOUND, "create"), ["create"], GONE, replicas=0),
    Case("lost, and another size by others", drifted,
         lambda w: (w.instead("apply", LOST, times=1), w.before("get deployment", lambda: w.scale(replicas=9))),
         ["apply", *READ, "apply", "write status"], sizes=((9, 3),)),
    Case("lost, and a Deployment of others", new,
         lambda w: (w.instead("create", LOST, times=1),
                    w.before("get deployment", lambda: w.deploy(ownerReferences=STRANGER))),
         ["create", *READ, "write status"], ("skipped", 0, "DeploymentOfPredecessor")),
]  # fmt: skip


def newer(world: World) -> None:
    """Another pass acts on a newer generation."""
    world.edit(size=5)
    world.set_status("one", {"observedGeneration": 2, "nodes": ["newer"]})


def told(name: str, what: Callable[[World], object], verbs: list[str]) -> Case:
    return Case(name, drifted, lambda w: w.before("write status", lambda: what(w)), ["apply", *verbs], sizes=((7, 3),))


def refused(name: str, outcome: Response | Exception, reason: str, verbs: list[str]) -> Case:
    return Case(
        name, drifted, meets(outcome, "write status"), ["apply", *verbs], ("failed", 1, reason), sizes=((7, 3),)
    )


LABEL = {"metadata": {"labels": {"a": "b"}}}
RETRIED = ["write status", *["get takara", "write status"] * 4]
WRITING = [
    told("the size moves: the recorded generation is that of the pass", lambda w: w.edit(size=400), STATUS[:2]),
    told("a newer generation is recorded", newer, STATUS[:2]),
    told("the Takara moves otherwise", lambda w: w.patch("Takara", "one", LABEL), STATUS),
    told("a newer program", lambda w: w.set_status("one", {"deployment": {"format": 9}}), STATUS[:2]),
    told("being deleted", lambda w: w.hold("Takara"), STATUS[:2]),
    told("gone", lambda w: w.delete("Takara"), STATUS[:1]),
    refused("rejected", failure(403, "Forbidden"), "StatusRejected", STATUS[:1]),
    refused("unavailable", failure(503), "Unavailable", RETRIED),
    refused("five conflicts", failure(409, "Conflict"), "Conflict", RETRIED),
    refused("no response", LOST, "Unavailable", RETRIED),
    Case("the size of a new one moves", new, lambda w: w.before("write status", lambda: w.edit(size=400)),
         ["create", *STATUS], ("created", 0, "")),
    Case("the size moves where no change is allowed", settled,
         lambda w: w.before("write status", lambda: w.edit(size=400)), STATUS[:2], ("unchanged", 0, ""),
         policy=Policy(max_changes=0)),
]  # fmt: skip
