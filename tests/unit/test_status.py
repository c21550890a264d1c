"""The status a Takara should have: reasons, conditions, readiness."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.conditions import Reason, Verdict
from takara_sync.objects import Applied, Deployment, Takara, TakenBy
from takara_sync.status import readiness, status_for
from takara_sync.text import rfc3339
from tests.unit.build import LONG, NOW, PAUSED, Json, complete, condition, decoded, deployment_json, takara


def live(
    replicas: int = 3, *, status: Json | None = None, conditions: list[Json] | None = None, generation: int = 1
) -> Deployment:
    told = (complete(3) if status is None else status) | {"conditions": conditions}
    return decoded(Deployment, deployment_json(replicas=replicas, status=told, generation=generation))


def status(one: Takara, deployment: Deployment | None, **more: Any) -> Json:
    return status_for(one, deployment, [], NOW, **more)


def conditions(one: Takara, deployment: Deployment | None, **more: Any) -> list[tuple[str, str, str]]:
    return [(c["type"], c["status"], c["reason"]) for c in status(one, deployment, **more)["conditions"]]


def message(one: Takara, deployment: Deployment | None, **more: Any) -> str:
    text: str = status(one, deployment, **more)["conditions"][0]["message"]
    return text


# ------------------------------------------------------------------ what is observed

LATE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out."}
REFUSED = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded\nquota"}
BUSY = complete(3) | {"availableReplicas": 1}
ONE, ZERO, HELD = takara(), takara(size=0), takara(annotations=PAUSED)

READY = "All 3 replicas are up to date and available."
ABSENT = "The Deployment does not exist yet."
WAITING = "The Deployment has not reached 3 up-to-date, available replicas yet."
DIFFERS = "The Deployment differs from the Takara and is left alone while paused."
NO_PODS = "Pods cannot be created (FailedCreate): exceeded quota"
NO_PROGRESS = "The Deployment made no progress in time: timed out. Look at its ReplicaSet and pods."
# The Takara, its Deployment, and of the conditions the reason and the message of Ready, and whether it is stalled.
OBSERVED: dict[str, tuple[Takara, Deployment | None, str, str, bool]] = {
    "ready": (ONE, live(), "Ready", READY, False),
    "fewer are ready than available": (ONE, live(status=complete(3) | {"readyReplicas": 2}), "Ready", READY, False),
    "ready, whatever was before": (ONE, live(conditions=[LATE, REFUSED]), "Ready", READY, False),
    "the Deployment asks for more": (ONE, live(7), "Progressing", WAITING, False),
    "not looked at yet": (ZERO, live(0, status={}), "Progressing", WAITING.replace("3", "0"), False),
    "absent": (ONE, None, "Progressing", ABSENT, False),
    "busy": (ONE, live(status=BUSY), "Progressing", WAITING, False),
    "late": (ONE, live(status=BUSY, conditions=[LATE]), "ProgressDeadlineExceeded", NO_PROGRESS, True),
    "late, and no pods": (ONE, live(status=BUSY, conditions=[REFUSED, LATE]), "FailedCreate", NO_PODS, True),
    "late, but it goes on": (
        ONE,
        live(status=BUSY, conditions=[LATE | {"status": "True"}]),
        "Progressing",
        WAITING,
        False,
    ),
    "other progress": (ONE, live(status=BUSY, conditions=[LATE | {"reason": "x"}]), "Progressing", WAITING, False),
    "no pods": (ONE, live(status=BUSY, conditions=[REFUSED]), "FailedCreate", NO_PODS, False),
    "no pods before": (
        ONE,
        live(status=BUSY, conditions=[REFUSED | {"status": "False"}]),
        "Progressing",
        WAITING,
        False,
    ),
    "paused": (HELD, live(), "Ready", READY, False),
    "paused, other size": (HELD, live(7, status=complete(7)), "Paused", DIFFERS, False),
    "paused, late": (HELD, live(status=BUSY, conditions=[LATE]), "Paused", DIFFERS, False),
    "paused, absent": (HELD, None, "Paused", DIFFERS, False),
}


@pytest.mark.parametrize("case", OBSERVED)
def test_what_is_observed(case: str) -> None:
    one, deployment, reason, words, stalled = OBSERVED[case]
    ready = ("Ready", str(reason == "Ready"), reason)
    assert conditions(one, deployment) == [ready, *([("Stalled", "True", reason)] if stalled else [])]
    assert message(one, deployment) == words


@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize("field", ["observedGeneration", "replicas", "updatedReplicas", "availableReplicas"])
@pytest.mark.parametrize("by", [-1, 1])
def test_ready_is_false_where_one_number_differs(size: int, field: str, by: int) -> None:
    seen = complete(size)
    assert conditions(takara(size=size), live(size, status=seen))[0][1] == "True"
    seen[field] += by
    assert conditions(takara(size=size), live(size, status=seen)) == [("Ready", "False", "Progressing")]


def test_no_deployment_has_no_pods() -> None:
    found = status(ONE, None)
    assert (found["nodes"], found["replicas"], found["readyReplicas"]) == ([], 0, 0)


@pytest.mark.parametrize("reason", sorted(set(Reason) - {Reason.READY}))
@pytest.mark.parametrize("stalled", [False, True])
def test_a_verdict_overrides_what_is_observed(reason: Reason, *, stalled: bool) -> None:
    found = status(takara(), live(), verdict=Verdict(reason, "first\nsecond", stalled))["conditions"]
    assert [(c["type"], c["status"], c["reason"]) for c in found] == [
        ("Ready", "False", reason),
        *([("Stalled", "True", reason)] if stalled else []),
    ]
    assert found[0]["message"] == "first second"


def test_messages_have_nothing_volatile() -> None:
    busy = [live(status=complete(3) | {"availableReplicas": n, "readyReplicas": n}) for n in (1, 2)]
    assert message(takara(), busy[0]) == message(takara(), busy[1])


@pytest.mark.parametrize(
    ("one", "deployment", "verdict", "word"),
    [
        (takara(), live(), None, "Ready"),
        (takara(), live(7), None, "Progressing"),
        (takara(), None, None, "Progressing"),
        (takara(), live(), Verdict(Reason.APPLY_FAILED, "words"), "Stalled"),
        (takara(), live(), Verdict(Reason.REPLICAS_CONTESTED, "words", stalled=False), "Progressing"),
    ],
)
def test_readiness_is_one_word(one: Takara, deployment: Deployment | None, verdict: Verdict | None, word: str) -> None:
    assert readiness(status(one, deployment, verdict=verdict)) == word


def test_readiness_counts_no_condition_of_others() -> None:
    was = takara(status={"conditions": [condition("Mine", "True", "Because")]})
    assert readiness(status(was, live(7))) == "Progressing"


# ------------------------------------------------------------------ conditions over time


def test_a_condition_keeps_its_time_until_its_status_moves() -> None:
    was = takara(status={"conditions": [condition("Ready", "False", "Paused"), condition("Stalled", "True", "x")]})
    still = status(was, live(status=BUSY, conditions=[LATE]))["conditions"]
    assert [c["lastTransitionTime"] for c in still] == [LONG, LONG]
    assert still[0]["reason"] == "ProgressDeadlineExceeded"
    ready = status(was, live())["conditions"]
    assert [c["lastTransitionTime"] for c in ready] == [rfc3339(NOW)]


@pytest.mark.parametrize("since", [None, 5, {}])
def test_a_time_that_is_no_text_is_set_anew(since: Any) -> None:
    was = takara(status={"conditions": [condition("Ready", "True", "Ready", since)]})
    assert status(was, live())["conditions"][0]["lastTransitionTime"] == rfc3339(NOW)


def test_conditions_of_other_types_are_kept_behind_ours() -> None:
    mine = condition("Mine", "Unknown", "Because") | {"observedGeneration": 7}
    theirs = condition("Theirs", "True", "Because")
    ours = [condition("Ready", "True", "Ready"), condition("Stalled", "False", "x")]
    found = status(takara(status={"conditions": [mine, *ours, theirs]}), live())["conditions"]
    assert found[0]["type"] == "Ready"
    assert found[1:] == [mine, theirs]


ODD = [condition("Mine", "True", "x") | {name: None} for name in condition("Mine", "True", "x")]


@pytest.mark.parametrize("odd", [None, 5, {}, {"type": "Mine"}, *ODD])
def test_conditions_that_no_schema_takes_are_dropped(odd: Any) -> None:
    good = condition("Other", "True", "Because")
    was = takara(status={"conditions": [odd, good, good | {"message": "a second of its type"}]})
    assert status(was, live())["conditions"][1:] == [good]


@pytest.mark.parametrize("conditions", [None, "text", {}, 5])
def test_conditions_that_are_no_list_count_for_nothing(conditions: Any) -> None:
    assert len(status(takara(status={"conditions": conditions}), live())["conditions"]) == 1


# ------------------------------------------------------------------ the rest


def test_what_is_observed_and_recorded() -> None:
    applied = Applied("u", "c", 1, TakenBy("hpa", LONG, 2))
    found = status_for(takara(generation=4), live(status=BUSY), ["a", "b"], NOW, applied=applied)
    del found["conditions"]
    assert found == {
        "observedGeneration": 4,
        "nodes": ["a", "b"],
        "replicas": 3,
        "readyReplicas": 3,
        "selector": "app=takara,takara_cr=one",
        "deployment": {
            "uid": "u",
            "configHash": "c",
            "format": 1,
            "replicasTakenBy": {"manager": "hpa", "at": LONG, "times": 2},
        },
    }
    assert "deployment" not in status(takara(), live())
