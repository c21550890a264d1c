"""The real kubectl on both servers: its everyday verbs on Takaras and Deployments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.talk import OUR_FIELDS, Json, Talk, containers, deployment, entry, owned, takara, with_second

if TYPE_CHECKING:
    from tests.contract.simulated import Simulated
    from tests.server import Finished


class Kubectl(Talk):
    """kubectl in the namespace of the test."""

    def run(self, *args: str, stdin: Any = None) -> str:
        """What it says where it succeeds; what is piped in is JSON."""
        text = None if stdin is None else json.dumps(stdin)
        return self.server.kubectl(*args, stdin=text, namespace=self.namespace).stdout

    def fails(self, *args: str) -> Finished:
        """How it fails."""
        found = self.server.kubectl(*args, check=False, namespace=self.namespace)
        assert found.code != 0
        return found


@pytest.fixture
def kubectl(talk: Talk) -> Kubectl:
    return Kubectl(talk.server)


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line]


def test_get_takaras(kubectl: Kubectl) -> None:
    kubectl.create("takaras", takara("example-takara"))
    head, row = rows(kubectl.run("get", "tk"))
    assert head == ["NAME", "SIZE", "REPLICAS", "READY", "STATUS", "AGE"]
    assert row[:2] == ["example-takara", "3"]
    assert rows(kubectl.run("get", "tk", "-o", "wide"))[0][-1] == "NODES"
    assert kubectl.run("get", "takara.maho.takara.org", "-o", "name") == "takara.maho.takara.org/example-takara\n"


def test_get_what_a_deployment_made(kubectl: Kubectl) -> None:
    kubectl.create("deployments", deployment(replicas=1))
    kubectl.server.make_ready(kubectl.namespace, "one")
    text = kubectl.run("get", "deploy,rs,pods")
    assert {line[0].split("/")[0] for line in rows(text)} == {"NAME", "pod", "deployment.apps", "replicaset.apps"}
    assert rows(kubectl.run("get", "deploy", "--no-headers"))[0][:4] == ["one", "1/1", "1", "1"]
    (pod,) = rows(kubectl.run("get", "pods", "-l", "app=takara", "--no-headers"))
    assert "Running" in pod


def test_describe(kubectl: Kubectl) -> None:
    kubectl.create("takaras", takara())
    told = kubectl.run("describe", "tk", "one")
    assert "Size:  3" in told
    assert "Observed Generation:  -1" in told
    kubectl.create("deployments", deployment(replicas=1))
    kubectl.server.settle(kubectl.namespace)
    assert "1 desired | 1 updated | 1 total" in kubectl.run("describe", "deploy", "one")


@pytest.mark.parametrize(
    ("plural", "first", "then"),
    [("takaras", takara(), takara(size=5)), ("deployments", with_second(), deployment(replicas=4))],
)
def test_apply_twice_and_changed(kubectl: Kubectl, plural: str, first: Json, then: Json) -> None:
    for body, outcome in ((first, "created"), (first, "unchanged"), (then, "configured")):
        assert kubectl.run("apply", "-f", "-", stdin=body).endswith(f"/one {outcome}\n")
    after = kubectl.get(plural)["spec"]
    if plural == "deployments":
        assert (after["replicas"], containers({"spec": after})) == (4, {"takara": "busybox"})
    else:
        assert after == {"size": 5}


def test_apply_server_side(kubectl: Kubectl) -> None:
    for body in (takara(), deployment()):
        assert kubectl.run("apply", "--server-side", "-f", "-", stdin=body).endswith("/one serverside-applied\n")
    assert owned(kubectl.get("deployments"), "kubectl") == OUR_FIELDS
    assert owned(kubectl.get("takaras"), "kubectl") == {"spec/size"}


@pytest.mark.parametrize(
    ("spec", "words"), [({"size": -1}, "spec.size"), ({"size": 1, "colour": "red"}, 'unknown field "spec.colour"')]
)
def test_apply_refuses_a_mistake(kubectl: Kubectl, spec: Json, words: str) -> None:
    body = json.dumps(takara(**spec))
    found = kubectl.server.kubectl("apply", "-f", "-", stdin=body, check=False, namespace=kubectl.namespace)
    assert found.code == 1
    assert words in found.stderr


def test_create_and_replace(kubectl: Kubectl) -> None:
    assert kubectl.run("create", "-f", "-", stdin=takara()).endswith("/one created\n")
    assert kubectl.run("replace", "-f", "-", stdin=takara(size=7)).endswith("/one replaced\n")
    assert kubectl.get("takaras")["spec"] == {"size": 7}


def test_scale(kubectl: Kubectl) -> None:
    kubectl.create("takaras", takara())
    kubectl.applied(deployment())
    assert kubectl.run("scale", "tk/one", "--replicas=5").endswith("/one scaled\n")
    assert kubectl.run("scale", "deployment/one", "--replicas=2").endswith("/one scaled\n")
    assert kubectl.get("takaras")["spec"]["size"] == 5
    after = kubectl.get("deployments")
    assert after["spec"]["replicas"] == 2
    assert owned(after, "kubectl", "Update", "scale") == {"spec/replicas"}


def test_patch_annotate_and_label(kubectl: Kubectl) -> None:
    kubectl.create("takaras", takara())
    kubectl.applied(deployment())
    kubectl.run("patch", "tk/one", "--type=merge", "-p", '{"spec":{"size":4}}')
    kubectl.run("patch", "deploy/one", "-p", '{"spec":{"replicas":4}}')
    for kind in ("tk/one", "deploy/one"):
        kubectl.run("annotate", kind, "example.org/a=b")
        kubectl.run("label", kind, "example.org/c=d")
        kubectl.run("label", kind, "example.org/c-")
        plural = {"tk": "takaras", "deploy": "deployments"}[kind.split("/")[0]]
        metadata = kubectl.get(plural)["metadata"]
        assert metadata["annotations"]["example.org/a"] == "b"
        assert "example.org/c" not in metadata.get("labels", {})


def test_set_image_and_restart(kubectl: Kubectl) -> None:
    made = kubectl.applied(deployment())
    kubectl.run("rollout", "restart", "deploy/one")
    after = kubectl.get("deployments")
    assert entry(after) == entry(made)
    assert "kubectl.kubernetes.io/restartedAt" in after["spec"]["template"]["metadata"]["annotations"]
    kubectl.run("set", "image", "deploy/one", "takara=other")
    after = kubectl.get("deployments")
    assert containers(after) == {"takara": "other"}
    where = 'spec/template/spec/containers/k:{"name":"takara"}/image'
    assert where in owned(after, "kubectl-set", "Update")


@pytest.mark.parametrize("kind", ["tk/one", "deploy/one"])
def test_delete_waits_and_ends(kubectl: Kubectl, kind: str) -> None:
    kubectl.create("takaras", takara())
    kubectl.create("deployments", deployment(replicas=1))
    assert "deleted" in kubectl.run("delete", kind)
    assert "NotFound" in kubectl.fails("get", kind).stderr


@pytest.mark.parametrize("kind", ["tk", "deploy"])
def test_a_watch_of_the_simulator_ends_at_once_and_says_why(simulated: Simulated, kind: str) -> None:
    namespace = simulated.namespace()
    found = simulated.kubectl("get", kind, "--watch", check=False, namespace=namespace)
    assert found.code == 1
    assert "watch is not served by the takara-sync simulator" in found.stderr


def test_the_resources_are_listed(kubectl: Kubectl) -> None:
    assert "takaras" in kubectl.run("api-resources", "-o", "name")
