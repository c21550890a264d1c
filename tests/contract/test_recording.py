"""What a server says of the requests that it got. Tests count requests, so each has to be there, once, and at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import urllib3

from tests.contract.talk import MERGE, Talk, takara

if TYPE_CHECKING:
    from tests.control_plane.server import ControlPlane
    from tests.server import Request


def test_requests_are_recorded_exactly(talk: Talk) -> None:
    server, user, path = talk.server, talk.server.user(), talk.path("takaras")
    server.call("POST", f"{path}?dryRun=All", takara(), user=user)
    server.call("POST", path, takara(), user=user)
    server.call("PATCH", f"{path}/one/status", {"status": {}}, content_type=MERGE, user=user)
    server.call("GET", f"{path}/two", user=user)
    server.call("GET", f"{path}?limit=5", user=user)
    server.call("DELETE", f"{path}/one", user=user)
    found = server.requests(user)
    assert [(one.method, one.verb, one.subresource, one.code, one.writes) for one in found] == [
        ("POST", "create", "", 201, True),
        ("POST", "create", "", 201, True),
        ("PATCH", "patch", "status", 200, True),
        ("GET", "get", "", 404, False),
        ("GET", "list", "", 200, False),
        ("DELETE", "delete", "", 200, True),
    ]
    assert [one.name for one in found[2:]] == ["one", "two", "", "one"]
    assert [one.dry_run for one in found] == [True, False, False, False, False, False]
    assert {(one.namespace, one.resource) for one in found} == {(talk.namespace, "takaras")}
    assert found[4].uri == f"{path}?limit=5"


def test_requests_are_complete_at_once_and_kept_apart(talk: Talk) -> None:
    path, users = talk.path("takaras"), [talk.server.user() for _ in range(4)]
    talk.create("takaras", takara(size=1, template={"text": "x" * 300_000}))  # a response in many chunks

    def ask(number: int) -> list[Request]:
        user = users[number % 4]
        assert talk.server.call("GET", f"{path}?limit={number + 1}", user=user).status == 200
        return talk.server.requests(user)

    with ThreadPoolExecutor(8) as pool:
        for number, found in enumerate(pool.map(ask, range(80))):
            assert f"{path}?limit={number + 1}" in {request.uri for request in found}
    assert [len(talk.server.requests(user)) for user in users] == [20] * 4


def test_a_watch_is_recorded_while_it_goes_on(control_plane: ControlPlane, namespace: str) -> None:
    user = control_plane.user()
    url = f"{control_plane.url}/apis/maho.takara.org/v1alpha1/namespaces/{namespace}/takaras?watch=true"
    headers = {"Authorization": f"Bearer {user.token}"}
    with urllib3.PoolManager(ca_certs=str(control_plane.folder / "ca.crt")) as pool:
        watch = pool.request("GET", url, headers=headers, preload_content=False)
        assert [(one.verb, one.method, one.code) for one in control_plane.requests(user)] == [("watch", "GET", 200)]
        watch.close()
