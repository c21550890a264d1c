"""What people and controllers do: the rules that are no pass. A request that the server rejects changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.model import people
from tests.model.backends import Backend
from tests.model.draws import (
    BAD_SIZES,
    CLEARED,
    MANAGERS,
    METADATA,
    PARTS,
    PODS,
    SIZES,
    TEMPLATES,
    names,
    rarely,
    sizes,
)
from tests.model.law import Law
from tests.model.people import PAUSED, reference
from tests.model.requests import Sent
from tests.support.takaras import Json, takara
from tests.world import as_the_go_operator

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class Happenings(RuleBasedStateMachine):
    """Everything that can happen between passes."""

    backend: Backend

    def __init__(self) -> None:
        super().__init__()
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)
        self.autoscaled: dict[str, int] = {}

    def now(self) -> datetime:
        return self.clock

    def open(self, backend: Backend) -> None:
        self.backend = backend
        self.law = Law(backend)

    def ask(self, method: str, where: str, body: Any, kind: str = "application/json", query: str = "") -> None:
        """One request of somebody else: `where` is a plural, a name and a subresource, written as a path."""
        path = self.backend.path(*where.split("/"))
        self.backend.send(Sent(method, path, tuple(parse_qsl(query)), body, kind))
        if where.startswith("deployments/"):
            self.law.look(where.split("/")[1])

    # -------------------------------------------------------------- people, on Takaras

    @rule(name=names, size=sizes, template=st.sampled_from(TEMPLATES[:1] * 5 + TEMPLATES), halted=rarely)
    def create(self, name: str, size: Any = 2, template: Any = None, *, halted: bool = False) -> None:
        body = takara(name, size, **({"template": template} if template else {}))
        body["metadata"] |= {"annotations": PAUSED} if halted else {}
        self.ask("POST", "takaras", body)

    @rule(name=names, size=st.sampled_from(SIZES * 3 + BAD_SIZES))
    def resize(self, name: str, size: Any) -> None:
        self.ask("PATCH", f"takaras/{name}", {"spec": {"size": size}}, MERGE)

    @rule(name=names, template=st.sampled_from(TEMPLATES))
    def change_template(self, name: str, template: Any) -> None:
        for each in (None, template):  # else the two would be merged
            self.ask("PATCH", f"takaras/{name}", {"spec": {"template": each}}, MERGE)

    @rule(name=names, size=sizes)
    def scale_takara(self, name: str, size: int) -> None:
        self.ask("PATCH", f"takaras/{name}/scale", {"spec": {"replicas": size}}, MERGE)

    @rule(name=names, annotations=st.sampled_from((PAUSED, dict.fromkeys(PAUSED), {"note": "mine"})))
    def annotate(self, name: str, annotations: Json) -> None:
        self.ask("PATCH", f"takaras/{name}", {"metadata": {"annotations": annotations}}, MERGE)

    @rule(name=names, policy=st.sampled_from(("Background", "Foreground", "Orphan")), again=st.booleans(), size=sizes)
    def delete(self, name: str, policy: str = "Background", *, again: bool = False, size: int = 1) -> None:
        self.ask("DELETE", f"takaras/{name}", {"propagationPolicy": policy})
        if again:
            self.create(name, size)

    @rule(name=names, lost=st.booleans())
    def touch_status(self, name: str, *, lost: bool) -> None:
        """It is lost, or another controller adds a condition."""
        add = {"op": "add", "path": "/status/conditions/-", "value": people.AUDITED}
        wipe = {"op": "replace", "path": "/status", "value": {}}
        self.ask("PATCH", f"takaras/{name}/status", [wipe if lost else add], JSON_PATCH)

    # -------------------------------------------------------------- people, on Deployments

    @rule(name=names, size=sizes, manager=st.sampled_from(MANAGERS), directly=st.booleans())
    def scale(self, name: str, size: int = 4, manager: str = "kubectl", *, directly: bool = False) -> None:
        where = f"deployments/{name}" if directly else f"deployments/{name}/scale"
        self.ask("PATCH", where, {"spec": {"replicas": size}}, MERGE, f"fieldManager={manager}")

    @rule(name=names, size=sizes, on=st.booleans())
    def autoscale(self, name: str, size: int = 4, *, on: bool = True) -> None:
        """A HorizontalPodAutoscaler on the Deployment, which sets the replicas again after each step; or its end."""
        self.autoscaled = self.autoscaled | {name: size} if on else {}

    @rule(name=names, part=st.sampled_from(PARTS))
    def steal(self, name: str, part: Json) -> None:
        """Force-apply a part of it, whoever holds that."""
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}} | part
        if self.backend.get("deployments", name):
            self.ask("PATCH", f"deployments/{name}", body, APPLY, "fieldManager=gitops&force=true")

    @rule(name=names, pod=st.sampled_from(PODS))
    def change_pod(self, name: str, pod: Json) -> None:
        """As `kubectl set image` and `rollout restart` do it."""
        self.ask("PATCH", f"deployments/{name}", {"spec": {"template": pod}}, STRATEGIC, "fieldManager=kubectl")

    @rule(name=names, metadata=st.sampled_from(METADATA))
    def edit_metadata(self, name: str, metadata: Json) -> None:
        self.ask("PATCH", f"deployments/{name}", {"metadata": metadata}, MERGE, "fieldManager=kubectl-edit")

    @rule(name=names, foreground=st.booleans())
    def delete_deployment(self, name: str, *, foreground: bool = False) -> None:
        policy = "Foreground" if foreground else "Background"
        self.ask("DELETE", f"deployments/{name}", {"propagationPolicy": policy})

    @rule(name=names, image=st.sampled_from(("nginx", "busybox")))
    def replace(self, name: str, image: str = "nginx") -> None:
        if live := self.backend.get("deployments", name):
            self.delete_deployment(name)
            self._deploy(people.reimaged(live, image), "kubectl-replace")

    @rule(name=names, whose=st.sampled_from(("nobody", "another", "predecessor", "none")), labelled=st.booleans())
    def strange_deployment(self, name: str, whose: str = "nobody", *, labelled: bool = True) -> None:
        other = next((one for one in self.backend.all("takaras") if one["metadata"]["name"] != name), None)
        owner = reference("Takara", name) if whose == "predecessor" else None
        if whose == "another" and other:
            owner = reference("Takara", other["metadata"]["name"], other["metadata"]["uid"])
        self._deploy(people.strange_deployment(name, owner, labelled=labelled), "stranger")

    @rule(name=names, owned=st.booleans())
    def stray_pod(self, name: str, *, owned: bool = False) -> None:
        self.ask("POST", "pods", people.stray_pod(name, owned=owned))

    @rule(name=names, size=sizes, env=st.booleans(), cleared=st.booleans())
    def go_operator(self, name: str, size: int = 2, *, env: bool = False, cleared: bool = False) -> None:
        owner = self.backend.get("takaras", name)
        if owner and len(name) <= 63:
            container = {"env": [{"name": "OLD", "value": "1"}]} if env else {}
            self._deploy(as_the_go_operator(owner, size, **container), "takara-operator")
        if cleared:
            self.edit_metadata(name, CLEARED)

    def _deploy(self, body: Json, manager: str) -> None:
        self.ask("POST", "deployments", body, query=f"fieldManager={manager}")
        self.law.look(body["metadata"]["name"])

    # -------------------------------------------------------------- controllers and time

    @rule(steps=st.sampled_from((1, 1, 2, 5)))
    def tick(self, steps: int = 1) -> None:
        self.backend.tick(steps)

    @rule()
    def forget(self) -> None:
        """Lists that are under way are too old from now on."""
        self.backend.compact()

    @rule(work=st.booleans())
    def nodes(self, *, work: bool) -> None:
        self.backend.nodes(work=work)

    @rule()
    def settle(self) -> None:
        self.backend.settle()

    @rule(seconds=st.sampled_from((1, 59, 300, 601, 1201, 7200, 90000)))
    def wait(self, seconds: int) -> None:
        self.clock += timedelta(seconds=seconds)
