"""The limit `Policy.max_changes` on the changes of one pass."""

from __future__ import annotations

import threading

from takara_sync.errors import TooManyChanges
from takara_sync.objects import Key
from takara_sync.plan import Apply, Create, Plan, is_change
from takara_sync.text import some


def number_of(limit: int | str | None, takaras: int) -> int | None:
    """`Policy.max_changes` as a number of changes in a pass over so many Takaras.

    A percentage is rounded up, like `maxSurge` of a Deployment, so that only 0% allows no change.
    """
    return -(-takaras * int(limit.removesuffix("%")) // 100) if isinstance(limit, str) else limit


class ChangeLimit:
    """Allows all changes of a plan or none. Allows later changes up to the rest of the limit."""

    def __init__(self, plan: Plan, max_changes: int | str | None) -> None:
        keys = {decision.takara.key for decision in plan.pending}
        self._limit = limit = number_of(max_changes, len(plan.decisions) + len(plan.unread) + len(plan.broken))
        self._counted = keys if limit is None or len(keys) <= limit else set()
        self._plan_exceeds = len(self._counted) < len(keys)
        self._refused: set[Key] = set()
        self._lock = threading.Lock()

    def allows(self, decision: Create | Apply) -> bool:
        """Whether this decision may be written. If so, it counts as a change."""
        key = decision.takara.key
        if self._limit is None or not is_change(decision):
            return True
        with self._lock:
            if key in self._counted or (not self._plan_exceeds and len(self._counted) < self._limit):
                self._counted.add(key)
                return True
            self._refused.add(key)
            return False

    def check(self) -> None:
        """Raise TooManyChanges if `allows` refused a change."""
        if self._refused:
            total = len(self._counted) + len(self._refused)
            names = some(sorted(self._refused))
            raise TooManyChanges(f"{total} changes are needed, {self._limit} allowed; not written: {names}")


def check_plan(plan: Plan, limit: int | str | None) -> None:
    """Raise TooManyChanges if the plan has more changes than the limit."""
    changes = ChangeLimit(plan, limit)
    for decision in plan.pending:
        changes.allows(decision)
    changes.check()
