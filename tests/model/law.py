"""What must hold at each write of a pass. A breach is noted, and raised by the machine when the pass has stopped."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from takara_sync.kube.response import Response
from tests.model import oracle
from tests.model.backends import Backend
from tests.model.passes import Pass
from tests.model.requests import Sent, good
from tests.model.statuses import breaches_of_a_status
from tests.support.takaras import Json

_APPLY = "application/apply-patch+yaml"


class Law:
    """Watches every write request of every pass."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.breaches: list[str] = []
        self.took: dict[str, set[str]] = {}  # by name: who ever held the replicas of that Deployment

    def before(self, one: Pass, sent: Sent) -> Json | None:
        """How the object is before the write."""
        self.breaches += _of_a_request(one, sent)
        if sent.plural not in ("takaras", "deployments"):
            return None
        self.look(sent.name)
        return self._backend.get(sent.plural, sent.name)

    def after(self, one: Pass, sent: Sent, response: Response, noted: Json | None) -> None:
        if not good(response) or not sent.name:
            return
        after = msgspec.json.decode(response.body)
        if sent.plural == "deployments":
            self.breaches += _of_a_deployment(one, sent, noted, after)
        else:
            self.breaches += breaches_of_a_status(one, noted, after, self.took.get(sent.name, set()))

    def look(self, name: str) -> None:
        """Note who holds the replicas now."""
        if deployment := self._backend.get("deployments", name):
            found = oracle.replica_holders(deployment)
            if not found and not oracle.we_hold_replicas(deployment):
                found = {oracle.UNKNOWN}
            self.took.setdefault(name, set()).update(found)


def _of_a_request(one: Pass, sent: Sent) -> Iterator[str]:
    """What no request of ours may be, whatever comes of it."""
    place = (sent.plural, sent.subresource)
    if sent.method != "PATCH" or place not in (("takaras", "status"), ("deployments", "")):
        yield f"a foreign place is written: {sent.method} {sent.path}"
        return
    takara = one.sight.takaras.get(sent.name)
    if takara is None:
        yield f"written for a Takara that is not there: {sent.path}"
        return
    if oracle.deleting(takara):
        yield f"written for a Takara that is being deleted: {sent.path}"
    if sent.plural == "takaras":
        return
    if oracle.paused(takara):
        yield f"the Deployment of a paused Takara is written: {sent.path}"
    if not oracle.valid(takara, one.program):
        yield f"the Deployment of an invalid Takara is written: {sent.path}"
    known = one.sight.deployments.get(sent.name)
    if known is not None and not oracle.ours(known, takara):
        yield f"a Deployment that was seen to be foreign is written: {sent.path}"
    if known is not None and oracle.deleting(known):
        yield f"a Deployment that was seen to be going is written: {sent.path}"
    yield from _of_a_limit(one, sent, known)


def _of_a_limit(one: Pass, sent: Sent, known: Json | None) -> Iterator[str]:
    """Beyond the limit, an apply may only bring back labels, owners and entries."""
    if one.program.max_changes is not None and sent.content_type == _APPLY:
        asked = oracle.fields({"metadata": {}, "spec": sent.json["spec"]})
        live = oracle.fields({"metadata": {}, "spec": known["spec"]}) if known else {}
        if any(path not in live or live[path] != value for path, value in asked.items()):
            one.changed.add(sent.name)
        if len(one.changed) > one.program.max_changes:
            yield f"more is changed than --max-changes allows: {sent.path}"


# ------------------------------------------------------------------ Deployments


def _of_a_deployment(one: Pass, sent: Sent, before: Json | None, after: Json) -> Iterator[str]:
    """What a write that succeeded may have done."""
    takara = one.sight.takaras.get(sent.name)
    if takara is None:
        return
    if before is not None and not oracle.ours(before, takara):
        yield f"a foreign Deployment was written: {sent.path}"
        return
    if not oracle.ours(after, takara):
        yield f"the Deployment left behind is not its Takara's: {sent.path}"
    body = sent.json if sent.content_type == _APPLY else {"metadata": {}}
    if sent.content_type == _APPLY:
        yield from _of_a_body(one, takara, body)
    if before is None:
        return
    if sent.content_type != _APPLY and oracle.entries_of_others(before) != oracle.entries_of_others(after):
        yield f"the managedFields of others were changed: {sent.path}"
    if _stated(sent) == before["metadata"]["resourceVersion"]:
        yield from (f"a field of others was changed: {each}" for each in oracle.illegal_changes(before, after, body))
    else:
        yield f"written over a version that it was not made for: {sent.path}"


def _stated(sent: Sent) -> object:
    """The resourceVersion that a write was made for."""
    if sent.content_type == _APPLY:
        return sent.json["metadata"].get("resourceVersion")
    return next((one["value"] for one in sent.json if one["path"] == "/metadata/resourceVersion"), None)


def _of_a_body(one: Pass, takara: Json, body: Json) -> Iterator[str]:
    """What we ask for is what the Takara asks for, and no more."""
    name = takara["metadata"]["name"]
    wanted, asked = oracle.fields(oracle.desired(takara, one.program)), oracle.fields(body)
    asked = {path: value for path, value in asked.items() if path[:2] != ("f:metadata", "f:ownerReferences")}
    replicas = asked.pop(("f:spec", "f:replicas"), None)
    size = wanted.pop(("f:spec", "f:replicas"))
    known = one.sight.deployments.get(name)
    if replicas != size and not (known and known["spec"]["replicas"] == replicas):
        yield f"{name}: {replicas} replicas are asked for, which are neither its size nor the live ones"
    if asked != wanted:
        yield f"{name}: the body is not what the Takara asks for: {sorted(asked.keys() ^ wanted.keys())}"
    if len(body["metadata"].get("ownerReferences", [])) != 1:
        yield f"{name}: the body has not one owner"
