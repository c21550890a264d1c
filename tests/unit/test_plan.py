"""The truth table of takara_sync.plan: each row a test id, each with several cases; and the plan as a whole."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from takara_sync import plan as planning
from takara_sync.conditions import Reason, Verdict
from takara_sync.contest import Contest, contested_verdict
from takara_sync.desired import deployment_for
from takara_sync.objects import Deployment, Key, Snapshot, Takara, TakenBy
from takara_sync.plan import (
    Apply,
    Create,
    Decision,
    Keep,
    Plan,
    Policy,
    decide,
    make_plan,
    must_look_up,
)
from takara_sync.record import record_of
from tests.unit.build import (
    LONG,
    NOW,
    PAUSED,
    Json,
    condition,
    decoded,
    deployment,
    deployment_json,
    edited,
    key_of,
    legacy,
    lost,
    manifest,
    own_entry,
    owner,
    scaled,
    settled,
    takara,
    takara_json,
)
from tests.unit.cases import CASES
from tests.unit.rows import GONE, Case, shape

NEVER_ASKED = {"deleting", "invalid", "paused", "predecessor", "not-ours", "leaving", "newer-format"}


def decision(case: Case, policy: Policy) -> Decision:
    live = None if case.deployment is None else decoded(Deployment, case.deployment)
    return decide(decoded(Takara, case.takara), live, policy, NOW)


@pytest.mark.parametrize("row", CASES)
def test_row(row: str) -> None:
    decisions = {case.name: decision(case, case.policy) for case in CASES[row]}
    assert {name: each.takara.key for name, each in decisions.items()} == {
        case.name: key_of(case.takara) for case in CASES[row]
    }
    got = {name: shape(each) for name, each in decisions.items()}
    assert got == {case.name: case.shape for case in CASES[row]}


def test_the_rows_are_those_of_the_table() -> None:
    table = re.findall(r"^\| ([a-z-]+) +\|", planning.__doc__ or "", re.MULTILINE)
    assert table == ["row", *CASES]
    assert all(len({case.name for case in cases}) == len(cases) >= 3 for cases in CASES.values())


# ------------------------------------------------------------------ ownership before the spec


@pytest.mark.parametrize("row", sorted(NEVER_ASKED))
def test_where_nothing_is_written_no_manifest_is_made(row: str) -> None:
    def desired(_: Takara) -> Json:
        pytest.fail("Policy.desired was called for a Takara that gets no write")

    for case in CASES[row]:
        policy = Policy(case.policy.max_size, allow_templates=case.policy.allow_templates, desired=desired)
        assert shape(decision(case, policy)) == case.shape


def test_a_deployment_of_others_is_in_no_decision() -> None:
    for case in CASES["not-ours"] + CASES["predecessor"]:
        assert getattr(decision(case, case.policy), "deployment", case) is None


VERDICTS = {
    "leaving": Verdict(
        Reason.DEPLOYMENT_DELETING,
        "The Deployment is being deleted; a new one is created when it is gone.",
        stalled=False,
    ),
    "newer-format": Verdict(
        Reason.NEWER_FORMAT,
        "A newer takara-sync applied this Deployment. Upgrade this one, or run it with --accept-newer-format.",
    ),
    "admission": Verdict(
        Reason.CHANGED_ON_ADMISSION,
        "spec.image came back from the API server with another value: an admission webhook or policy changes it. "
        "Exempt this Deployment from it, or ask for the value that it sets. takara-sync applies again after "
        "2026-01-01T12:09:00Z.",
    ),
    "rejected": Verdict(Reason.APPLY_FAILED, "words"),  # the recorded message
}


@pytest.mark.parametrize("row", VERDICTS)
def test_the_verdict_of_a_row(row: str) -> None:
    (case, *_) = CASES[row]
    assert getattr(decision(case, case.policy), "verdict", None) == VERDICTS[row]


def test_a_waiting_predecessor_is_not_stalled_and_one_that_stays_is() -> None:
    verdicts = [getattr(decision(case, case.policy), "verdict", None) for case in CASES["predecessor"]]
    assert [verdict.stalled for verdict in verdicts if verdict] == [False] * 3 + [True] * 3 + [False]


def test_the_other_manager_is_named_in_one_line_and_is_not_stalled() -> None:
    assert contested_verdict(takara(), Contest("hpa")) is None
    record = TakenBy("hpa", "2026-01-01T12:00:00Z", 2)
    verdict = contested_verdict(takara(), Contest("h\npa" + "x" * 300, left=True, record=record))
    assert verdict == Verdict(
        Reason.REPLICAS_CONTESTED,
        f"h pa{'x' * 196} keeps setting the replicas of the Deployment, so takara-sync leaves them to it until "
        "2026-01-01T12:20:00Z. Edit spec.size, or point the autoscaler at Takara one instead of its Deployment.",
        stalled=False,
    )


# ------------------------------------------------------------------ the plan as a whole


def plan_of(*pairs: tuple[Json, Json | None], unread: dict[Key, str] | None = None, **policy: Any) -> Plan:
    deployments = {key_of(live): decoded(Deployment, live) for _, live in pairs if live}
    snapshot = Snapshot(tuple(decoded(Takara, one) for one, _ in pairs), deployments, unread or {})
    return make_plan(snapshot, Policy(**policy), NOW)


def test_a_plan_is_sorted_by_key() -> None:
    plan = plan_of(*((takara_json(name, namespace=ns), None) for ns in "ba" for name in ("z", "a")))
    assert [str(d.takara.key) for d in plan.decisions] == ["a/a", "a/z", "b/a", "b/z"]


def test_what_could_not_be_read_is_decided_only_where_it_is_being_deleted() -> None:
    unread = {Key("ns", name): "why" for name in "ac"}
    pairs = [(takara_json("a"), None), (takara_json("b"), None), (takara_json("c", **GONE), None)]
    plan = plan_of(*pairs, unread=unread)
    assert [(d.takara.key.name, type(d)) for d in plan.decisions] == [("b", Create), ("c", Keep)]
    assert plan.unread == {Key("ns", "a"): "why"}


def test_a_value_too_deep_to_be_decoded_is_unread() -> None:
    def desired(_: Takara) -> Json:
        raise RecursionError("too deep")

    plan = plan_of((takara_json("a"), None), desired=desired)
    assert (plan.unread, plan.broken) == ({Key("ns", "a"): "malformed: too deep"}, {})


def test_a_function_of_the_users_that_raises_costs_one() -> None:
    def desired(one: Takara) -> Json:
        return {"spec": {}} if one.key.name == "b" else deployment_for(one)

    plan = plan_of(*((takara_json(name), None) for name in "abc"), desired=desired)
    assert [d.takara.key.name for d in plan.decisions] == ["a", "c"]
    assert {key: type(bug) for key, bug in plan.broken.items()} == {Key("ns", "b"): KeyError}


def test_pending_is_what_changes_something() -> None:
    plan = plan_of(
        (takara_json("created"), None),
        (settled("scaled"), scaled(deployment_json("scaled", managedFields=[own_entry("scaled")]), 7)),
        (settled("edited"), edited(deployment_json("edited"), "nginx")),
        (takara_json("untold"), deployment_json("untold")),
        (takara_json("taken-over"), legacy(deployment_json("taken-over"))),
        (takara_json("taken-over-and-scaled"), legacy(deployment_json("taken-over-and-scaled", 9))),
        (settled("kept"), deployment_json("kept")),
        (takara_json("blocked"), deployment_json("blocked", ownerReferences=None)),
        (takara_json("invalid", size=-1), None),
        (settled("entry-lost"), lost(deployment_json("entry-lost"), "f:spec", "f:replicas")),
    )
    assert [d.takara.key.name for d in plan.pending] == ["created", "edited", "scaled", "taken-over-and-scaled"]


# ------------------------------------------------------------------ looking up by name


def recording(reason: Any) -> Takara:
    return takara(status={"conditions": [condition("Ready", "False", reason)]})


NEWER = decoded(Takara, settled(record={"format": 9}))


@pytest.mark.parametrize(
    ("one", "policy", "expected"),
    [
        pytest.param(takara(), Policy(), False, id="the create-only apply finds out"),
        pytest.param(decoded(Takara, settled()), Policy(), False, id="applied before, by this format"),
        pytest.param(takara(annotations=PAUSED), Policy(), True, id="paused"),
        pytest.param(takara(size=-1), Policy(), True, id="invalid"),
        pytest.param(takara(), Policy(max_changes=3), True, id="the plan has to be certain"),
        pytest.param(takara(), Policy(max_changes=0), True, id="no change at all"),
        pytest.param(takara(annotations=PAUSED, **GONE), Policy(max_changes=3), False, id="deleting"),
        pytest.param(recording("DeploymentWithoutController"), Policy(), True, id="recorded: without controller"),
        pytest.param(recording("DeploymentOfAnotherController"), Policy(), True, id="recorded: another controller"),
        pytest.param(recording("DeploymentOfPredecessor"), Policy(), True, id="recorded: predecessor"),
        pytest.param(recording("DeploymentDeleting"), Policy(), True, id="recorded: Deployment being deleted"),
        pytest.param(recording("ApplyFailed"), Policy(), False, id="recorded: something else"),
        pytest.param(recording(["odd"]), Policy(), False, id="the reason is a list"),
        pytest.param(NEWER, Policy(), True, id="newer format"),
        pytest.param(NEWER, Policy(accept_newer_format=True), False, id="newer format, accepted"),
        pytest.param(takara(status="odd"), Policy(), False, id="the status is text"),
    ],
)
def test_must_look_up(one: Takara, policy: Policy, *, expected: bool) -> None:
    assert must_look_up(one, policy) is expected
    assert must_look_up(one, policy, certain=True) is not one.deleting


def test_a_plan_keeps_no_manifest_of_a_settled_deployment() -> None:
    live = decoded(Deployment, deployment_json())
    found = make_plan(Snapshot((decoded(Takara, settled()),), {live.key: live}), Policy(), NOW).decisions[0]
    assert isinstance(found, Keep)
    assert found.deployment == live.without_manifest()


def test_an_existing_controller_reference_is_asked_for_as_it_is() -> None:
    """Some clusters reject every change of it."""
    live = deployment_json()
    live["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = False
    found = decide(takara(), decoded(Deployment, live), Policy(), NOW)
    assert isinstance(found, Apply)
    assert found.manifest["metadata"]["ownerReferences"] == live["metadata"]["ownerReferences"]


def test_a_loop_allows_at_least_one_rejection() -> None:
    assert [Policy(interval=timedelta(seconds=each)).rejections for each in (0.01, 10)] == [1, 120]
    assert Policy().rejections is None


def test_a_new_generation_counts_anew_what_admission_changed() -> None:
    was = {"changedOnAdmission": {"field": "spec.x", "at": LONG, "times": 4}}
    for generation, times in ((1, 5), (2, 1)):
        one = decoded(Takara, settled(record=was, generation=generation))
        found = record_of(one, manifest(), deployment(), "spec.x", None, NOW).changed_on_admission
        assert found is not None
        assert found.times == times


def test_a_removal_names_the_manager_that_had_set_the_field() -> None:
    live = deployment_json()
    live["spec"]["template"]["spec"]["containers"].append({"name": "extra", "image": "x"})
    found = decide(takara(), decoded(Deployment, legacy(live)), Policy(), NOW)
    assert isinstance(found, Apply)
    assert {change.manager for change in found.changes if change.new is None} == {"takara-operator"}


def test_a_paused_takara_says_what_its_name_meets() -> None:
    waits = {"conditions": [condition("Ready", "False", Reason.PREDECESSOR)]}
    live = decoded(Deployment, deployment_json(ownerReferences=[owner(uid="before")]))
    found = decide(takara(status=waits, annotations=PAUSED), live, Policy(), NOW)
    assert found.verdict is not None
    assert (found.verdict.reason, found.verdict.stalled) == (Reason.PREDECESSOR, True)
