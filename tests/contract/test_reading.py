"""Lists as the pass reads them: pages of one moment, selectors, metadata only, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.contract.talk import PARTIAL, Talk, deployment, refusal, takara, version

if TYPE_CHECKING:
    from tests.contract.talk import Both

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
    first = talk.list("deployments", "limit=2")
    second = talk.list("deployments", f"limit=2&continue={quote(first['metadata']['continue'])}")
    third = talk.list("deployments", f"limit=2&continue={quote(second['metadata']['continue'])}")
    assert [names(first), names(second), names(third)] == [["d0", "d1"], ["d2", "d3"], ["d4"]]
    assert (first["metadata"]["remainingItemCount"], "continue" in third["metadata"]) == (3, False)


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


def test_selected_pages_do_not_count_what_is_left(talk: Talk) -> None:
    five(talk)
    page = talk.list("deployments", "limit=2&labelSelector=app%3Dtakara")
    assert "remainingItemCount" not in page["metadata"]
    assert page["metadata"]["continue"]


def test_an_expired_token_is_410(talk: Talk) -> None:
    five(talk)
    token = quote(talk.list("deployments", "limit=2")["metadata"]["continue"])
    talk.server.compact()
    answer = talk.server.call("GET", talk.path("deployments", query=f"limit=2&continue={token}"))
    assert refusal(answer) == (410, "Expired", [])


def test_a_malformed_token_is_400(talk: Talk) -> None:
    answer = talk.server.call("GET", talk.path("deployments", query="limit=2&continue=nonsense"))
    assert refusal(answer) == (400, "BadRequest", [])


def test_version_zero_ignores_the_limit(talk: Talk) -> None:
    five(talk)
    talk.server.settle(talk.namespace)  # such a list may be a little behind
    page = talk.list("deployments", "limit=2&resourceVersion=0")
    assert len(page["items"]) > 2
    assert "continue" not in page["metadata"]


def test_the_last_page_of_custom_resources_has_an_empty_token(talk: Talk) -> None:
    talk.create("takaras", takara())
    page = talk.list("takaras")
    assert page["metadata"]["continue"] == ""
    assert (page["kind"], page["items"][0]["kind"]) == ("TakaraList", "Takara")


def test_items_of_built_in_kinds_carry_no_kind(talk: Talk) -> None:
    talk.create("deployments", deployment())
    page = talk.list("deployments")
    assert page["kind"] == "DeploymentList"
    assert "kind" not in page["items"][0]


def test_metadata_only_with_no_match_is_null(talk: Talk) -> None:
    page = talk.list("pods", accept=PARTIAL)
    assert page["kind"] == "PartialObjectMetadataList"
    assert page["items"] is None


def test_full_lists_with_no_match_are_empty(talk: Talk) -> None:
    assert talk.list("takaras")["items"] == talk.list("deployments")["items"] == []


def test_metadata_only_has_metadata_only(talk: Talk) -> None:
    talk.create("deployments", deployment())
    (item,) = talk.list("deployments", accept=PARTIAL)["items"]
    assert set(item) == {"kind", "apiVersion", "metadata"}
    one = talk.server.call(
        "GET",
        talk.path("deployments", "one"),
        accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    )
    assert one.body["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("app=takara", ["a", "b"]),
        ("app==takara,takara_cr=a", ["a"]),
        ("takara_cr!=a", ["b"]),
        ("takara_cr in (a,c)", ["a"]),
        ("takara_cr notin (a)", ["b"]),
        ("!takara_cr", []),
        ("takara_cr", ["a", "b"]),
    ],
)
def test_label_selectors(talk: Talk, selector: str, found: list[str]) -> None:
    for name in ("a", "b"):
        talk.create("deployments", deployment(name))
    assert names(talk.list("deployments", f"labelSelector={quote(selector)}")) == found


@pytest.mark.parametrize(
    ("selector", "found"),
    [("metadata.name=a", ["a"]), ("metadata.name!=a", ["b"]), ("metadata.namespace=elsewhere", [])],
)
def test_field_selectors(talk: Talk, selector: str, found: list[str]) -> None:
    for name in ("a", "b"):
        talk.create("takaras", takara(name))
    assert names(talk.list("takaras", f"fieldSelector={quote(selector)}")) == found


@pytest.mark.parametrize("query", ["labelSelector=a%20b%20c", "fieldSelector=spec.size%3D3", "limit=x"])
def test_a_malformed_query_is_400(talk: Talk, query: str) -> None:
    assert talk.server.call("GET", talk.path("takaras", query=query)).status == 400


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


def test_a_namespace_that_is_absent_lists_nothing(server: Both) -> None:
    answer = server.call("GET", "/apis/apps/v1/namespaces/nowhere/deployments")
    assert (answer.status, answer.body["items"]) == (200, [])


def test_lists_over_all_namespaces(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = talk.server.call("GET", "/apis/maho.takara.org/v1alpha1/takaras?limit=500")
    assert talk.namespace in [item["metadata"]["namespace"] for item in answer.body["items"]]


def test_an_unknown_answer_format_is_406(talk: Talk) -> None:
    answer = talk.server.call("GET", talk.path("takaras"), accept="application/nonsense")
    assert refusal(answer)[:2] == (406, "NotAcceptable")


def test_a_table_of_takaras_has_the_columns_of_the_crd(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Converged",
        "message": "",
        "lastTransitionTime": made["metadata"]["creationTimestamp"],
    }
    status = {"status": {"replicas": 2, "conditions": [condition], "nodes": ["pod-a", "pod-b"]}}
    talk.patched("takaras", status, sub="status")
    table = talk.list("takaras", accept=TABLE)
    columns = [(one["name"], one["type"], one["priority"]) for one in table["columnDefinitions"]]
    assert columns == [
        ("Name", "string", 0),
        ("Size", "integer", 0),
        ("Replicas", "integer", 0),
        ("Ready", "integer", 0),
        ("Status", "string", 0),
        ("Age", "date", 0),
        ("Nodes", "string", 1),
    ]
    (row,) = table["rows"]
    cells = row["cells"]
    assert (cells[:5], cells[6]) == (["one", 3, 2, None, "Converged"], '["pod-a","pod-b"]')
    assert row["object"]["kind"] == "PartialObjectMetadata"


def test_a_table_of_deployments(talk: Talk) -> None:
    talk.create("deployments", deployment(replicas=1))
    talk.server.settle(talk.namespace)
    table = talk.list("deployments", accept=TABLE)
    columns = [one["name"] for one in table["columnDefinitions"]]
    assert columns[:7] == ["Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images"]
    assert table["rows"][0]["cells"][1] == "0/1"


def test_reading_moves_nothing(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    talk.list("takaras")
    assert version(talk.get("takaras")) == version(made)
