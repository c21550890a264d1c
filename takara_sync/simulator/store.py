"""The API as a function: a Request in, an Answer out. No threads, no sockets, and no clock but the one given."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal

from takara_sync.simulator import discovery, reading
from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import NAMESPACE, served
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.wire import Answer, Json, Recorded, Refusal, Request
from takara_sync.simulator.writes import Place, body_of, scale, write

_PATH = re.compile(r"/(?:api|apis/([^/]+))/([^/]+)(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?/?")
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Store(Objects):
    """A cluster in memory, called as a function, from any thread; `Simulator` is one that speaks HTTP.

    now: asked for every timestamp; an aware datetime in UTC.
    crd: whether the Takara CRD is installed; "schemaless" is one that lets everything in.
    tokens: the user of each bearer token, others get 401; None takes any token as the name of its user.
    denied: whether a user has no rights at all; then each answer is 403.
    seed: makes uids and pod names repeatable.

    `requests` holds the last 10,000 requests, and may be cleared. `continuations` holds what is left of lists by their
    continue tokens; once it is cleared, they answer 410, as after a compaction of etcd. `admission` holds the admission
    hooks, to append to and to remove from: each is called, in order, for every create and update of an object, not of a
    subresource, by whomever, controllers included. None of these is in a snapshot.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        crd: bool | Literal["schemaless"] = True,
        tokens: Mapping[str, str] | None = None,
        denied: Callable[[str], bool] = lambda _: False,
        seed: int | None = None,
    ) -> None:
        super().__init__(served(crd), now, seed)
        self._pages = discovery.pages(self.kinds)
        self._tokens, self._denied = tokens, denied
        self.continuations: reading.Continuations = {}
        self.requests: deque[Recorded] = deque(maxlen=10_000)  # a server that runs for weeks forgets the oldest
        self.write(NAMESPACE, None, {"metadata": {"name": "default"}}, Entry("simulator", "Update", "v1"))

    def handle(self, request: Request) -> Answer:
        """Answers one request and records it; a request that is refused leaves the objects as they were."""
        user = ""
        with self.lock:
            try:
                user = self._user(request)
                answer = self._answer(request, user)
            except Refusal as refusal:
                answer = refusal.answer
            self.requests.append(Recorded(request, user, answer.status))
        return answer

    def _user(self, request: Request) -> str:
        """The user's name; kubectl sends no token over plain HTTP, but says whom it impersonates."""
        token = request.headers.get("authorization", "").removeprefix("Bearer").strip()
        if self._tokens is not None and token not in self._tokens:
            raise Refusal(401, "Unauthorized", "Unauthorized")
        known = (token or "system:anonymous") if self._tokens is None else self._tokens[token]
        return request.headers.get("impersonate-user") or known

    def _answer(self, request: Request, user: str) -> Answer:
        if request.method == "GET" and (page := self._pages.get(request.path.rstrip("/"))):
            return Answer.of(200, page)
        if request.path == _REVIEWS:  # whether the user may do what this SelfSubjectAccessReview asks for
            return Answer.of(201, {**body_of(request), "status": {"allowed": not self._denied(user)}})
        if (place := self._place(request.path)) is None:
            return Answer(404, b"404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})
        if self._denied(user):
            raise _forbidden(place, request, user)
        if request.method == "GET":
            return Answer.of(200, self._read(place, request))
        before = self.snapshot()
        answer = Answer.of(*write(self, place, request))
        if request.query.get("dryRun"):
            self.restore(before)
        return answer

    def _place(self, path: str) -> Place | None:
        """The object or collection that the path names; None where an API server has nothing there."""
        if not (found := _PATH.fullmatch(path)):
            return None
        group, version, namespace, plural, name, subresource = (part or "" for part in found.groups())
        asked = group, version, plural
        kind = next((one for one in self.kinds if (one.group, one.version, one.plural) == asked), None)
        if kind is None or subresource not in ("", *kind.subresources):
            return None
        everywhere = kind.namespaced and not name  # a list of all namespaces
        return Place(kind, namespace, name, subresource) if bool(namespace) == kind.namespaced or everywhere else None

    def _read(self, place: Place, request: Request) -> Json:
        """One object, its Scale, or a page of a list."""
        if request.query.get("watch", "").lower() in ("true", "1"):
            raise Refusal(501, "NotImplemented", "watch is not served by the takara-sync simulator")
        accept = request.headers.get("accept", "")
        if not place.name:
            items, metadata = reading.page(self, place.kind, place.namespace, request.query, self.continuations)
            return reading.listed(place.kind, items, metadata, accept, self.now())
        found = self.find(*place[:3])
        if place.subresource == "scale":
            return scale(place.kind, found)
        return reading.table(place.kind, [found], {}, self.now()) if reading.TABLE in accept else found


def _forbidden(place: Place, request: Request, user: str) -> Refusal:
    verb = _VERBS.get(request.method) or ("get" if place.name else "list")
    resource = "/".join(filter(None, (place.kind.plural, place.subresource)))
    where = f'in the namespace "{place.namespace}"' if place.namespace else "at the cluster scope"
    what = f'User "{user}" cannot {verb} resource "{resource}" in API group "{place.kind.group}" {where}'
    return place.kind.refusal(403, "Forbidden", place.name, f"is forbidden: {what}")
