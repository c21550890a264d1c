"""Ways to install takara-sync, to switch to another install, and to uninstall it: the commands of docs/install.md."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from takara_sync.cli.manifests import left_by
from tests.control_plane.server import ControlPlane
from tests.manifests.helm import CHART, helm, values
from tests.manifests.install import ROOT, Json, objects
from tests.support.command import loaded

HOME = "takara-system"
RELEASE = "takara-sync"
KINDS = (
    *("cronjobs", "deployments", "serviceaccounts", "configmaps", "roles", "rolebindings", "clusterroles"),
    *("clusterrolebindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings"),
)
Way = Literal["manifests", "kustomize", "helm"]


class Install(NamedTuple):
    """One way, mode, scope and name prefix."""

    way: Way
    mode: str
    watched: str
    prefix: str

    @property
    def argv(self) -> list[str]:
        """The options of `manifests` that mean the same."""
        options = [f"--mode={self.mode}"]
        options += [f"--watch-namespace={self.watched}"] if self.watched else []
        return options + ([f"--name-prefix={self.prefix}"] if self.prefix else [])

    @property
    def names(self) -> set[tuple[str, str, str]]:
        """What carries the label of an install."""
        labelled = [
            each for each in objects(*self.argv) if each["kind"] not in ("CustomResourceDefinition", "Namespace")
        ]
        return {identity_of(each) for each in labelled}


def all_installs() -> list[Install]:
    """Each way in each mode, scope and name."""
    ways: tuple[Way, ...] = ("manifests", "kustomize", "helm")
    return [Install(*each) for each in product(ways, ("cronjob", "loop", "once"), ("", "default"), ("", "prod-"))]


def neighbours(one: Install) -> list[Install]:
    """The installs that differ in one thing."""
    return [each for each in all_installs() if sum(a != b for a, b in zip(one, each, strict=True)) == 1]


def every_switch(start: Install) -> Iterator[Install]:
    """A walk over every switch of one thing, once each: Hierholzer's algorithm on the graph of the installs."""
    left = {each: neighbours(each) for each in all_installs()}
    path, walk = [start], list[Install]()
    while path:
        if open_ends := left[path[-1]]:
            path.append(open_ends.pop())
        else:
            walk.append(path.pop())
    return reversed(walk)


def identity_of(one: Json) -> tuple[str, str, str]:
    return one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]


class Cluster:
    """A control plane, and what is installed there."""

    def __init__(self, server: ControlPlane, helm_program: Path) -> None:
        self.server = server
        self.admin = server.user()
        self._helm_program = helm_program
        self.now: Install | None = None

    def switch(self, new: Install) -> None:
        """As docs/install.md says it: apply the new install, then delete what only the old one has."""
        old, self.now = self.now, new
        if old and old.way == "helm" != new.way:
            self._helm("uninstall", RELEASE)
            old = None
        self._apply(new, upgrade=old is not None and old.way == "helm")
        if old and old.way != "helm":
            old_options = " ".join(old.argv)
            left = left_by(loaded(["manifests", *new.argv, f"--replaces={old_options}"])[1])
            if left:
                self._kubectl("delete", "--ignore-not-found", "-f", "-", stdin=yaml.safe_dump_all(left))

    def roll_back(self, to: Install, revision: int) -> None:
        """`helm rollback`, to what that revision was."""
        self._helm("rollback", RELEASE, str(revision))
        self.now = to

    def uninstall(self) -> None:
        """As docs/install.md says it."""
        old, self.now = self.now, None
        assert old
        if old.way == "helm":
            self._helm("uninstall", RELEASE)
        elif old.way == "kustomize":
            self._kubectl("delete", "-k", str(self._overlay(old)))
        else:
            text = yaml.safe_dump_all(objects(*old.argv))
            self._kubectl("delete", "-l", "app.kubernetes.io/name=takara-sync", "-f", "-", stdin=text)

    def installed(self) -> dict[tuple[str, str, str], Json]:
        """What carries the label of an install."""
        found = self._kubectl(
            "get", ",".join(KINDS), "--all-namespaces", "-l", "app.kubernetes.io/name=takara-sync", "-o", "yaml"
        )
        return {identity_of(each): each for each in yaml.safe_load(found)["items"]}

    def _apply(self, new: Install, *, upgrade: bool) -> None:
        if new.way == "helm":
            given: dict[str, Any] = {"mode": new.mode, "watchNamespace": new.watched.split() or None}
            options = values(**given, namePrefix=new.prefix or None)
            how = ("upgrade", "--reset-values") if upgrade else ("install", "--create-namespace", "--take-ownership")
            self._helm(*how, RELEASE, str(CHART), *options)
        else:
            if new.way == "kustomize":
                self._kubectl("apply", "--server-side", "--force-conflicts", "-k", str(ROOT / "k8s" / "crd"))
            source = ["-k", str(self._overlay(new))] if new.way == "kustomize" else ["-f", "-"]
            text = yaml.safe_dump_all(objects(*new.argv)) if new.way == "manifests" else ""
            self._kubectl("apply", "--server-side", "--force-conflicts", *source, stdin=text)

    def _overlay(self, one: Install) -> Path:
        """A kustomization of a user's own."""
        place = self.server.folder / "overlay"
        shutil.copytree(ROOT / "k8s", place / "k8s", dirs_exist_ok=True)
        text: Json = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
        text |= {"resources": [f"k8s/{one.mode}"]} | ({"namePrefix": one.prefix} if one.prefix else {})
        text |= {"components": ["k8s/components/namespaced"]} if one.watched else {}
        (place / "kustomization.yaml").write_text(yaml.safe_dump(text))
        return place

    def _kubectl(self, *args: str, stdin: str = "") -> str:
        return self.server.kubectl(*args, stdin=stdin).stdout

    def _helm(self, *args: str) -> None:
        helm(self._helm_program, *args, "--namespace", HOME, kubeconfig=self.admin.kubeconfig)
