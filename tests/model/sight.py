"""What a pass has seen: the answers that reached it."""

from __future__ import annotations

import msgspec

from takara_sync.kube.response import Response
from tests.model.requests import Sent, good
from tests.support.takaras import Json


class Sight:
    """The latest that a pass knows of each object, and every version of a Deployment that it was shown.

    A name that is missing in `deployments` is unknown: the list holds only those with our label.
    """

    def __init__(self) -> None:
        self.takaras: dict[str, Json | None] = {}
        self.deployments: dict[str, Json | None] = {}
        self.shown: dict[str, list[Json]] = {}
        self.generations: dict[str, set[int]] = {}  # those of each Takara
        self.pods: list[Json] | None = None
        self.listed: set[str] = set()
        self.last: dict[str, int] = {}  # the response to the last write to each path

    def see(self, sent: Sent, response: Response) -> None:
        if sent.writes:
            self.last[sent.path] = response.status
        if not good(response):
            if response.status == 404 and not sent.writes and sent.plural in ("takaras", "deployments"):
                self._known(sent)[sent.name] = None
            return
        decoded = msgspec.json.decode(response.body)
        found = [decoded] if sent.name else decoded["items"] or []
        if sent.plural == "pods":
            self.pods = found if sent.is_first_page else [*(self.pods or []), *found]
        elif not sent.subresource:
            self._note(sent, found)

    def _known(self, sent: Sent) -> dict[str, Json | None]:
        return self.takaras if sent.plural == "takaras" else self.deployments

    def _note(self, sent: Sent, found: list[Json]) -> None:
        known = self._known(sent)
        if sent.is_first_page:
            known.clear()
        for one in found:
            name = one["metadata"]["name"]
            known[name] = one
            if sent.plural == "deployments":
                self.shown.setdefault(name, []).append(one)
            else:
                self.generations.setdefault(name, set()).add(one["metadata"].get("generation", 0))
        if sent.plural == "takaras" and not sent.name:
            self.listed = set(known)
