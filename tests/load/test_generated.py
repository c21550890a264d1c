"""The generated fleet of benchmarks/generated has the form of a real one, and a pass finds nothing to do there."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from benchmarks.generated.fleet import Fleet
from benchmarks.generated.pages import Pages
from benchmarks.generated.recorded import SIZE, TAKARAS, load
from benchmarks.generated.recording import LIMITS, record
from benchmarks.maximal import run, served
from takara_sync.kube.cluster import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.control_plane.server import ControlPlane

RECORD_AGAIN = "if this is on purpose: python -m benchmarks.generated.recording"
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def shape(value: Any) -> Any:
    """The keys in their order and the types of the values; a uid in a key is any uid."""
    if isinstance(value, dict):
        return [(UID.sub("uid", key), shape(sub)) for key, sub in value.items()]
    return [shape(sub) for sub in value] if isinstance(value, list) else type(value).__name__


def body_of(response: bytes) -> bytes:
    """The body of an HTTP response."""
    head, _, rest = response.partition(b"\r\n\r\n")
    if b"chunked" not in head:
        return rest
    body = b""
    while (size := int(rest[: rest.index(b"\r\n")], 16)) > 0:
        start = rest.index(b"\r\n") + 2
        body, rest = body + rest[start : start + size], rest[start + size + 2 :]
    return zlib.decompress(body, wbits=31) if b"gzip" in head else body


@pytest.mark.parametrize("resource", LIMITS)
def test_a_generated_page_has_the_form_and_the_length_of_the_recorded_one(resource: str) -> None:
    pages, token = Pages(Fleet(load(), TAKARAS)), ""
    for recorded in load().settled[resource]:
        body = body_of(pages.response(resource, token, LIMITS[resource], gzip=True))
        found, expected = msgspec.json.decode(body), msgspec.json.decode(recorded)
        assert shape(found) == shape(expected)
        assert found["metadata"].get("remainingItemCount") == expected["metadata"].get("remainingItemCount")
        assert len(body) == pytest.approx(len(recorded), rel=0.02)
        token = found["metadata"].get("continue", "")
    assert token == ""


@pytest.mark.parametrize("resource", LIMITS)
def test_the_pages_of_a_list_have_every_object_once_and_in_order(resource: str) -> None:
    fleet = Fleet(load(), 1201, namespaces=7)
    pages, token, keys = Pages(fleet), "", list[tuple[str, str]]()
    while not keys or token:
        page = msgspec.json.decode(body_of(pages.response(resource, token, PAGE, gzip=True)))
        keys += [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in page["items"]]
        token = page["metadata"].get("continue", "")
    assert keys == sorted(set(keys))
    assert len(keys) == 1201 * (SIZE if resource == "pods" else 1)
    assert len({namespace for namespace, _ in keys}) == 7


LISTS = {"list deployments": 1, "list takaras": 1, "list pods": 1}


@pytest.mark.parametrize("options", [(), ("--namespaces=3",), ("--annotations=255000",)])
def test_a_pass_over_a_generated_fleet_only_reads(tmp_path: Path, options: tuple[str, ...]) -> None:
    with served(("--takaras=20", *options)) as port:
        done = run(port, tmp_path)
    assert done.requests == LISTS, RECORD_AGAIN


def test_a_pass_over_a_new_fleet_writes_each_deployment_and_each_status_once(tmp_path: Path) -> None:
    with served(("--takaras=20", "--namespaces=3", "--cold")) as port:
        assert run(port, tmp_path).requests == LISTS | {"apply": 20, "write status": 20, "send event": 20}


def test_a_real_server_still_answers_as_recorded(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    now, before = record(fresh_control_plane()), load()
    for resource in LIMITS:
        for new, old in zip(now.settled[resource], before.settled[resource], strict=True):
            assert shape(msgspec.json.decode(new)) == shape(msgspec.json.decode(old)), RECORD_AGAIN
            assert len(new) == pytest.approx(len(old), rel=0.02), RECORD_AGAIN
    assert shape(msgspec.json.decode(now.applied)) == shape(msgspec.json.decode(before.applied)), RECORD_AGAIN
