"""Lists as the pass reads them: pages of one moment, selectors, metadata only, tables."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.contract.talk import BODIES, PARTIAL, Talk, altered, deployment, refusal, takara, version

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def names(page: dict[str, object]) -> list[str]:
    items = page["items"]
    assert isinstance(items, list)
    return [item["metadata"]["name"] for item in items]


def five(talk: Talk) -> None:
    for number in range(5):
        talk.create("deployments", deployment(f"d{number}"))


def test_pages_follow_the_order_of_names_and_end_without_a_token(talk: Talk) -> None:
    five(talk)
    pages: list[list[str]] = []
    token = ""
    while not pages or token:
        page = talk.list("deployments", f"limit=2&continue={quote(token)}")
        pages.append(names(page))
        token = page["metadata"].get("continue")
    assert pages == [["d0", "d1"], ["d2", "d3"], ["d4"]]


def test_all_pages_show_the_moment_of_the_first(talk: Talk) -> None:
    five(talk)
    first = talk.list("deployments", "limit=2")
    talk.delete("deployments", "d3")
    talk.create("deployments", deployment("d9"))
    talk.patched("deployments", {"spec": {"replicas": 9}}, name="d4")
    rest = talk.list("deployments", f"limit=9&continue={quote(first['metadata']['continue'])}")
    assert names(rest) == ["d2", "d3", "d4"]
    assert rest["items"][2]["spec"]["replicas"] == 3
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


@pytest.mark.parametrize("plural", ["takaras", "deployments"])
def test_an_expired_token_is_410(talk: Talk, plural: str) -> None:
    for name in ("one", "two"):
        talk.create(plural, altered(BODIES[plural], "metadata.name", name))
    following = f"limit=1&continue={quote(talk.list(plural, 'limit=1')['metadata']['continue'])}"
    assert len(talk.list(plural, following)["items"]) == 1
    talk.server.compact()
    answer = talk.server.call("GET", talk.path(plural, query=following))
    assert refusal(answer) == (410, "Expired", [])


def test_lists_of_custom_and_of_built_in_kinds(talk: Talk) -> None:
    for plural, body in BODIES.items():
        assert talk.list(plural)["items"] == []
        talk.create(plural, body)
    custom, built_in = talk.list("takaras"), talk.list("deployments")
    assert (custom["kind"], custom["metadata"]["continue"]) == ("TakaraList", "")
    assert (built_in["kind"], "continue" in built_in["metadata"]) == ("DeploymentList", False)
    assert ("kind" in custom["items"][0], "kind" in built_in["items"][0]) == (True, False)
    assert version(talk.get("takaras")) == custom["items"][0]["metadata"]["resourceVersion"]  # reading moves nothing


def test_metadata_only_with_no_match_is_null(talk: Talk) -> None:
    page = talk.list("pods", accept=PARTIAL)
    assert (page["kind"], page["items"]) == ("PartialObjectMetadataList", None)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("label=app=takara", ["a", "b"]),
        ("label=app==takara,takara_cr=a", ["a"]),
        ("label=takara_cr!=a", ["b"]),
        ("label=takara_cr in (a,c)", ["a"]),
        ("label=takara_cr notin (a)", ["b"]),
        ("label=!takara_cr", []),
        ("label=takara_cr", ["a", "b"]),
        ("field=metadata.name=a", ["a"]),
        ("field=metadata.name!=a", ["b"]),
        ("field=metadata.namespace=elsewhere", []),
    ],
)
def test_selectors(talk: Talk, selector: str, found: list[str]) -> None:
    kind, _, text = selector.partition("=")
    for name in ("a", "b"):
        talk.create("deployments", deployment(name))
    assert names(talk.list("deployments", f"{kind}Selector={quote(text)}")) == found


def test_a_malformed_selector_is_400(talk: Talk) -> None:
    assert talk.server.call("GET", talk.path("takaras", query="labelSelector=a%20b%20c")).status == 400


def test_pods_without_the_finished_ones_metadata_only(talk: Talk) -> None:
    talk.create("deployments", deployment(replicas=2))
    talk.server.settle(talk.namespace)
    first, second = names(talk.list("pods"))
    talk.patched("pods", {"status": {"phase": "Failed"}}, name=first, sub="status")
    phases = quote("status.phase!=Failed,status.phase!=Succeeded")
    page = talk.list("pods", f"labelSelector=app%3Dtakara&fieldSelector={phases}", accept=PARTIAL)
    assert second in names(page)
    assert first not in names(page)
    assert page["items"][0]["metadata"]["labels"]["pod-template-hash"]


def test_a_kind_that_is_not_served_is_a_plain_404(talk: Talk) -> None:
    answer = talk.server.call("GET", f"/apis/nobody.example/v1/namespaces/{talk.namespace}/things")
    assert (answer.status, str(answer.body).strip()) == (404, "404 page not found")


def test_an_absent_object_is_a_404_that_names_it(talk: Talk) -> None:
    for plural, group in (("takaras", "maho.takara.org"), ("deployments", "apps")):
        answer = talk.server.call("GET", talk.path(plural, "nobody"))
        assert refusal(answer) == (404, "NotFound", [])
        assert answer.body["details"] == {"name": "nobody", "group": group, "kind": plural}
        assert answer.body["message"] == f'{plural}.{group} "nobody" not found'


def test_lists_of_all_namespaces_and_of_one_that_is_absent(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = talk.server.call("GET", "/apis/maho.takara.org/v1alpha1/takaras?limit=500")
    assert talk.namespace in [item["metadata"]["namespace"] for item in answer.body["items"]]
    talk.namespace = "nowhere"
    assert talk.list("takaras")["items"] == []


def test_a_table_of_takaras_has_the_columns_of_the_crd(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    ready = {"type": "Ready", "status": "True", "reason": "Converged", "message": ""}
    ready |= {"lastTransitionTime": made["metadata"]["creationTimestamp"]}
    status = {"status": {"replicas": 2, "conditions": [ready], "nodes": ["pod-a", "pod-b"]}}
    talk.patched("takaras", status, sub="status")
    table = talk.list("takaras", accept=TABLE)
    columns = " ".join(f"{one['name']}:{one['type']}:{one['priority']}" for one in table["columnDefinitions"])
    assert columns == (
        "Name:string:0 Size:integer:0 Replicas:integer:0 Ready:integer:0 Status:string:0 Age:date:0 Nodes:string:1"
    )
    (row,) = table["rows"]
    assert (row["cells"][:5], row["cells"][6]) == (["one", 3, 2, None, "Converged"], '["pod-a","pod-b"]')
    assert row["object"]["kind"] == "PartialObjectMetadata"


def test_a_table_of_deployments(talk: Talk) -> None:
    talk.create("deployments", deployment(replicas=1))
    talk.server.settle(talk.namespace)
    table = talk.list("deployments", accept=TABLE)
    columns = [one["name"] for one in table["columnDefinitions"]]
    assert columns[:5] == ["Name", "Ready", "Up-to-date", "Available", "Age"]
    assert table["rows"][0]["cells"][1] == "0/1"
