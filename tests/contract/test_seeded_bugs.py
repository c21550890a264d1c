"""Tests of the tests: with one rule of the simulator broken, the contract test for that rule fails.

One bug for each invariant that the product relies on. On the real server the same tests pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from takara_sync.simulator import admission, controllers, fields, objects, patches, reading, writes
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


def untested(target: Any, operations: Any, right: Any = patches.json_patch) -> Any:
    """A JSON patch without its tests."""
    return right(target, [one for one in operations if one["op"] != "test"])


def unseen(old: Any, new: Any, right: Any = fields.changed) -> Any:
    """What a write changed, but for the replicas."""
    touched, gone = right(old, new)
    return touched - {("f:spec", "f:replicas")}, gone


def alone(live: Any, wanted: Any, unowned: Any, writer: Any, right: Any = fields.applied) -> Any:
    """An apply that takes what it wants from others."""
    return *right(live, wanted, unowned, writer)[:2], []


def unchecked(old: Any) -> Any:
    """The metadata that the server keeps, whatever the write says about the object that it is for."""
    return {key: old["metadata"][key] for key in fields.SYSTEM if key in old["metadata"]}


_KEPT: dict[str, Any] = {}


def remembering(objects: Any, kind: Any, namespace: Any, query: Any, _: Any, right: Any = reading.page) -> Any:
    """A page of a list whose continue token never expires."""
    return right(objects, kind, namespace, query, _KEPT)


def by_name(owner: Any, present: Any, _served: Any) -> str:
    """What becomes of the dependents of an object of this name, whatever its uid."""
    return "keep" if owner["name"] in {one["metadata"]["name"] for one in present.values()} else "delete"


# The module or class, the name in it, what replaces it, and the test that has to notice.
BUGS: dict[str, tuple[Any, str, Any, Test]] = {
    "a stale resourceVersion is accepted": (
        *(objects, "_checked", lambda _kind, old, *_: unchecked(old)),
        lambda server: test_writing.test_a_stale_version_is_409(server, "deployments"),
    ),
    "the uid is not tested": (
        *(objects, "_checked", lambda _kind, old, *_: unchecked(old)),
        lambda server: test_applying.test_what_an_apply_is_bound_to(server, *test_applying.BOUND[6], force=True),
    ),
    "an unchanged apply moves the version": (
        *(objects, "_timeless", lambda _: object()),
        test_applying.test_an_apply_that_changes_nothing_moves_nothing,
    ),
    "labels move the generation": (
        *(objects, "_moves_generation", lambda *_: True),
        lambda server: test_writing.test_what_moves_the_generation(server, "takaras", test_writing.LABEL, False),
    ),
    "the status endpoint writes the spec": (
        *(objects, "_written", lambda _old, new, _subresource: new),
        test_writing.test_the_status_and_the_rest_are_written_apart,
    ),
    "the tests of a JSON patch are skipped": (
        *(writes, "PATCHES", {**patches.PATCHES, talk.JSON_PATCH: untested}),
        lambda server: test_status.test_a_failed_test_is_422_without_causes(
            server, {"op": "test", "path": "/metadata/uid", "value": talk.OTHER_UID}
        ),
    ),
    "the schema refuses nothing": (
        *(admission, "mistakes", lambda *_: iter(())),
        lambda server: test_admission.test_sizes_that_the_crd_refuses(server, -1, "FieldValueInvalid"),
    ),
    "continue tokens never expire": (
        *(reading, "page", remembering),
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
        *(writes, "applied", alone),
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
