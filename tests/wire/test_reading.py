"""Lists over the wire: pages, tokens that expire, items that cannot be read, answers of somebody else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import ObjectError, Unreadable
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import Key
from tests.wire.answers import good, html, page, status

if TYPE_CHECKING:
    from takara_sync.kube.api import Api
    from tests.wire.server import FaultServer

TAKARAS = "/apis/maho.takara.org/v1alpha1/takaras"
FOREVER = Deadline()
EXPIRED = status(410, "Expired", "The provided continue parameter is too old")


def item_of(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": {"size": 1}} | more


def names(cluster: KubeCluster) -> list[str]:
    return [one.metadata.name for one in cluster.takaras(FOREVER).items]


@pytest.fixture
def cluster(api: Api) -> KubeCluster:
    return KubeCluster(api)


def test_every_page_is_followed(cluster: KubeCluster, server: FaultServer) -> None:
    first, second = page("TakaraList", item_of("a"), following="t1&="), page("TakaraList", following="t2")
    server.on(TAKARAS, first, second, page("TakaraList", item_of("b")))
    assert names(cluster) == ["a", "b"]
    assert [(one.query["limit"], one.query.get("continue")) for one in server.requests] == [
        ("500", None),
        ("500", "t1&="),
        ("500", "t2"),
    ]


@pytest.mark.parametrize("tokens", ["aa", "aba"])
def test_the_same_token_twice_is_an_error(cluster: KubeCluster, server: FaultServer, tokens: str) -> None:
    server.on(TAKARAS, *(page("TakaraList", item_of("x"), following=token) for token in tokens))
    with pytest.raises(Unreadable, match="same continue token twice"):
        cluster.takaras(FOREVER)
    assert len(server.requests) == len(tokens)


def test_an_expired_token_starts_the_list_again_without_mixing(cluster: KubeCluster, server: FaultServer) -> None:
    old, new = page("TakaraList", item_of("old"), item_of("both"), following="t"), page("TakaraList", item_of("both"))
    server.on(TAKARAS, old, EXPIRED, new)
    assert names(cluster) == ["both"]
    assert [one.query.get("continue") for one in server.requests] == [None, "t", None]


def test_a_list_that_expires_again_and_again_is_given_up(cluster: KubeCluster, server: FaultServer) -> None:
    server.on(TAKARAS, *[page("TakaraList", item_of("old"), following="t"), EXPIRED] * 20)
    with pytest.raises(Unreadable, match="410"):
        cluster.takaras(FOREVER)
    assert 4 <= len(server.requests) <= 10


def test_no_items_are_null(cluster: KubeCluster, server: FaultServer) -> None:
    server.on("/api/v1/pods", good({"kind": "PartialObjectMetadataList", "metadata": {}, "items": None}))
    assert cluster.pods(FOREVER).items == ()


# ------------------------------------------------------------------ one bad apple


@pytest.mark.parametrize("item", [None, "text", 7, [], {}, {"metadata": None}, {"metadata": {"name": None}}])
def test_an_item_that_is_no_object_costs_itself(cluster: KubeCluster, server: FaultServer, item: Any) -> None:
    server.on(TAKARAS, page("TakaraList", item_of("a"), item))
    found = cluster.takaras(FOREVER)
    assert [one.metadata.name for one in found.items] == ["a"]
    assert len(found.unread) == 1


def test_a_deeply_nested_item_costs_itself(cluster: KubeCluster, server: FaultServer) -> None:
    """The API server takes a template of any depth, and who may write a Takara must not stop all the others."""
    bad = json.dumps(item_of("bad", spec={"size": 1, "template": "DEEP"})).replace('"DEEP"', "[" * 3000 + "]" * 3000)
    body = json.dumps({"kind": "TakaraList", "items": [item_of("a"), "BAD"]}).replace('"BAD"', bad)
    server.on(TAKARAS, good(body.encode()))
    found = cluster.takaras(FOREVER)
    assert [one.metadata.name for one in found.items] == ["a"]
    assert len(found.unread) == 1


# ------------------------------------------------------------------ whoever answered, it was no API server

STRANGE = {
    "no list": good({"kind": "Status"}),
    "items no list": good({"kind": "TakaraList", "items": {}}),
    "no items": good({"kind": "TakaraList", "metadata": {}}),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_list_of_something_else_is_unreadable(cluster: KubeCluster, server: FaultServer, name: str) -> None:
    server.on(TAKARAS, STRANGE[name])
    with pytest.raises(Unreadable):
        cluster.takaras(FOREVER)
    assert len(server.requests) == 1


# ------------------------------------------------------------------ scope, single objects, writes


def test_named_namespaces_are_asked_one_by_one_and_once(api: Api, server: FaultServer) -> None:
    cluster = KubeCluster(api, namespaces=["b", "a", "b"], selector="tier in (x,y)")
    for each in (cluster.deployments, cluster.takaras, cluster.pods):
        each(FOREVER)
    assert [one.path for one in server.requests] == [
        f"/{base}/namespaces/{namespace}/{plural}"
        for base, plural in (("apis/apps/v1", "deployments"), (TAKARAS[1:-8], "takaras"), ("api/v1", "pods"))
        for namespace in ("a", "b")
    ]
    selectors = [one.query["labelSelector"] for one in server.requests]
    assert selectors == ["app=takara"] * 2 + ["tier in (x,y)"] * 2 + ["app=takara"] * 2


def test_pods_are_asked_for_as_metadata_and_without_those_that_ended(cluster: KubeCluster, server: FaultServer) -> None:
    cluster.pods(FOREVER)
    (asked,) = server.requests
    assert asked.headers["accept"].startswith("application/json;as=PartialObjectMetadataList;")
    assert asked.query["fieldSelector"] == "status.phase!=Failed,status.phase!=Succeeded"


def test_one_object_absent_malformed_or_of_another_kind(cluster: KubeCluster, server: FaultServer) -> None:
    key = Key("ns", "x")
    server.on("*/deployments/x", status(404, "NotFound"), good({"kind": "Deployment", "metadata": {}}), html())
    assert cluster.deployment(key, FOREVER) is None
    with pytest.raises(ObjectError, match="malformed"):
        cluster.deployment(key, FOREVER)
    with pytest.raises(Unreadable):
        cluster.deployment(key, FOREVER)
