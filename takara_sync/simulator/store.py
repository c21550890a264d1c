"""The API as a function: a Request in, an Answer out.  No threads, no sockets, and no clock but the one given."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote

from takara_sync.simulator import discovery, views
from takara_sync.simulator.admission import check_types
from takara_sync.simulator.bodies import Place, body_of, check_media_type
from takara_sync.simulator.fieldsets import Entry
from takara_sync.simulator.kinds import NAMESPACE, Kind, served
from takara_sync.simulator.lists import Lists
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.scales import scale
from takara_sync.simulator.wire import Answer, Json, Recorded, Refusal, Request, bad_request, forbidden, not_served
from takara_sync.simulator.writes import Writes, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_REMEMBERED = 100_000  # requests; a server that runs for weeks forgets the oldest
_NAMESPACES = ("default", "kube-system")


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
        self.objects = Objects(now, seed)
        self.requests: deque[Recorded] = deque(maxlen=_REMEMBERED)
        self.now, self.tokens, self.deny = now, tokens, deny
        self._kinds = served(crd=crd)
        self._lists = Lists(self.objects)
        self._writes = Writes(self.objects)
        for name in _NAMESPACES:
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
            answer = Answer.of(refusal.code, refusal.status())
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
            check_media_type(request)
            return Answer.of(201, self._review(body_of(request), user))
        if request.method == "GET" and (found := discovery.answer(request.path.rstrip("/"), self._kinds)):
            return found
        if (place := self._place(request.path)) is None:
            return Answer(404, b"404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})
        self._authorize(place, request, user)
        view = views.chosen(request.headers.get("accept", ""))
        if request.method == "GET":
            return self._read(place, request, view)
        written = self._write(place, request)
        shown = written.body if written.plain else self._shown(place.kind, written.body, request, view)
        warned = (
            {"Warning": ", ".join(f'299 - "{_quoted(one)}"' for one in written.warnings)} if written.warnings else {}
        )
        return Answer.of(written.status, shown, **warned)

    def _place(self, path: str) -> Place | None:
        """What the path names; None where a real server has nothing there."""
        parts = path.strip("/").split("/")
        if "" in parts or parts[0] not in ("api", "apis"):
            return None
        depth = 2 if parts[0] == "api" else 3
        version, rest = "/".join(parts[1:depth]), parts[depth:]
        kinds = {kind.plural: kind for kind in self._kinds if kind.api_version == version}
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces" and (version != "v1" or rest[2] in kinds):  # noqa: PLR2004
            namespace, rest = rest[1], rest[2:]
        if not rest or rest[0] not in kinds or len(rest) > 3:  # noqa: PLR2004 - plural, name, subresource
            return None
        place = Place(kinds[rest[0]], namespace, *rest[1:])
        fits = not place.subresource or place.subresource in place.kind.subresources
        return place if fits and not (place.name and place.kind.namespaced and not namespace) else None

    def _authorize(self, place: Place, request: Request, user: str) -> None:
        verb = _VERBS.get(request.method) or ("get" if place.name else "list")
        kind, resource = place.kind, "/".join(filter(None, (place.kind.plural, place.subresource)))
        if self.deny(Asked(user, verb, kind.group, resource, place.namespace, place.name)):
            where = f'in the namespace "{place.namespace}"' if place.namespace else "at the cluster scope"
            raise forbidden(
                kind,
                place.name,
                f'User "{user}" cannot {verb} resource "{resource}" in API group "{kind.group}" {where}',
            )

    def _review(self, review: Json, user: str) -> Json:
        check_types(review, "V1SelfSubjectAccessReview")
        asked = (review.get("spec") or {}).get("resourceAttributes") or {}
        resource = "/".join(filter(None, (asked.get("resource"), asked.get("subresource"))))
        allowed = not self.deny(
            Asked(
                user,
                asked.get("verb", ""),
                asked.get("group", ""),
                resource,
                asked.get("namespace", ""),
                asked.get("name", ""),
            )
        )
        return {**review, "status": {"allowed": allowed}}

    def _read(self, place: Place, request: Request, view: str) -> Answer:
        include = request.query.get("includeObject", "Metadata")
        if not place.name:
            page = self._lists.page(place.kind, place.namespace, request.query)
            return Answer.of(200, views.many(place.kind, page, view, self.now(), include))
        if request.query.get("watch", "").lower() in ("true", "1"):
            raise not_served("watch")
        found = self.objects.find(*place[:3])
        if place.subresource == "scale":
            return Answer.of(200, scale(place.kind, found))
        return Answer.of(200, self._shown(place.kind, found, request, view))

    def _shown(self, kind: Kind, value: Json, request: Request, view: str) -> Json:
        return views.one(kind, value, view, self.now(), request.query.get("includeObject", "Metadata"))

    def _write(self, place: Place, request: Request) -> Written:
        method, named = request.method, bool(place.name)
        if method == "POST" and not named and (place.namespace or not place.kind.namespaced):
            return self._writes.create(place, request)
        if method == "DELETE" and not named:
            raise not_served("delete of a whole collection")
        if method != "POST" and not named and place.kind.custom:
            raise bad_request("name must be provided")
        handlers: dict[str, Any] = {
            "PUT": self._writes.put,
            "PATCH": self._writes.patch,
            "DELETE": self._writes.delete,
        }
        if method not in handlers or not named or (method == "DELETE" and place.subresource):
            raise Refusal(
                405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}
            )
        written: Written = handlers[method](place, request)
        return written


def _quoted(text: str) -> str:
    return quote(text, safe=" /[]=:,.").replace("%22", '\\"')
