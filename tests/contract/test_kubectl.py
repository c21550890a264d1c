"""The real kubectl on both servers: its everyday verbs on Takaras and Deployments, one after the other."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.contract.talk import Json, Talk, deployment, takara, with_second

if TYPE_CHECKING:
    from tests.contract.simulated import Simulated

MANAGERS = "-o 'jsonpath={range .metadata.managedFields[*]}{.manager}/{.operation}/{.subresource} {end}'"
Step = tuple[str, Json | None, str]

# Each step is what kubectl is called with, what is piped into it, and a pattern of what it says.
SESSIONS: dict[str, list[Step]] = {
    "a Takara": [
        ("api-resources -o name", None, r"(?m)^takaras\.maho\.takara\.org$"),
        ("create -f -", takara(), r"/one created\n$"),
        ("get tk", None, r"^NAME +SIZE +REPLICAS +READY +STATUS +AGE\none +3 "),
        ("get tk -o wide", None, r" NODES\n"),
        ("get takara.maho.takara.org -o name", None, r"^takara\.maho\.takara\.org/one\n$"),
        ("describe tk one", None, r"(?s)Size:  3\n.*Observed Generation:  -1\n"),
        ("replace -f -", takara(size=7), r"/one replaced\n$"),
        ("scale tk/one --replicas=5", None, r"/one scaled\n$"),
        (f"get tk one --show-managed-fields {MANAGERS}", None, r"kubectl/Update/scale "),
        ("get tk one -o jsonpath={.spec}", None, r'^{"size":5}$'),
        ("""patch tk/one --type=merge -p '{"spec":{"size":4}}'""", None, r"/one patched\n$"),
        ("annotate tk/one example.org/a=b", None, r"/one annotated\n$"),
        ("label tk/one example.org/c=d", None, r"/one labeled\n$"),
        ("label tk/one example.org/c-", None, r"/one unlabeled\n$"),
        ("get tk one -o jsonpath={.spec.size}{.metadata.labels}{.metadata.annotations}", None, r'^4(\{\})?{"exam.*"b"'),
        ("delete tk/one", None, r"^takara.* \"one\" deleted"),
        ("get tk/one --ignore-not-found", None, r"^$"),
    ],
    "a Takara that is applied": [
        ("apply -f -", takara(), r"/one created\n$"),
        ("apply -f -", takara(), r"/one unchanged\n$"),
        ("apply -f -", takara(size=5), r"/one configured\n$"),
        ("get tk one -o jsonpath={.spec}", None, r'^{"size":5}$'),
        ("apply --server-side --force-conflicts -f -", takara(), r"/one serverside-applied\n$"),
        (f"get tk one --show-managed-fields {MANAGERS}", None, r"kubectl/Apply/ "),
    ],
    "a Deployment": [
        ("apply -f -", with_second(), r"/one created\n$"),
        ("apply -f -", with_second(), r"/one unchanged\n$"),
        ("apply -f -", deployment(replicas=1), r"/one configured\n$"),
        ("get deploy one -o jsonpath={.spec.replicas}{.spec.template.spec.containers[*].name}", None, r"^1takara$"),
        ("rollout restart deploy/one", None, r"/one restarted\n$"),
        ("set image deploy/one takara=other", None, r"/one image updated\n$"),
        ("get deploy one -o jsonpath={.spec.template}", None, r'(?s)restartedAt".*"image":"other"'),
        ("scale deployment/one --replicas=2", None, r"/one scaled\n$"),
        ("""patch deploy/one -p '{"spec":{"paused":true}}'""", None, r"/one patched\n$"),
        (f"get deploy one --show-managed-fields {MANAGERS}", None, r"kubectl-set/Update/ "),
        (f"get deploy one --show-managed-fields {MANAGERS}", None, r"kubectl/Update/scale "),
        ("delete deploy/one", None, r"^deployment.* \"one\" deleted"),
        ("get deploy/one --ignore-not-found", None, r"^$"),
    ],
}


@pytest.mark.parametrize("name", SESSIONS)
def test_what_kubectl_says(talk: Talk, name: str) -> None:
    for line, body, pattern in SESSIONS[name]:
        piped = None if body is None else json.dumps(body)
        said = talk.server.kubectl(*shlex.split(line), stdin=piped, namespace=talk.namespace).stdout
        assert re.search(pattern, said), f"{line}: {said}"


def test_get_what_a_deployment_made(talk: Talk) -> None:
    talk.create("deployments", deployment(replicas=1))
    talk.server.make_ready(talk.namespace, "one")
    talk.settled()
    for line, pattern in (
        ("get deploy,rs,pods -o name", r"(?s)^deployment.apps/one\nreplicaset.apps/one-\w+\npod/one-\w+-\w+\n$"),
        ("get deploy --no-headers", r"^one +1/1 +1 +1 "),
        ("get pods -l app=takara --no-headers", r" Running "),
        ("describe deploy one", r"1 desired \| 1 updated \| 1 total"),
    ):
        said = talk.server.kubectl(*line.split(), namespace=talk.namespace).stdout
        assert re.search(pattern, said), f"{line}: {said}"


@pytest.mark.parametrize(
    ("line", "body", "words"),
    [
        ("apply -f -", takara(size=-1), "spec.size"),
        ("apply -f -", takara(size=1, colour="red"), 'unknown field "spec.colour"'),
        ("get tk absent", None, "NotFound"),
    ],
)
def test_a_mistake(talk: Talk, line: str, body: Json | None, words: str) -> None:
    found = talk.server.kubectl(*line.split(), stdin=json.dumps(body), check=False, namespace=talk.namespace)
    assert found.code == 1
    assert words in found.stderr


@pytest.mark.parametrize("kind", ["tk", "deploy"])
def test_a_watch_of_the_simulator_ends_at_once_and_says_why(simulated: Simulated, kind: str) -> None:
    found = simulated.kubectl("get", kind, "--watch", check=False, namespace=simulated.namespace())
    assert found.code == 1
    assert "watch is not served by the takara-sync simulator" in found.stderr
