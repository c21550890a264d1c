"""What a pass has seen: the answers that reached it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from tests.model.client import Got, Json, Sent


class Sight:
    """The latest that a pass knows of each object, and every version of a Deployment that it was shown.

    A name that is missing in `deployments` is unknown: the list holds only those with our label.
    """

    def __init__(self) -> None:
        self.takaras: dict[str, Json | None] = {}
        self.deployments: dict[str, Json | None] = {}
        self.shown: dict[str, list[Json]] = {}
        self.pods: list[Json] | None = None
        self.listed: set[str] = set()
        self.last: dict[str, int] = {}  # the status of the last write to each path

    @property
    def told(self) -> bool:
        return self.pods is not None

    def see(self, sent: Sent, got: Got) -> None:
        if sent.writes:
            self.last[sent.path] = got.status
        if sent.plural == "pods":
            before = self.pods if sent.query.get("continue") else []
            self.pods = [*(before or []), *_items(got)] if got.good else self.pods
        elif sent.plural == "takaras" and not sent.subresource:
            self._note(self.takaras, sent, got)
            self.listed = self.listed if sent.name else set(self.takaras)
        elif sent.plural == "deployments":
            self._note(self.deployments, sent, got)

    def _note(self, known: dict[str, Json | None], sent: Sent, got: Got) -> None:
        if got.status == 404 and sent.method == "GET":
            known[sent.name] = None
        if not got.good:
            return
        if not (sent.name or sent.query.get("continue")):  # the first page of a list
            known.clear()
        for one in [msgspec.json.decode(got.body)] if sent.name else _items(got):
            name = one["metadata"]["name"]
            known[name] = one
            if sent.plural == "deployments":
                self.shown.setdefault(name, []).append(one)

    def generation(self, name: str) -> int:
        takara = self.takaras.get(name)
        return takara["metadata"].get("generation", 0) if takara else 0


def _items(got: Got) -> list[Json]:
    return list(msgspec.json.decode(got.body)["items"] or [])
