"""The harness itself: what the other tests rely on is true of it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kubernetes.client
import kubernetes.config
import pytest
import urllib3

from tests.control_plane.server import ControlPlane
from tests.control_plane.workloads import settle
from tests.server import CommandError, Request
from tests.support.takaras import takara

ROOT = Path(__file__).parents[1]
TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/{}/takaras"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{}/deployments"
CONFIG_MAPS = "/api/v1/namespaces/{}/configmaps"
MERGE = "application/merge-patch+json"


def create(server: ControlPlane, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = server.call("POST", path, body)
    assert answer.status == 201, answer.body
    created: dict[str, Any] = answer.body
    return created


def deployment(name: str, **metadata: Any) -> dict[str, Any]:
    labels = {"example": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "one", "image": "busybox"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": pod}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def test_the_server_is_a_real_one(control_plane: ControlPlane) -> None:
    version = control_plane.call("GET", "/version").body
    assert version["gitVersion"].startswith("v1.36.")
    assert (version["major"], version["minor"]) == ("1", "36")


def test_no_two_users_are_the_same_and_only_admins_may(control_plane: ControlPlane, namespace: str) -> None:
    admin, other = control_plane.user(), control_plane.user(admin=False)
    again = control_plane.user()
    assert len({admin.name, other.name, again.name}) == 3
    assert len({admin.token, other.token, again.token}) == 3
    codes = [control_plane.call("GET", TAKARAS.format(namespace), user=user).status for user in (admin, other)]
    assert codes == [200, 403]
    assert control_plane.call("GET", "/version", user=other).status == 200


def test_a_kubeconfig_verifies_the_server(control_plane: ControlPlane) -> None:
    user = control_plane.user()
    loaded: Any = kubernetes.client.Configuration()
    load: Any = kubernetes.config.load_kube_config
    load(str(user.kubeconfig), client_configuration=loaded)
    assert loaded.verify_ssl
    with kubernetes.client.ApiClient(loaded) as api:
        assert kubernetes.client.VersionApi(api).get_code().minor == "36"
    assert [request.uri for request in control_plane.requests(user)] == ["/version/"]
    with pytest.raises(urllib3.exceptions.MaxRetryError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib3.PoolManager(cert_reqs="CERT_REQUIRED").request("GET", control_plane.url, retries=0)


def test_requests_are_told_exactly(control_plane: ControlPlane, namespace: str) -> None:
    user, path = control_plane.user(), CONFIG_MAPS.format(namespace)
    one = {"metadata": {"name": "one"}}
    control_plane.call("POST", f"{path}?dryRun=All", one, user=user)
    control_plane.call("POST", path, one, user=user)
    control_plane.call("PATCH", f"{path}/one", {"data": {"a": "b"}}, content_type=MERGE, user=user)
    control_plane.call("GET", f"{path}/two", user=user)
    control_plane.call("GET", f"{TAKARAS.format(namespace)}?limit=5", user=user)
    control_plane.call("DELETE", f"{path}/one", user=user)
    told = control_plane.requests(user)
    assert [(request.method, request.verb, request.name, request.code) for request in told] == [
        ("POST", "create", "one", 201),
        ("POST", "create", "one", 201),
        ("PATCH", "patch", "one", 200),
        ("GET", "get", "two", 404),
        ("GET", "list", "", 200),
        ("DELETE", "delete", "one", 200),
    ]
    assert [request.dry_run for request in told] == [True, False, False, False, False, False]
    assert [request.writes for request in told] == [True, True, True, False, False, True]
    assert {(request.namespace, request.resource) for request in told[:4]} == {(namespace, "configmaps")}
    assert told[4].uri == f"{TAKARAS.format(namespace)}?limit=5"


def test_requests_are_complete_at_once_and_kept_apart(control_plane: ControlPlane, namespace: str) -> None:
    big = {"metadata": {"name": "big"}, "data": {"text": "x" * 300_000}}  # an answer in many chunks
    path = CONFIG_MAPS.format(namespace)
    create(control_plane, path, big)
    users = [control_plane.user() for _ in range(4)]

    def ask(number: int) -> list[Request]:
        user = users[number % 4]
        assert control_plane.call("GET", f"{path}?limit={number + 1}", user=user).status == 200
        return control_plane.requests(user)

    with ThreadPoolExecutor(8) as pool:
        for number, told in enumerate(pool.map(ask, range(200))):
            assert f"{path}?limit={number + 1}" in {request.uri for request in told}
    assert [len(control_plane.requests(user)) for user in users] == [50] * 4


def test_a_watch_is_told_while_it_goes_on(control_plane: ControlPlane, namespace: str) -> None:
    user = control_plane.user()
    headers = {"Authorization": f"Bearer {user.token}"}
    authority = control_plane.folder / "ca.crt"
    with urllib3.PoolManager(cert_reqs="CERT_REQUIRED", ca_certs=str(authority)) as pool:
        url = f"{control_plane.url}{TAKARAS.format(namespace)}?watch=true"
        watch = pool.request("GET", url, headers=headers, preload_content=False)
        assert watch.status == 200
        assert [(one.verb, one.method, one.code) for one in control_plane.requests(user)] == [("watch", "GET", 200)]
        watch.close()


def test_kubectl_is_the_real_one(control_plane: ControlPlane, namespace: str) -> None:
    user = control_plane.user()
    applied = control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(takara("one")), user=user, namespace=namespace)
    assert applied.stdout == "takara.maho.takara.org/one created\n"
    listed = control_plane.kubectl("get", "tk", "-o", "name", namespace=namespace)
    assert listed.stdout == "takara.maho.takara.org/one\n"
    writes = [request for request in control_plane.requests(user) if request.writes]
    assert [(request.verb, request.resource, request.name) for request in writes] == [("create", "takaras", "one")]
    assert writes[0].user_agent.startswith("kubectl/")


def test_a_kubectl_that_fails_shows_all_that_it_said(control_plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(CommandError, match=r"(?s)ended with code 1.*stdout.*stderr.*\"absent\" not found"):
        control_plane.kubectl("get", "takara", "absent", namespace=namespace)
    assert control_plane.kubectl("get", "takara", "absent", namespace=namespace, check=False).code == 1


def test_what_a_deleted_takara_owned_is_collected(control_plane: ControlPlane, namespace: str) -> None:
    owner = create(control_plane, TAKARAS.format(namespace), takara("one"))
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": "Takara",
        "name": "one",
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    create(control_plane, DEPLOYMENTS.format(namespace), deployment("one", ownerReferences=[reference]))
    control_plane.settle(namespace)
    pods = control_plane.kubectl("get", "pods", "-o", "name", namespace=namespace)
    assert len(pods.stdout.splitlines()) == 3
    assert control_plane.call("DELETE", f"{TAKARAS.format(namespace)}/one").status == 200
    control_plane.settle(namespace)
    assert control_plane.kubectl("get", "deployments,pods", "-o", "name", namespace=namespace).stdout == ""


def test_make_ready_carries_a_rollout_to_its_end(control_plane: ControlPlane, namespace: str) -> None:
    create(control_plane, DEPLOYMENTS.format(namespace), deployment("one"))
    control_plane.make_ready(namespace, "one")
    control_plane.kubectl("rollout", "restart", "deployment/one", namespace=namespace)
    control_plane.make_ready(namespace, "one")
    control_plane.settle(namespace)
    status = control_plane.kubectl("rollout", "status", "deployment/one", "--watch=false", namespace=namespace)
    assert status.stdout == 'deployment "one" successfully rolled out\n'
    waited = control_plane.kubectl(
        "wait", "--for=condition=Available", "deployment/one", "--timeout=0s", namespace=namespace
    )
    assert waited.stdout == "deployment.apps/one condition met\n"


def test_a_rollout_that_cannot_go_on_never_settles(control_plane: ControlPlane, namespace: str) -> None:
    create(control_plane, DEPLOYMENTS.format(namespace), deployment("one"))
    control_plane.make_ready(namespace, "one")
    control_plane.kubectl("rollout", "restart", "deployment/one", namespace=namespace)
    with pytest.raises(TimeoutError, match=f"Deployment {namespace}/one has "):
        settle(control_plane, namespace, within=2)


def test_compaction_makes_continue_tokens_expire(control_plane: ControlPlane, namespace: str) -> None:
    for path, body in ((TAKARAS, takara), (DEPLOYMENTS, deployment)):
        first = f"{path.format(namespace)}?limit=1"
        create(control_plane, path.format(namespace), body("one"))
        create(control_plane, path.format(namespace), body("two"))
        page = control_plane.call("GET", first).body
        following = f"{first}&continue={page['metadata']['continue']}"
        assert control_plane.call("GET", following).status == 200
        control_plane.compact()
        assert control_plane.call("GET", following).status == 410
