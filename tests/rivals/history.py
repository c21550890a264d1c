"""Every version that the objects of a namespace had, in order: nothing less shows an older desire over a newer one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.contract.simulated import Simulated

if TYPE_CHECKING:
    from takara_sync.simulator import Answer, Request
    from tests.world import Json, World


@dataclass
class History:
    """The versions of the Deployments and Takaras from now on; on a real server until they are first asked for."""

    world: World
    _seen: list[Json] = field(default_factory=list)
    _since: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.world.server, Simulated):
            self._listen(self.world.server)
        else:
            self._since = {path: self.world.call("GET", path)["metadata"]["resourceVersion"] for path in self._paths}

    def _listen(self, server: Simulated) -> None:
        handle = server.simulator.store.handle

        def recording(request: Request) -> Answer:
            answer = handle(request)
            if request.method != "GET" and answer.status < 300:
                self._enter(answer.json())
            return answer

        server.simulator.store.handle = recording  # type: ignore[method-assign]

    def _enter(self, value: Any) -> None:
        if value.get("kind") in ("Takara", "Deployment") and value["metadata"]["namespace"] == self.world.namespace:
            self._seen.append(value)

    @property
    def _paths(self) -> list[str]:
        here = f"namespaces/{self.world.namespace}"
        return [f"/apis/apps/v1/{here}/deployments", f"/apis/maho.takara.org/v1alpha1/{here}/takaras"]

    def of(self, kind: str, name: str) -> list[Json]:
        """The versions of one object, whoever wrote them; where a write changed nothing, none is added."""
        found = [one for one in self._everything() if (one["kind"], one["metadata"]["name"]) == (kind, name)]
        by_version = {one["metadata"]["resourceVersion"]: one for one in found}
        return sorted(by_version.values(), key=lambda one: int(one["metadata"]["resourceVersion"]))

    def _everything(self) -> list[Json]:
        if self._since:
            self._seen, self._since = self._watched(), {}
        return self._seen

    def _watched(self) -> list[Json]:
        found = []
        for path, since in self._since.items():
            told = self.world.server.kubectl("get", "--raw", f"{path}?watch=1&resourceVersion={since}&timeoutSeconds=1")
            events = [json.loads(line) for line in told.stdout.splitlines()]
            assert not [event for event in events if event["type"] == "ERROR"], events
            found += [event["object"] for event in events if event["type"] != "DELETED"]
        return found

    def sizes(self, name: str) -> list[int]:
        """The replicas that the Deployment was given, each change once."""
        return changes([one["spec"]["replicas"] for one in self.of("Deployment", name)])

    def images(self, name: str) -> list[str]:
        found = [one["spec"]["template"]["spec"]["containers"][0]["image"] for one in self.of("Deployment", name)]
        return changes(found)


def changes(values: list[Any]) -> list[Any]:
    """The values without those that equal the one before."""
    return [value for number, value in enumerate(values) if number == 0 or value != values[number - 1]]
