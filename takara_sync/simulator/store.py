"""The API as a function: a Request in, an Answer out. No threads, no sockets, and no clock but the one given."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from takara_sync.simulator import discovery, reading
from takara_sync.simulator.admission import decode
from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import NAMESPACE, REVIEW, Json, served
from takara_sync.simulator.objects import Objects, Snapshot
from takara_sync.simulator.wire import Answer, Recorded, Refusal, Request, not_served, refused
from takara_sync.simulator.writes import Place, Writes, body_of, scale

_PATH = re.compile(r"/(?:api|apis/([^/]+))/([^/]+)(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?/?")
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_REMEMBERED = 100_000  # requests; a server that runs for weeks forgets the oldest


class Asked(NamedTuple):
    """A request as authorization sees it; `resource` is the plural, with `/status` or `/scale` where it is that."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str
    name: str


class Store:
    """A cluster in memory, called as a function; one thread at a time (`Simulator` has a lock and speaks HTTP).

    now: asked for every timestamp; an aware datetime in UTC.
    crd: whether the Takara CRD is installed; "schemaless" is one that lets everything in.
    tokens: the user of each bearer token, others get 401; None takes any token as the name of its user.
    deny: whether a user may not do this; then the answer is 403.
    seed: makes uids and pod names repeatable.

    `requests` holds the last 100,000 requests, and may be cleared. `admission` holds the admission hooks, to append to
    and to remove from: each is called, in order, for every create and update of an object, not of a subresource, by
    whomever, controllers included. `now` and `deny` may be replaced at any time.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        crd: bool | Literal["schemaless"] = True,
        tokens: Mapping[str, str] | None = None,
        deny: Callable[[Asked], bool] = lambda _: False,
        seed: int | None = None,
    ) -> None:
        kinds = served(crd=crd)
        self._pages = discovery.pages(kinds)
        self._places = {(kind.group, kind.version, kind.plural): kind for kind in kinds}
        self.now, self.tokens, self.deny = now, tokens, deny
        self.objects = Objects(lambda: self.now(), seed, kinds)  # noqa: PLW0108 - `now` may be replaced
        self.admission = self.objects.admission
        self.requests: deque[Recorded] = deque(maxlen=_REMEMBERED)
        self._lists = reading.Lists(self.objects)
        self._writes = Writes(self.objects)
        for name in ("default", "kube-system"):
            self.objects.create(NAMESPACE, {"metadata": {"name": name}}, Entry("simulator", "Update", "v1"))

    def snapshot(self) -> Snapshot:
        """The stored objects, the version counter and the state of the uid generator; costs microseconds an object.

        Not in it: `requests`, continue tokens, the clock, the hooks.
        """
        return self.objects.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a snapshot, as often as wanted; one of another Store with the same `crd` makes this its twin."""
        self.objects.restore(snapshot)

    def put(self, *objects: Json) -> None:
        """Stores objects as they are given: no defaults, no validation, no admission, no field ownership.

        An object needs `kind` and `metadata.name`, and `metadata.namespace` where the kind has namespaces; a namespace
        that does not exist is created. `resourceVersion` is always a new one; a missing uid, creationTimestamp,
        generation or status is filled in. An object of the same name is replaced.
        Raises KeyError for a kind that is not served.
        """
        for value in objects:
            self.objects.put(value)

    def expire_tokens(self) -> None:
        """Continue tokens handed out so far answer 410 Expired from now on."""
        self._lists.expire_tokens()

    def handle(self, request: Request) -> Answer:
        """Answers one request and records it; a request that is refused leaves the objects as they were."""
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
        if request.method == "GET" and (page := self._pages.get(request.path.rstrip("/"))):
            return Answer.of(200, page)
        if (place := self._place(request.path)) is None:
            return Answer.text(404, "404 page not found\n")
        if place.kind == REVIEW:
            return self._review(request, user)
        self._authorize(place, request, user)
        if request.method == "GET":
            return Answer.of(200, self._read(place, request))
        before = self.objects.snapshot() if request.query.get("dryRun") else None
        status, body = self._writes.handle(place, request)
        if before:
            self.objects.restore(before)
        return Answer.of(status, body)

    def _place(self, path: str) -> Place | None:
        """The object or collection that the path names; None where an API server has nothing there."""
        if not (found := _PATH.fullmatch(path)):
            return None
        group, version, namespace, plural, name, subresource = (part or "" for part in found.groups())
        kind = self._places.get((group, version, plural))
        if kind is None or subresource not in ("", *kind.subresources):
            return None
        everywhere = kind.namespaced and not name  # a list of all namespaces
        return Place(kind, namespace, name, subresource) if bool(namespace) == kind.namespaced or everywhere else None

    def _authorize(self, place: Place, request: Request, user: str) -> None:
        verb = _VERBS.get(request.method) or ("get" if place.name else "list")
        kind, resource = place.kind, "/".join(filter(None, (place.kind.plural, place.subresource)))
        if self.deny(Asked(user, verb, kind.group, resource, place.namespace, place.name)):
            where = f'in the namespace "{place.namespace}"' if place.namespace else "at the cluster scope"
            what = f'User "{user}" cannot {verb} resource "{resource}" in API group "{kind.group}" {where}'
            raise refused(403, "Forbidden", kind, place.name, f"is forbidden: {what}")

    def _review(self, request: Request, user: str) -> Answer:
        """Whether the user may do what the SelfSubjectAccessReview in the body asks for."""
        review = decode(body_of(request), REVIEW.schema)
        asked = review.get("spec", {}).get("resourceAttributes", {})
        verb, group, namespace, name = (asked.get(key, "") for key in ("verb", "group", "namespace", "name"))
        resource = "/".join(filter(None, (asked.get("resource"), asked.get("subresource"))))
        allowed = not self.deny(Asked(user, verb, group, resource, namespace, name))
        return Answer.of(201, {**review, "status": {"allowed": allowed}})

    def _read(self, place: Place, request: Request) -> Json:
        """One object, its Scale, or a page of a list."""
        view, now = reading.view_of(request.headers.get("accept", "")), self.now()
        if request.query.get("watch", "").lower() in ("true", "1"):
            raise not_served("watch")
        if not place.name:
            items, metadata = self._lists.page(place.kind, place.namespace, request.query)
            return reading.listed(place.kind, items, metadata, view, now)
        found = self.objects.find(*place[:3])
        if place.subresource == "scale":
            return scale(place.kind, found)
        return reading.table(place.kind, [found], {}, now) if view == "Table" else found
