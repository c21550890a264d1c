"""Switching mode, scope, name and way of installing leaves one copy, its rights, and everybody's Takaras alone.

The full matrix is a command of its own: pytest tests/manifests/test_switches.py --long (about a quarter of an hour).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands.running import Commands
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.install import identity, objects
from tests.manifests.pods import deployment
from tests.manifests.switching import HOME, Cluster, Install, Way, all_installs, every_switch
from tests.world import Json, World, takara

SHORT = (
    Install("manifests", "cronjob", "", ""),
    Install("manifests", "loop", "default", ""),
    Install("kustomize", "once", "default", "prod-"),
    Install("helm", "once", "", ""),
    Install("helm", "loop", "default", "prod-"),
    Install("kustomize", "cronjob", "", "prod-"),
    Install("helm", "cronjob", "default", "prod-"),
    Install("manifests", "once", "", ""),
)
"""Each way after each other one, and each mode, scope and name changed in each way."""


@pytest.fixture
def place(fresh_control_plane: Callable[..., ControlPlane], helm_program: Path) -> Cluster:
    return Cluster(fresh_control_plane(controller_manager=False, crd=False), helm_program)


def takaras_of_a_tenant(cluster: Cluster) -> Callable[[], dict[str, tuple[str, int]]]:
    """Two Takaras that are converged; returns uid and generation of them and of their Deployments."""
    world = World(cluster.server, "default")
    wait_until(lambda: "" if _served(cluster) else "Takaras are not served", within=SETTLE_SECONDS)
    world.create(takara("one", 1), takara("two", 2))
    assert Commands(cluster.server, "default").run("once", "--tolerate=blocked").code == 0

    def seen() -> dict[str, tuple[str, int]]:
        found: list[Json] = [world.takara("one"), world.takara("two"), world.deployment("one"), world.deployment("two")]
        return {
            f"{n} {each['kind']}": (each["metadata"]["uid"], each["metadata"]["generation"])
            for n, each in enumerate(found)
        }

    return seen


def _served(cluster: Cluster) -> bool:
    return cluster.server.call("GET", "/apis/maho.takara.org/v1alpha1/takaras").status == 200


def problems(cluster: Cluster, now: Install) -> list[str]:
    """What is not as a fresh install would be, by its names and by `check`."""
    names = set(cluster.installed()) ^ now.names
    checked = Commands(cluster.server).json("check")
    wrong = [check["what"] + check["detail"] for check in checked.report["checks"] if not check["ok"]]
    unknown = [each["what"] for each in checked.report["notChecked"] if "restricts" not in each["what"]]
    return [*map(str, sorted(names)), *wrong, *unknown, *_open(cluster, now)]


def _open(cluster: Cluster, now: Install) -> Iterator[str]:
    """The account of the install may not create a Deployment of nobody."""
    account = identity(cluster.server, HOME, f"{now.prefix}takara-sync")
    path = "/apis/apps/v1/namespaces/default/deployments?dryRun=All"

    def admitted() -> str:
        answer = cluster.server.call("POST", path, deployment("nobody"), user=account)
        return "" if "ValidatingAdmissionPolicy" in str(answer.body) else f"{answer.status} {answer.body}"

    try:
        wait_until(admitted, within=SETTLE_SECONDS, every=0.1)
    except AssertionError as error:
        yield f"the admission policy is open: {error}"


def test_each_switch_leaves_one_copy_its_rights_and_the_takaras_alone(
    place: Cluster, long: bool, count: Callable[[str, int], None]
) -> None:
    walk = every_switch(SHORT[0]) if long else iter(SHORT)
    place.switch(next(walk))
    seen = takaras_of_a_tenant(place)
    before = seen()
    for new in walk:
        old = place.now
        place.switch(new)
        assert problems(place, new) == [], f"after {old} -> {new}"
        assert seen() == before, f"after {old} -> {new}"
        count("switches of an install", 1)


def test_the_long_walk_has_every_switch_of_one_thing_once() -> None:
    walk = list(every_switch(SHORT[0]))
    switches = list(pairwise(walk))
    assert len(set(switches)) == len(switches) == len(all_installs()) * (2 + 2 + 1 + 1)


@pytest.mark.parametrize("way", ["manifests", "kustomize", "helm"])
def test_an_uninstall_leaves_the_crd_and_every_takara_and_nothing_else(
    fresh_control_plane: Callable[..., ControlPlane], helm_program: Path, way: Way
) -> None:
    """With controllers, which delete what is in a namespace."""
    place = Cluster(fresh_control_plane(crd=False), helm_program)
    place.switch(Install(way, "loop", "default", "prod-"))
    seen = takaras_of_a_tenant(place)
    before = seen()
    place.uninstall()
    assert place.installed() == {}
    assert seen() == before
    assert place.server.call("GET", f"/api/v1/namespaces/{HOME}").status == (200 if way == "helm" else 404)


def test_a_rollback_of_helm_is_the_install_before_it(place: Cluster) -> None:
    before, after = Install("helm", "cronjob", "", ""), Install("helm", "loop", "default", "")
    place.switch(before)
    seen = takaras_of_a_tenant(place)
    generations = seen()
    place.switch(after)
    place.roll_back(before, 1)
    assert problems(place, before) == []
    assert seen() == generations


def test_check_names_each_leftover(place: Cluster) -> None:
    """A switch without the second command."""
    first = Install("manifests", "cronjob", "", "")
    place.switch(first)
    place.now = None
    place.switch(Install("manifests", "loop", "default", ""))
    found = {
        check["what"]: check["detail"]
        for check in Commands(place.server).json("check").report["checks"]
        if not check["ok"]
    }
    text = " ".join(found.values())
    assert "CronJob takara-system/takara-sync and Deployment takara-system/takara-sync keep the same Takaras" in text
    place.server.kubectl("delete", "cronjob", "takara-sync", "-n", HOME)
    place.server.kubectl("delete", "validatingadmissionpolicybinding", "takara-template")
    found = {
        check["what"]: check["detail"]
        for check in Commands(place.server).json("check").report["checks"]
        if not check["ok"]
    }
    assert sorted(found.values()) == [
        "missing or open: takara-template; apply the manifests again",
        "not needed, delete it: ClusterRoleBinding takara-sync",
    ]


def test_the_crd_says_to_each_tool_that_it_stays() -> None:
    """Argo CD and Flux are not run here; these are the words that they read."""
    (crd,) = (each for each in objects() if each["kind"] == "CustomResourceDefinition")
    assert crd["metadata"]["annotations"] == {
        "helm.sh/resource-policy": "keep",
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }
