"""Passes over the fake cluster with a clock of the test's own, and what gets in between."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from takara_sync.errors import TakaraSyncError
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Report
from takara_sync.sync import sync_once
from tests.unit.build import (
    NOW,
    Json,
    deployment_json,
    scaled,
    settled,
)
from tests.unit.fake import FakeCluster

if TYPE_CHECKING:
    from collections.abc import Callable

ONE = Key("ns", "one")


def run(cluster: FakeCluster, minutes: float = 0) -> Report:
    return sync_once(cluster, workers=1, now=lambda: NOW + timedelta(minutes=minutes))


def result(report: Report) -> str:
    (outcome,) = report.outcomes
    return str(outcome.result)


def once(cluster: FakeCluster, verb: str, action: Callable[[], object]) -> None:
    """Do something ahead of the first request of this kind."""
    left = [action]

    def before(asked: str, _: Key) -> None:
        if asked == verb and left:
            left.pop()()

    cluster.before = before


def always(cluster: FakeCluster, verb: str, error: TakaraSyncError, name: str = "one") -> None:
    def before(asked: str, key: Key) -> None:
        if (asked, key.name) == (verb, name):
            raise error

    cluster.before = before


def drifted(*more: Json) -> FakeCluster:
    return FakeCluster(settled(), scaled(deployment_json(), 7), *more)


def passed(cluster: FakeCluster, policy: Policy = Policy(), *, workers: int = 1, offset: int = 0) -> Report:  # noqa: B008 - frozen
    return sync_once(cluster, policy, workers=workers, offset=offset, now=lambda: NOW)


def results(report: Report) -> dict[str, str]:
    return {outcome.key.name: str(outcome.result) for outcome in report.outcomes}


def raising(error: TakaraSyncError, verb: str, name: str | None = None) -> Callable[[str, Key], None]:
    """What fails, for one name or for all."""

    def before(asked: str, key: Key) -> None:
        if asked == verb and name in (None, key.name):
            raise error

    return before
