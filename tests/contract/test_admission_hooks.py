"""What changes Deployments on admission: hooks of the simulator, a policy on the real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from takara_sync.simulator import AdmissionHook
from tests.contract.simulated import Simulated
from tests.contract.talk import OUR_FIELDS, Json, Talk, deployment, owned, wait

POLICIES = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
TWO_AND_A_LABEL = (
    'Object{metadata: Object.metadata{labels: {"added": "yes"}},'
    " spec: Object.spec{replicas: object.spec.replicas < 2 ? 2 : object.spec.replicas}}"
)


@contextmanager
def hooked(server: Simulated, hook: AdmissionHook) -> Iterator[None]:
    server.store.admission.append(hook)
    yield
    server.store.admission.remove(hook)


@contextmanager
def by_policy(talk: Talk) -> Iterator[None]:
    here = {"matchLabels": {"kubernetes.io/metadata.name": talk.namespace}}
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["*"]}
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": TWO_AND_A_LABEL}}
    spec = {"matchConstraints": {"namespaceSelector": here, "resourceRules": [rule]}, "mutations": [mutation]}
    specs = {POLICIES: spec | {"reinvocationPolicy": "Never"}, BINDINGS: {"policyName": talk.namespace}}
    for path, one in specs.items():
        made = talk.server.call("POST", path, {"metadata": {"name": talk.namespace}, "spec": one})
        assert made.status == 201, made.body
    probe = deployment("probe")
    wait(talk, lambda: "added" in talk.create("deployments", probe, query="dryRun=All")["metadata"]["labels"])
    yield
    for path in specs:
        talk.server.call("DELETE", f"{path}/{talk.namespace}")


def two_at_least(talk: Talk) -> AbstractContextManager[None]:
    """Deployments get a label, and two replicas where they ask for fewer."""
    server, namespace = talk.server, talk.namespace

    def hook(new: Json) -> Json:
        if (new["kind"], new["metadata"].get("namespace")) == ("Deployment", namespace):
            new["metadata"]["labels"] |= {"added": "yes"}
            new["spec"]["replicas"] = max(2, new["spec"]["replicas"])
        return new

    return hooked(server, hook) if isinstance(server, Simulated) else by_policy(talk)


def test_what_admission_changes_belongs_to_nobody_else(talk: Talk) -> None:
    with two_at_least(talk):
        made = talk.applied(deployment(replicas=1))
        assert (made["spec"]["replicas"], made["metadata"]["labels"]["added"]) == (2, "yes")
        assert owned(made) == OUR_FIELDS
        made = talk.settled()
        assert talk.applied(deployment(replicas=1)) == made
        after = talk.patched("deployments", {"spec": {"replicas": 1}})
        assert after["spec"]["replicas"] == 2
        assert (owned(after), owned(after, "somebody", "Update")) == (OUR_FIELDS - {"spec/replicas"}, {"spec/replicas"})
        assert talk.patched("deployments", {"spec": {"replicas": 1}}, sub="scale")["spec"]["replicas"] == 1
