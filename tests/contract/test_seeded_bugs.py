"""Tests of the tests: with one rule of the simulator broken, the contract test for that rule fails.

One bug for each invariant that the product relies on. On the real server the same tests pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from takara_sync.simulator import admission, controllers, fields, objects, reading, rules, writes
from takara_sync.simulator.kinds import takara
from tests.contract import (
    talk,
    test_admission,
    test_admission_hooks,
    test_applying,
    test_deleting,
    test_merging,
    test_ownership,
    test_reading,
    test_requests,
    test_status,
    test_writing,
)
from tests.contract.simulated import Simulated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Test = Callable[[talk.Talk], None]


def untested(target: Any, operations: Any, right: Any = writes._PATCHES[talk.JSON_PATCH]) -> Any:
    """A JSON patch without its tests."""
    return right(target, [one for one in operations if one["op"] != "test"])


def unseen(old: Any, new: Any, right: Any = fields.changed) -> Any:
    """What a write changed, but for the replicas."""
    touched, gone = right(old, new)
    return touched - {("f:spec", "f:replicas")}, gone


def alone(entries: Any, live: Any, wanted: Any, writer: Any, right: Any = fields.applied) -> Any:
    """An apply that sees no owner but its own."""
    return right([one for one in entries if one.ident == writer.ident], live, wanted, writer)


def by_name(all_: Any, namespace: str, owner: Any) -> str:
    """What becomes of the dependents of a Takara of this name, whatever its uid."""
    return "keep" if all_.get(takara(), namespace, owner["name"]) else "delete"


# The module or class, the name in it, what replaces it, and the test that has to notice.
BUGS: dict[str, tuple[Any, str, Any, Test]] = {
    "a stale resourceVersion is accepted": (
        *(rules, "check_version", lambda *_: None),
        lambda server: test_writing.test_a_stale_version_is_409(server, "deployments"),
    ),
    "the uid is not tested": (
        *(rules, "check_uid", lambda *_: None),
        lambda server: test_applying.test_what_an_apply_is_bound_to(server, *test_applying.BOUND[6], force=True),
    ),
    "an unchanged apply moves the version": (
        *(rules, "same", lambda *_: False),
        test_applying.test_an_apply_that_changes_nothing_moves_nothing,
    ),
    "labels move the generation": (
        *(rules, "changes_generation", lambda *_: True),
        lambda server: test_writing.test_what_moves_the_generation(server, "takaras", test_writing.LABEL, False),
    ),
    "the status endpoint writes the spec": (
        *(rules, "isolated", lambda _old, new, _subresource: new),
        test_writing.test_the_status_and_the_rest_are_written_apart,
    ),
    "the tests of a JSON patch are skipped": (
        *(writes, "_PATCHES", {**writes._PATCHES, talk.JSON_PATCH: untested}),
        lambda server: test_status.test_a_failed_test_is_422_without_causes(
            server, {"op": "test", "path": "/metadata/uid", "value": talk.OTHER_UID}
        ),
    ),
    "the schema refuses nothing": (
        *(admission, "violations", lambda *_: iter(())),
        lambda server: test_admission.test_sizes_that_the_crd_refuses(server, -1, "FieldValueInvalid"),
    ),
    "continue tokens never expire": (
        *(reading.Lists, "expire_tokens", lambda _: None),
        lambda server: test_reading.test_an_expired_token_is_410(server, "takaras"),
    ),
    "owners are collected by name": (
        *(controllers, "fate", by_name),
        test_deleting.test_a_deployment_whose_owners_uid_is_gone_is_collected,
    ),
    "a field that somebody changed stays ours": (
        *(fields, "changed", unseen),
        lambda server: test_ownership.test_our_entry_loses_what_somebody_changes_and_an_apply_restores_it(
            server, {"spec": {"replicas": 5}}, {"spec/replicas"}
        ),
    ),
    "an apply without force takes the fields of others": (
        *(fields, "applied", alone),
        test_applying.test_without_force_another_managers_value_is_a_conflict,
    ),
    "what is no longer applied stays": (
        *(fields, "without", lambda value, *_: value),
        test_merging.test_what_we_no_longer_apply_goes,
    ),
    "hooks are not asked": (
        *(objects.Objects, "_admitted", lambda _self, _kind, _old, new, _writer: new),
        test_admission_hooks.test_what_admission_changes_belongs_to_nobody_else,
    ),
    "a dry run stores": (
        *(objects.Objects, "restore", lambda *_: None),
        test_requests.test_a_dry_run_answers_and_stores_nothing,
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_broken_rule_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, replacement, contract = BUGS[name]
    with Simulated(tmp_path) as server:
        contract(talk.Talk(server))  # unbroken, it passes
        monkeypatch.setattr(talk, "PATIENCE", 0.1)
        monkeypatch.setattr(where, attribute, replacement)
        with pytest.raises((AssertionError, KeyError, TypeError, ValueError, RuntimeError)):
            contract(talk.Talk(server))
