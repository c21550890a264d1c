"""Tests of the tests: with one rule broken in the simulator, the contract test for that rule is seen to fail.

On the real server the same tests pass: that is the rest of the suite.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from takara_sync.simulator import (
    admission,
    controllers,
    fields,
    kinds,
    objects,
    reading,
    writes,
)
from tests.contract import (
    test_admission,
    test_apply_refused,
    test_applying,
    test_deleting,
    test_merging,
    test_ownership,
    test_reading,
    test_requests,
    test_scale,
    test_status,
    test_take_over,
    test_writing,
)
from tests.contract.bugs import all_owners, around, instead, kept_entries, no_new_page_moment, nothing, untested
from tests.contract.simulated import Simulated
from tests.contract.talk import JSON_PATCH, Talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.contract.bugs import Bug

    Test = Callable[[Talk], None]


BUGS: dict[str, tuple[Bug, Test]] = {
    "a stale resourceVersion is taken": (
        instead(objects, "check_version", nothing),
        lambda talk: test_writing.test_a_stale_version_is_409(talk, "deployments"),
    ),
    "create-only adopts": (
        instead(objects, "check_version", nothing),
        test_applying.test_create_only_is_409_where_present,
    ),
    "an unchanged write moves the version": (
        instead(objects, "same", lambda *_: False),
        test_writing.test_an_unchanged_write_moves_nothing,
    ),
    "an unchanged apply moves the version": (
        instead(objects, "same", lambda *_: False),
        test_applying.test_an_apply_that_changes_nothing_moves_nothing,
    ),
    "the generation never moves": (
        instead(objects, "changes_generation", lambda *_: False),
        lambda talk: test_writing.test_what_moves_the_generation_of_a_takara(talk, {"spec": {"size": 4}}, True),
    ),
    "annotations do not move a Deployment's generation": (
        instead(objects, "changes_generation", lambda _, old, new: old.get("spec") != new.get("spec")),
        lambda talk: test_writing.test_what_moves_the_generation_of_a_deployment(
            talk, {"metadata": {"annotations": {"a": "b"}}}, True
        ),
    ),
    "labels move the generation": (
        instead(objects, "changes_generation", lambda *_: True),
        lambda talk: test_writing.test_what_moves_the_generation_of_a_deployment(
            talk, {"metadata": {"labels": {"a": "b"}}}, False
        ),
    ),
    "the uid is not tested": (
        instead(objects, "check_uid", nothing),
        test_applying.test_another_incarnations_uid_where_present_is_422,
    ),
    "a JSON patch's tests are skipped": (
        lambda monkeypatch: monkeypatch.setitem(writes._PATCHES, JSON_PATCH, untested(writes._PATCHES[JSON_PATCH])),
        lambda talk: test_status.test_a_failed_test_is_422_without_causes(
            talk, {"op": "test", "path": "/metadata/uid", "value": "another"}
        ),
    ),
    "the status is written at the main endpoint": (
        instead(objects, "isolated", lambda _kind, _old, new, _sub: new),
        test_writing.test_the_status_is_not_written_at_the_main_endpoint,
    ),
    "the status endpoint writes the spec": (
        instead(objects, "isolated", lambda _kind, _old, new, _sub: new),
        test_writing.test_a_status_write_moves_the_version_only,
    ),
    "unknown fields stay": (
        instead(admission, "prune", lambda value, *_: value),
        test_status.test_unknown_fields_are_pruned,
    ),
    "no status default": (
        instead(admission, "default", lambda value, _: value),
        test_writing.test_a_new_takara_has_the_default_status,
    ),
    "the schema refuses nothing": (
        instead(admission, "violations", lambda *_: iter(())),
        lambda talk: test_admission.test_sizes_that_the_crd_refuses(talk, -1, "FieldValueInvalid"),
    ),
    "pages of different moments": (
        instead(reading.Lists, "_at", no_new_page_moment),
        test_reading.test_all_pages_show_the_moment_of_the_first,
    ),
    "tokens never expire": (
        instead(reading.Lists, "expire_tokens", nothing),
        test_reading.test_an_expired_token_is_410,
    ),
    "a page repeats its last item": (
        instead(reading, "_encoded", lambda version, start, right=reading._encoded: right(version, start[:-1])),
        test_reading.test_pages_follow_the_order_of_names_and_end_without_a_token,
    ),
    "selectors select everything": (
        instead(reading, "label_selector", lambda _: lambda _: True),
        lambda talk: test_reading.test_label_selectors(talk, "app=takara,takara_cr=a", ["a"]),
    ),
    "an empty metadata-only list is []": (
        around(reading, "many", lambda page: {**page, "items": page.get("items") or []}),
        test_reading.test_metadata_only_with_no_match_is_null,
    ),
    "owners are collected by name": (
        instead(
            controllers,
            "owner_is_gone",
            lambda found, namespace, owner: found.get(kinds.takara(), namespace, owner["name"]) is None,
        ),
        test_deleting.test_a_deployment_whose_owners_uid_is_gone_is_collected,
    ),
    "nothing is collected": (
        instead(controllers, "owner_is_gone", lambda *_: False),
        test_deleting.test_what_a_takara_owned_is_collected,
    ),
    "foreground deletion waits for nobody": (
        instead(objects.Objects, "delete", lambda self, kind, old, *_, **__: self.remove(kind, old)),
        test_deleting.test_foreground_deletion_ends_with_the_last_dependent,
    ),
    "a taken field stays ours": (
        instead(fields, "updated", all_owners),
        lambda talk: test_ownership.test_our_entry_loses_what_somebody_changes_and_an_apply_restores_it(
            talk, {"spec": {"replicas": 5}}, {"spec/replicas"}
        ),
    ),
    "a same value takes the field": (
        around(fields, "changed", lambda found: (found[0] | {("f:spec", "f:replicas")}, found[1])),
        lambda talk: test_ownership.test_our_entry_stays_byte_for_byte_under(talk, {"spec": {"replicas": 3}}),
    ),
    "an apply leaves others what it took": (
        instead(fields, "applied", kept_entries(fields.applied)),
        test_applying.test_with_force_the_value_comes_back,
    ),
    "an apply without force never conflicts": (
        around(fields, "applied", lambda found: (*found[:2], [])),
        test_applying.test_without_force_another_managers_value_is_a_conflict,
    ),
    "co-owned fields go": (
        instead(fields, "_needed", lambda _: frozenset()),
        test_merging.test_what_others_own_too_stays,
    ),
    "what is no longer applied stays": (
        instead(fields, "without", lambda value, *_: value),
        test_merging.test_what_we_no_longer_apply_goes,
    ),
    "no before-first-apply": (
        instead(objects.Objects, "before_first_apply", lambda *_: []),
        test_take_over.test_the_first_apply_after_clearing_makes_before_first_apply,
    ),
    "managedFields cannot be patched": (
        instead(objects.Objects, "entries", lambda _, old, __: fields.decode(old["metadata"].get("managedFields", []))),
        test_take_over.test_a_migrated_entry_makes_the_old_container_go,
    ),
    "scale entries carry a time": (
        around(writes.Writes, "_writer", lambda entry: replace(entry, time="2026-01-01T00:00:00Z")),
        test_scale.test_the_scale_subresource_makes_an_entry_without_time,
    ),
    "two controllers are taken": (
        instead(admission, "_causes", lambda _: iter(())),
        test_apply_refused.test_another_controller_owner_is_422,
    ),
    "a malformed template is applied": (
        instead(writes, "stated", lambda _, value: value),
        lambda talk: test_apply_refused.test_a_malformed_template_is_500_without_reason(
            talk, test_apply_refused.MALFORMED["duplicate"], False
        ),
    ),
    "the selector may change": (
        instead(admission, "_causes", lambda *_: iter(())),
        test_apply_refused.test_a_changed_selector_is_422,
    ),
    "no defaults": (
        instead(admission, "_defaulted", lambda spec: spec),
        test_admission.test_the_defaults_of_a_deployment,
    ),
    "a terminating namespace takes new objects": (
        instead(objects.Objects, "_check_namespace", nothing),
        test_writing.test_a_terminating_namespace_is_403_with_its_cause,
    ),
    "a dry run stores": (
        instead(objects.Objects, "trial", lambda _: nullcontext()),
        test_requests.test_a_dry_run_answers_and_stores_nothing,
    ),
}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Talk]:
    """A simulated cluster of the test's own, to be broken."""
    with Simulated(tmp_path) as server:
        yield Talk(server)


@pytest.mark.parametrize("name", BUGS)
def test_a_broken_rule_is_noticed(name: str, own: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    break_it, contract = BUGS[name]
    contract(own)  # unbroken, it passes
    own.namespace = own.server.namespace()
    monkeypatch.setattr(test_deleting, "PATIENCE", 0.1)
    break_it(monkeypatch)
    with pytest.raises((AssertionError, KeyError, TypeError, ValueError, RuntimeError)):
        contract(own)
