"""The form of `takara-sync plan -o json` and `takara-sync check -o json` (docs/*.schema.json are made from it)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from takara_sync.changes import Change
from takara_sync.report import ErrorDocument

Action = Literal["create", "apply", "take over", "keep", "blocked", "invalid", "failed"]


class PlannedDocument(Struct, frozen=True):
    """What a pass would do with one Takara.

    `ages`: for each change, seconds since its holder last wrote, null where unknown. `rollout`: whether the pod
    template changes. `server`: the server's own verdict with --server, else empty.
    """

    namespace: str
    name: str
    action: Action
    why: str = ""
    changes: tuple[Change, ...] = ()
    ages: tuple[float | None, ...] = ()
    rollout: bool = False
    server: str = ""


class PlanDocument(Struct, frozen=True):
    """A plan. `exit` is the exit code."""

    schema: Literal["takara-sync/plan/v1"]
    exit: int
    error: ErrorDocument | None
    takaras: tuple[PlannedDocument, ...]


class CheckedDocument(Struct, frozen=True):
    """One thing that was looked at."""

    what: str
    ok: bool
    detail: str = ""


class CheckDocument(Struct, frozen=True):
    """All that was looked at. `exit` is the exit code."""

    schema: Literal["takara-sync/check/v1"]
    exit: int
    error: ErrorDocument | None
    server: str
    checks: tuple[CheckedDocument, ...]
