"""A real kube-state-metrics exports Takaras of a real API server as k8s/monitoring says."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import requests
import yaml
from msgspec import Struct, convert

from takara_sync import KubeCluster, sync_once
from tests.control_plane import crd
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import wait_until
from tests.monitoring.conftest import Tools, check_metrics, free_port
from tests.monitoring.programs import KUBE_STATE_METRICS
from tests.world import World, takara

KIND = {"group": "maho.takara.org", "version": "v1alpha1", "kind": "Takara"}
CONFIG = Path(__file__).parents[2] / "k8s" / "monitoring" / "kube-state-metrics.yaml"


class Gauge(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """https://github.com/kubernetes/kube-state-metrics/blob/main/docs/metrics/extend/customresourcestate-metrics.md"""

    path: tuple[str, ...] = ()
    labels_from_path: dict[str, tuple[str, ...]] = {}
    value_from: tuple[str, ...] = ()
    nil_is_zero: bool = False

    @property
    def fields(self) -> list[tuple[str, ...]]:
        """The path of each field that it reads."""
        inner = [*self.labels_from_path.values(), *([self.value_from] if self.value_from else [])]
        return [(*self.path, *each) for each in inner] or [self.path]


class Each(Struct, forbid_unknown_fields=True):
    type: Literal["Gauge", "Info"]
    gauge: Gauge = Gauge(("metadata", "name"))
    info: Gauge = Gauge(("metadata", "name"))


class Generator(Struct, forbid_unknown_fields=True):
    name: str
    help: str
    each: Each


class Resource(Struct, forbid_unknown_fields=True, rename="camel"):
    group_version_kind: dict[str, str]
    metric_name_prefix: str
    labels_from_path: dict[str, tuple[str, ...]]
    metrics: list[Generator]


def test_each_path_is_a_field_of_a_takara() -> None:
    """Without kube-state-metrics, which takes minutes to build: no unknown key, and no field that the CRD lacks."""
    (resource,) = convert(yaml.safe_load(CONFIG.read_text())["spec"]["resources"], list[Resource])
    assert resource.group_version_kind == KIND
    names = [metric.name for metric in resource.metrics]
    assert len(set(names)) == len(names)
    schema = crd.definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    paths = [path for metric in resource.metrics for path in (*metric.each.gauge.fields, *metric.each.info.fields)]
    for path in (*paths, *resource.labels_from_path.values()):
        if path[0] == "metadata":  # as every object has it
            assert path[1] in ("name", "namespace", "generation")
            continue
        found = schema
        for name in path:
            found = found.get("items", found)["properties"][name]


def test_it_exports_what_a_takara_says(
    control_plane: ControlPlane,
    namespace: str,
    tools: Tools,
    started: Callable[..., subprocess.Popen[bytes]],
) -> None:
    world, port, kubeconfig = World(control_plane, namespace), free_port(), control_plane.user().kubeconfig
    world.create(takara("one", 2), takara("too-large", 2000))
    sync_once(KubeCluster.connect(str(kubeconfig), namespaces=(namespace,)))
    world.create(takara("unseen", 0))
    started(
        tools[KUBE_STATE_METRICS],
        f"--kubeconfig={kubeconfig}",
        f"--namespaces={namespace}",
        "--custom-resource-state-only",
        f"--custom-resource-state-config-file={CONFIG}",
        f"--port={port}",
        f"--telemetry-port={free_port()}",
        "--host=127.0.0.1",
        "--telemetry-host=127.0.0.1",
    )
    url = f"http://127.0.0.1:{port}/metrics"

    def missing() -> str:
        try:
            said = requests.get(url, timeout=10).text
        except requests.ConnectionError:
            return f"{url} is away"
        return "" if said.count("takara_info{") == 3 else f"three Takaras are not in {said!r}"

    wait_until(missing, within=60.0)
    text = requests.get(url, timeout=10).text
    lines = re.findall(r"^(\w+)\{(.*)\} (\S+)$", text, re.MULTILINE)
    found = {(name, frozenset(labels.split(","))): value for name, labels, value in lines}

    def value(name: str, of: str, **labels: str) -> str | None:
        kind = {f"customresource_{key}": each for key, each in KIND.items()}
        every = {**kind, "namespace": namespace, "takara": of, **labels}
        return found.get((name, frozenset(f"{key}={json.dumps(each)}" for key, each in every.items())))

    assert value("takara_info", "one") == "1", text
    assert value("takara_spec_size", "one") == "2"
    assert value("takara_status_replicas", "too-large") == "0"
    assert [value("takara_status_observed_generation", name) for name in ("one", "unseen")] == ["1", "-1"]
    assert value("takara_metadata_generation", "unseen") == "1"
    assert value("takara_status_ready_replicas", "one") == "0"
    assert value("takara_status_condition", "one", type="Ready", reason="Progressing") == "0"
    assert value("takara_status_condition", "too-large", type="Stalled", reason="SizeTooLarge") == "1"
    assert not [labels for name, labels in found if name == "takara_status_condition" and 'takara="unseen"' in labels]
    check_metrics(tools, text)
