"""A GitOps tool that applies the Deployment again and again: who wins is told, and nobody writes without end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from takara_sync import Outcome
from tests.rivals.others import GITOPS, MERGE, deployment_path, git_sync, image_of, manifest, with_container
from tests.rivals.passes import Passes, of_deployments
from tests.support.takaras import takara
from tests.world import Json, World

SIZE = 2
ROUNDS = 5
SAME = manifest(spec={"replicas": SIZE} | with_container("busybox"), labels={"app": "takara"})
OTHER_IMAGE = manifest(spec=with_container("nginx"))
OTHER_SIZE = manifest(spec={"replicas": 7})
OWN_FIELDS = manifest(
    spec={"revisionHistoryLimit": 5} | with_container("busybox", env=[{"name": "A", "value": "1"}]),
    annotations={"team": "blue"},
    labels={"team": "blue"},
)


@pytest.fixture
def passes(world: World) -> Passes:
    """A Takara that has converged."""
    passes = Passes(world)
    world.create(takara("one", SIZE))
    passes.settle()
    return passes


def rounds(passes: Passes, kept: Json, *, force: bool = False) -> list[tuple[int, Outcome, int]]:
    """It applies, then a pass runs: its answer's code, our outcome, and how many writes of ours that took.

    A rollout of the real controller may take a second status write, as it goes on meanwhile.
    """
    done = []
    for _ in range(ROUNDS):
        code = git_sync(passes.world, kept, force=force).status
        before = len(passes.writes)
        (outcome,) = passes.once().takaras
        done.append((code, outcome, len(passes.writes) - before))
    return done


def named(outcome: Outcome) -> set[tuple[str, str]]:
    return {(change.field, change.manager) for change in outcome.changes}


# ------------------------------------------------------------------ server-side apply


@pytest.mark.parametrize(
    ("wanted", "force", "code"),
    [(SAME, False, 200), (SAME, True, 200), (OTHER_IMAGE, False, 409), (OTHER_SIZE, False, 409)],
    ids=["the same", "the same with force", "another image", "another size"],
)
def test_equal_values_are_shared_and_others_without_force_are_its_conflict(
    passes: Passes, wanted: Json, force: bool, code: int
) -> None:
    """None of them costs us a write; the conflict names us."""
    done = [(answered, writes) for answered, _, writes in rounds(passes, wanted, force=force)]
    assert done == [(code, 0)] * ROUNDS
    assert code == 200 or "takara-sync" in git_sync(passes.world, wanted).body["message"]


def test_fields_of_its_own_stay(passes: Passes) -> None:
    git_sync(passes.world, OWN_FIELDS)
    passes.once()
    passes.world.server.make_ready(passes.world.namespace, "one")
    passes.settle()
    assert [writes for _, _, writes in rounds(passes, OWN_FIELDS)] == [0] * ROUNDS
    passes.world.merge("one", {"spec": {"size": SIZE + 1}})
    passes.sync()
    live = passes.world.deployment("one")
    assert live["spec"]["replicas"] == SIZE + 1
    assert live["spec"]["revisionHistoryLimit"] == 5
    assert live["metadata"]["labels"] == {"app": "takara", "takara_cr": "one", "team": "blue"}
    assert live["metadata"]["annotations"]["team"] == "blue"
    assert live["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": "1"}]


def test_a_shared_size_that_is_changed_at_the_takara_becomes_ours(passes: Passes) -> None:
    """Without force the tool is then told so for ever; with force it is a contest over the replicas."""
    git_sync(passes.world, SAME)
    passes.once()
    passes.world.merge("one", {"spec": {"size": SIZE + 1}})
    passes.settle()
    assert [(code, writes) for code, _, writes in rounds(passes, SAME)] == [(409, 0)] * ROUNDS
    assert passes.world.deployment("one")["spec"]["replicas"] == SIZE + 1


def test_other_replicas_with_force_are_a_contest_and_left_to_it(passes: Passes) -> None:
    done = rounds(passes, OTHER_SIZE, force=True)
    assert [str(outcome.result) for _, outcome, _ in done] == ["updated"] + ["contested"] * (ROUNDS - 1)
    assert sum(len(of_deployments([write])) for write in passes.writes[-sum(n for *_, n in done) :]) == 1
    condition = passes.world.condition("one", "Ready")
    assert condition["reason"] == "ReplicasContested"
    assert GITOPS in condition["message"]
    assert passes.world.deployment("one")["spec"]["replicas"] == 7


def test_another_image_with_force_is_one_repair_a_pass_each_named(
    passes: Passes, count: Callable[[str, int], None]
) -> None:
    """No rule ends that fight: the image is ours, each pass says who took it, and takes two writes at most."""
    for code, outcome, writes in rounds(passes, OTHER_IMAGE, force=True):
        assert (code, str(outcome.result)) == (200, "updated")
        assert named(outcome) == {("spec.template.spec.containers[takara].image", GITOPS)}
        assert 1 <= writes <= 2
        assert image_of(passes.world) == "busybox"
    count("fights over an image, one repair a pass, each named", ROUNDS)
    passes.world.server.make_ready(passes.world.namespace, "one")
    passes.settle()  # when it ends, all ends


# ------------------------------------------------------------------ client-side apply, replace, PUT


def _put(world: World, body: Json, manager: str = "flux") -> int:
    return world.server.call("PUT", deployment_path(world, manager=manager), body).status


def whole(world: World, image: str, **metadata: object) -> Json:
    """What is kept in git of a Deployment that was exported once."""
    live = world.deployment("one")
    kept = {key: live["metadata"][key] for key in ("name", "labels", "ownerReferences")}
    spec = live["spec"] | {
        "template": live["spec"]["template"]
        | {"spec": {"containers": [{"name": "takara", "image": image, "command": ["sleep", "3600"]}]}}
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": kept | metadata, "spec": spec}


def test_a_put_of_the_whole_object_is_repaired_once_and_named(passes: Passes) -> None:
    body = whole(passes.world, "nginx", labels={"team": "blue"})
    for _ in range(3):
        assert _put(passes.world, body) == 200
        (outcome,) = passes.once().takaras
        assert str(outcome.result) == "updated"
        assert ("spec.template.spec.containers[takara].image", "flux") in named(outcome)
        live = passes.world.deployment("one")
        assert live["metadata"]["labels"] == {"app": "takara", "takara_cr": "one", "team": "blue"}
        assert image_of(passes.world) == "busybox"
    passes.world.server.make_ready(passes.world.namespace, "one")
    passes.settle()


def test_a_put_without_the_owner_makes_it_nobodys_and_is_left_alone(passes: Passes) -> None:
    """Ownership comes before desire: what the Takara does not control is not touched, and that is told."""
    body = whole(passes.world, "nginx")
    del body["metadata"]["ownerReferences"]
    assert _put(passes.world, body) == 200
    for _ in range(3):
        report = passes.once()
        assert (report.exit, [one.reason for one in report.takaras]) == (6, ["DeploymentWithoutController"])
    assert image_of(passes.world) == "nginx"
    assert of_deployments(passes.writes)[1:] == []  # none but the create
    assert passes.world.condition("one", "Stalled")["status"] == "True"


def test_a_client_side_apply_of_the_same_is_no_drift(passes: Passes) -> None:
    """Its annotation stays, and so does what it adds; three rounds, no write of ours to the Deployment."""
    before = len(of_deployments(passes.writes))
    for number in range(3):
        patch = {
            "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": f"{{{number}}}"}},
            "spec": {"replicas": SIZE},
        }
        path = deployment_path(passes.world, manager="kubectl-client-side-apply")
        passes.world.call("PATCH", path, patch, content_type=MERGE)
        passes.sync()
    assert len(of_deployments(passes.writes)) == before
    passes.settle()
