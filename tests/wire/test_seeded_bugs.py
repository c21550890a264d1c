"""Tests of the tests: a bug that clients have is seeded into the command, and the cell meant for it finds it."""

from __future__ import annotations

import logging
import subprocess
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from takara_sync import reconcile
from takara_sync.errors import NotFound, Retryable, Unreadable
from takara_sync.kube import api, client, decode, response
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import Deployment, DeploymentMeta, Listing
from tests.wire.cells import HURRIED, Cell, run
from tests.wire.command import Called
from tests.wire.forked import Forked, hasty
from tests.wire.holds import problems

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Bug = Callable[[pytest.MonkeyPatch], None]


def tries_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reconcile, "TRIES", 10**9)
    patch.setattr(api.Api.send, "__kwdefaults__", {"tries": 10**9})


def takes_a_failed_list_for_an_empty_one(patch: pytest.MonkeyPatch) -> None:
    whole = KubeCluster._lists

    def lists(*args: Any, **options: Any) -> Any:
        try:
            return whole(*args, **options)
        except Unreadable:
            return Listing((), {})

    patch.setattr(KubeCluster, "_lists", lists)


def takes_the_first_page_for_all(patch: pytest.MonkeyPatch) -> None:
    page = decode.page
    patch.setattr(decode, "page", lambda *args: (page(*args)[0], ""))


def reports_success_for_a_lost_response(patch: pytest.MonkeyPatch) -> None:
    sent = KubeCluster.create

    def create(self: KubeCluster, manifest: Any, deadline: Any) -> Any:
        try:
            return sent(self, manifest, deadline)
        except Retryable:
            name, spec = manifest["metadata"]["name"], msgspec.Raw(msgspec.json.encode(manifest["spec"]))
            return Deployment(DeploymentMeta(name, manifest["metadata"]["namespace"], "uid", "9999"), spec)

    patch.setattr(KubeCluster, "create", create)


def believes_a_404_of_a_proxy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(response, "ApiNotServed", NotFound)


def logs_a_change_twice(patch: pytest.MonkeyPatch) -> None:
    changed = reconcile.Reconciler._changed
    patch.setattr(reconcile.Reconciler, "_changed", lambda *args: [changed(*args) for _ in range(2)])


def writes_text_into_the_log(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(api, "_log_retry", lambda _: logging.getLogger().handlers[0].stream.write("retrying...\n"))  # type: ignore[attr-defined]


FOUND: list[tuple[Bug, Cell, str]] = [
    (tries_for_ever, Cell("503", "create"), "instead of 5"),
    (tries_for_ever, Cell("a storm of 5xx", "takaras"), "after the fault began"),
    (takes_a_failed_list_for_an_empty_one, Cell("403", "takaras"), "ended with 0"),
    (takes_a_failed_list_for_an_empty_one, Cell("503", "deployments"), "wrote"),
    (takes_the_first_page_for_all, Cell("503", "look-up"), "whom it names"),
    (reports_success_for_a_lost_response, Cell("cut inside the body", "create"), "fresh: created"),
    (believes_a_404_of_a_proxy, Cell("a proxy's 404", "create"), "fresh: skipped"),
    (logs_a_change_twice, Cell("503", "apply"), "the log of changes"),
]


def name_of(case: object) -> str:
    return getattr(case, "__name__", str(case)).replace("_", " ")


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("bug", "cell", "words"), FOUND, ids=name_of)
def test_a_bug_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: Bug, cell: Cell, words: str) -> None:
    bug(monkeypatch)
    found = problems(run(cell, Called(tmp_path), tmp_path, {}, HURRIED), exact=True)
    assert any(words in each for each in found), found


@pytest.mark.usefixtures("hasty")
def test_a_broken_output_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret in it: tests/poison."""
    writes_text_into_the_log(monkeypatch)
    with pytest.raises(ValueError, match="Expecting value"):
        run(Cell("503", "takaras"), Called(tmp_path), tmp_path, {})


def has_no_time_limit_but_the_sockets() -> None:
    hasty()
    setattr(client, "timed", lambda _: None)  # noqa: B010 - a name that is no export


def test_a_process_that_does_not_end_by_itself_is_found(tmp_path: Path) -> None:
    """A byte now and then is never too slow for a socket's own timeout."""
    cell = Cell("a byte now and then of a header", "create")
    with pytest.raises(subprocess.TimeoutExpired):
        run(cell, Forked(tmp_path, has_no_time_limit_but_the_sockets), tmp_path, {}, patience=4)
