"""What people and controllers do: the rules that are no pass."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.model.draws import (
    BAD_SIZES,
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
from tests.model.people import PAUSED, People, reference

if TYPE_CHECKING:
    from tests.model.backends import Backend
    from tests.support.takaras import Json


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
        self.people = People(backend)
        self.law = Law(backend)

    # -------------------------------------------------------------- people, on Takaras

    @rule(name=names, size=sizes, template=st.sampled_from(TEMPLATES[:1] * 5 + TEMPLATES), halted=rarely)
    def create(self, name: str, size: Any = 2, template: Any = None, *, halted: bool = False) -> None:
        self.people.create(name, {"size": size} | ({"template": template} if template else {}), halted=halted)

    @rule(name=names, size=st.sampled_from(SIZES * 3 + BAD_SIZES))
    def resize(self, name: str, size: Any) -> None:
        self.people.edit(name, {"size": size})

    @rule(name=names, template=st.sampled_from(TEMPLATES))
    def change_template(self, name: str, template: Any) -> None:
        self.people.edit(name, {"template": None})
        self.people.edit(name, {"template": template})

    @rule(name=names, size=sizes)
    def scale_takara(self, name: str, size: int) -> None:
        self.people.scale_takara(name, size)

    @rule(name=names, annotations=st.sampled_from((PAUSED, dict.fromkeys(PAUSED), {"note": "mine"})))
    def annotate(self, name: str, annotations: Json) -> None:
        self.people.annotate(name, annotations)

    @rule(name=names, policy=st.sampled_from(("Background", "Foreground", "Orphan")), again=st.booleans(), size=sizes)
    def delete(self, name: str, policy: str = "Background", *, again: bool = False, size: int = 1) -> None:
        self.people.delete("takaras", name, policy)
        if again:
            self.people.create(name, {"size": size})

    @rule(name=names, lost=st.booleans())
    def touch_status(self, name: str, *, lost: bool) -> None:
        (self.people.lose_the_status if lost else self.people.write_a_condition)(name)

    # -------------------------------------------------------------- people, on Deployments

    @rule(name=names, size=sizes, manager=st.sampled_from(MANAGERS), directly=st.booleans())
    def scale(self, name: str, size: int = 4, manager: str = "kubectl", *, directly: bool = False) -> None:
        (self.people.set_replicas if directly else self.people.scale)(name, size, manager)
        self.law.look(name)

    @rule(name=names, size=sizes, on=st.booleans())
    def autoscale(self, name: str, size: int = 4, *, on: bool = True) -> None:
        """A HorizontalPodAutoscaler on the Deployment, which sets the replicas again after each step; or its end."""
        self.autoscaled = self.autoscaled | {name: size} if on else {}

    @rule(name=names, part=st.sampled_from(PARTS))
    def steal(self, name: str, part: Json) -> None:
        self.people.apply(name, part)
        self.law.look(name)

    @rule(name=names, pod=st.sampled_from(PODS))
    def change_pod(self, name: str, pod: Json) -> None:
        self.people.change_pod(name, pod)

    @rule(name=names, metadata=st.sampled_from(METADATA))
    def edit_metadata(self, name: str, metadata: Json) -> None:
        self.people.merge(name, metadata)

    @rule(name=names)
    def remove_owner(self, name: str) -> None:
        self.people.remove_owner(name)

    @rule(name=names)
    def clear_managed_fields(self, name: str) -> None:
        self.people.clear_managed_fields(name)
        self.law.look(name)

    @rule(name=names, foreground=st.booleans())
    def delete_deployment(self, name: str, *, foreground: bool = False) -> None:
        self.people.delete("deployments", name, "Foreground" if foreground else "Background")

    @rule(name=names, image=st.sampled_from(("nginx", "busybox")))
    def replace(self, name: str, image: str = "nginx") -> None:
        self.people.replace(name, image)
        self.law.look(name)

    @rule(name=names, whose=st.sampled_from(("nobody", "another", "predecessor", "none")), labelled=st.booleans())
    def strange_deployment(self, name: str, whose: str = "nobody", *, labelled: bool = True) -> None:
        other = next((one for one in self.backend.all("takaras") if one["metadata"]["name"] != name), None)
        owner = reference("Takara", name) if whose == "predecessor" else None
        if whose == "another" and other:
            owner = reference("Takara", other["metadata"]["name"], other["metadata"]["uid"])
        self.people.strange_deployment(name, owner, labelled=labelled)

    @rule(name=names, owned=st.booleans())
    def stray_pod(self, name: str, *, owned: bool = False) -> None:
        self.people.stray_pod(name, reference("ReplicaSet", f"{name[:200]}-other") if owned else None)

    @rule(name=names, size=sizes, env=st.booleans(), cleared=st.booleans())
    def go_operator(self, name: str, size: int = 2, *, env: bool = False, cleared: bool = False) -> None:
        self.people.as_the_go_operator(name, size, **({"env": [{"name": "OLD", "value": "1"}]} if env else {}))
        if cleared:
            self.people.clear_managed_fields(name)
        self.law.look(name)

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
