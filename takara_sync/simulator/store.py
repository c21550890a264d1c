"""The API as a function: a Request in, an Answer out.  No threads, no sockets, and no clock but the one given."""

from __future__ import annotations

from collections import deque
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from takara_sync.simulator import discovery, reading
from takara_sync.simulator.admission import decode
from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import NAMESPACE, schema_of, served
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.wire import Answer, Recorded, Refusal, Request, not_served, refused
from takara_sync.simulator.writes import Place, Writes, Written, body_of, scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_REMEMBERED = 100_000  # requests; a server that runs for weeks forgets the oldest


class Asked(NamedTuple):
    """Who wants to do what, as a denial hook sees it; `resource` is the plural, with `/status` where it is that."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str
    name: str


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Store:
    """An in-memory cluster.

    now: asked for every timestamp (an aware datetime in UTC).
    crd: whether the Takara CRD is installed; "schemaless" lets everything in.
    tokens: user by bearer token, others get 401; None takes any token for the name of its user.
    deny: what a user may not do (403).
    seed: makes uids and pod names repeatable.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = _utc_now,
        crd: bool | Literal["schemaless"] = True,
        tokens: Mapping[str, str] | None = None,
        deny: Callable[[Asked], bool] = lambda _: False,
        seed: int | None = None,
    ) -> None:
        self._kinds = served(crd=crd)
        self.objects = Objects(now, seed, self._kinds)
        self.requests: deque[Recorded] = deque(maxlen=_REMEMBERED)
        self.now, self.tokens, self.deny = now, tokens, deny
        self._lists = reading.Lists(self.objects)
        self._writes = Writes(self.objects)
        for name in ("default", "kube-system"):
            self.objects.create(NAMESPACE, {"metadata": {"name": name}}, Entry("simulator", "Update", "v1"))

    def expire_tokens(self) -> None:
        """Continue tokens handed out so far answer 410 Expired from now on."""
        self._lists.expire_tokens()

    def handle(self, request: Request) -> Answer:
        """Answers one request and records it; whatever is refused leaves the objects as they were."""
        user = ""
        try:
            user = self._user(request)
            answer = self._answer(request, user)
        except Refusal as refusal:
            answer = refusal.answer
        agent = request.headers.get("user-agent", "")
        self.requests.append(Recorded(request.method, request.path, request.query, user, answer.status, agent))
        return answer

    def _user(self, request: Request) -> str:
        """The user's name; kubectl sends no token over plain HTTP, but says whom it impersonates."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip() if scheme.lower() == "bearer" else ""
        if self.tokens is not None and token not in self.tokens:
            raise Refusal(401, "Unauthorized", "Unauthorized")
        known = (token or "system:anonymous") if self.tokens is None else self.tokens[token]
        return request.headers.get("impersonate-user") or known

    def _answer(self, request: Request, user: str) -> Answer:
        if request.path == _REVIEWS and request.method == "POST":
            return self._review(request, user)
        if request.method == "GET" and (found := discovery.answer(request.path.rstrip("/"), self._kinds)):
            return found
        if (place := self._place(request.path)) is None:
            return Answer.text(404, "404 page not found\n")
        self._authorize(place, request, user)
        view = reading.view_of(request.headers.get("accept", ""))
        if request.method == "GET" and not place.name:
            if request.query.get("watch", "").lower() in ("true", "1"):
                raise not_served("watch")
            items, metadata = self._lists.page(place.kind, place.namespace, request.query)
            return Answer.of(200, reading.many(place.kind, items, metadata, view, self.now()))
        with self.objects.trial() if request.query.get("dryRun") else nullcontext():
            status, body = self._read(place) if request.method == "GET" else self._write(place, request)
        shown = body.get("kind") == place.kind.kind  # neither a Scale nor a Status
        return Answer.of(status, reading.one(place.kind, body, view, self.now()) if shown else body)

    def _place(self, path: str) -> Place | None:
        """What the path names; None where a real server has nothing there."""
        kinds = {f"{'apis' if kind.group else 'api'}/{kind.api_version}/{kind.plural}": kind for kind in self._kinds}
        parts = path.strip("/").split("/")
        depth = 3 if parts[0] == "apis" else 2
        root, rest, namespace = parts[:depth], parts[depth:], ""
        if rest[:1] == ["namespaces"] and "/".join([*root, *rest[2:3]]) in kinds:
            namespace, rest = rest[1], rest[2:]
        kind = kinds.get("/".join([*root, *rest[:1]]))
        name, subresource, *more = [*rest[1:], "", ""]
        if kind is None or any(more) or "" in rest or (subresource and subresource not in kind.subresources):
            return None
        return None if name and kind.namespaced and not namespace else Place(kind, namespace, name, subresource)

    def _authorize(self, place: Place, request: Request, user: str) -> None:
        verb = _VERBS.get(request.method) or ("get" if place.name else "list")
        kind, resource = place.kind, "/".join(filter(None, (place.kind.plural, place.subresource)))
        if self.deny(Asked(user, verb, kind.group, resource, place.namespace, place.name)):
            where = f'in the namespace "{place.namespace}"' if place.namespace else "at the cluster scope"
            what = f'User "{user}" cannot {verb} resource "{resource}" in API group "{kind.group}" {where}'
            raise refused(403, "Forbidden", kind, place.name, f"is forbidden: {what}")

    def _review(self, request: Request, user: str) -> Answer:
        review = decode(body_of(request), schema_of("V1SelfSubjectAccessReview"))
        asked = review.get("spec", {}).get("resourceAttributes", {})
        verb, group, namespace, name = (asked.get(key, "") for key in ("verb", "group", "namespace", "name"))
        resource = "/".join(filter(None, (asked.get("resource"), asked.get("subresource"))))
        allowed = not self.deny(Asked(user, verb, group, resource, namespace, name))
        return Answer.of(201, {**review, "status": {"allowed": allowed}})

    def _read(self, place: Place) -> Written:
        found = self.objects.find(*place[:3])
        return 200, scale(place.kind, found) if place.subresource == "scale" else found

    def _write(self, place: Place, request: Request) -> Written:
        method, writes = request.method, self._writes
        if method == "POST" and not place.name and (place.namespace or not place.kind.namespaced):
            return writes.create(place, request)
        if method == "DELETE" and not place.name:
            raise not_served("delete of a whole collection")
        handlers = {"PUT": writes.put, "PATCH": writes.patch}
        handlers |= {} if place.subresource else {"DELETE": writes.delete}
        if method not in handlers or not place.name:
            raise Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        return handlers[method](place, request)
