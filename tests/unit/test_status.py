"""The status a Takara should have: reasons, conditions, readiness."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.contest import rfc3339
from takara_sync.objects import Applied, Deployment, Takara, TakenBy
from takara_sync.reasons import Reason, Verdict
from takara_sync.status import readiness, status_for
from tests.unit.build import LONG, NOW, PAUSED, Json, complete, condition, decoded, deployment_json, takara

NOT_STALLED = ("Stalled", "False", "NotStalled")


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


# ------------------------------------------------------------------ Ready


def test_ready() -> None:
    assert conditions(takara(), live()) == [("Ready", "True", "Ready"), NOT_STALLED]


@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize("field", ["observedGeneration", "replicas", "updatedReplicas", "availableReplicas"])
@pytest.mark.parametrize("by", [-1, 1])
def test_ready_is_false_where_one_number_differs(size: int, field: str, by: int) -> None:
    told = complete(size)
    told[field] += by
    found = conditions(takara(size=size), live(size, status=told))
    assert found == [("Ready", "False", "Progressing"), NOT_STALLED]
    assert conditions(takara(size=size), live(size, status=complete(size)))[0][1] == "True"


def test_ready_does_not_ask_for_the_ready_replicas() -> None:
    """Available says more: ready for minReadySeconds."""
    assert conditions(takara(), live(status=complete(3) | {"readyReplicas": 2}))[0][1] == "True"


def test_ready_is_false_while_the_deployment_asks_for_another_size() -> None:
    assert conditions(takara(), live(7))[0][1] == "False"
    assert conditions(takara(size=7), live(7, status=complete(3)))[0][1] == "False"


def test_ready_is_false_before_the_deployment_was_looked_at() -> None:
    assert conditions(takara(size=0), live(0, status={}))[0] == ("Ready", "False", "Progressing")


# ------------------------------------------------------------------ reasons

LATE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out."}
REFUSED = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded\nquota"}
BUSY = complete(3) | {"availableReplicas": 1}


def test_a_missed_progress_deadline_stalls() -> None:
    assert conditions(takara(), live(status=BUSY, conditions=[REFUSED, LATE])) == [
        ("Ready", "False", "ProgressDeadlineExceeded"),
        ("Stalled", "True", "ProgressDeadlineExceeded"),
    ]


@pytest.mark.parametrize("other", [LATE | {"status": "True"}, LATE | {"reason": "ReplicaSetUpdated"}])
def test_other_progress_does_not_stall(other: Json) -> None:
    assert conditions(takara(), live(status=BUSY, conditions=[other]))[1] == NOT_STALLED


def test_pods_that_cannot_be_created_are_in_the_message_of_ready() -> None:
    found = live(status=BUSY, conditions=[REFUSED])
    assert conditions(takara(), found) == [("Ready", "False", "Progressing"), NOT_STALLED]
    assert "FailedCreate" in message(takara(), found)
    assert "exceeded quota" in message(takara(), found)
    over = live(status=BUSY, conditions=[REFUSED | {"status": "False"}])
    assert "quota" not in message(takara(), over)


def test_what_is_complete_is_ready_whatever_was_before() -> None:
    assert conditions(takara(), live(conditions=[LATE, REFUSED]))[0] == ("Ready", "True", "Ready")


def test_no_deployment_yet() -> None:
    found = status(takara(), None)
    assert conditions(takara(), None) == [("Ready", "False", "Progressing"), NOT_STALLED]
    assert (found["nodes"], found["replicas"], found["readyReplicas"]) == ([], 0, 0)


def test_paused_still_compares() -> None:
    paused = takara(annotations=PAUSED)
    assert conditions(paused, live())[0] == ("Ready", "True", "Ready")
    assert conditions(paused, live(7, status=complete(7))) == [("Ready", "False", "Paused"), NOT_STALLED]
    assert conditions(paused, live(status=BUSY, conditions=[LATE])) == [("Ready", "False", "Paused"), NOT_STALLED]
    assert conditions(paused, None) == [("Ready", "False", "Paused"), NOT_STALLED]


@pytest.mark.parametrize("reason", sorted(set(Reason) - {Reason.READY, Reason.NOT_STALLED}))
@pytest.mark.parametrize("stalled", [False, True])
def test_a_verdict_overrules_what_is_observed(reason: Reason, *, stalled: bool) -> None:
    found = status(takara(), live(), verdict=Verdict(reason, "first\nsecond", stalled))["conditions"]
    assert [(c["type"], c["status"], c["reason"]) for c in found] == [
        ("Ready", "False", reason),
        ("Stalled", "True", reason) if stalled else NOT_STALLED,
    ]
    assert found[0]["message"] == "first second"


@pytest.mark.parametrize(
    ("one", "deployment", "words"),
    [
        (takara(), live(), "All 3 replicas are up to date and available."),
        (takara(), None, "The Deployment is not there yet."),
        (takara(), live(status=BUSY), "The Deployment has not reached 3 up-to-date, available replicas yet."),
        (takara(), live(status=BUSY, conditions=[REFUSED]), "Pods cannot be created (FailedCreate): exceeded quota"),
        (
            takara(),
            live(status=BUSY, conditions=[LATE]),
            "The Deployment made no progress in time: timed out. Look at its ReplicaSet and pods.",
        ),
        (takara(annotations=PAUSED), live(7), "The Deployment differs from the Takara and is left alone while paused."),
    ],
)
def test_the_words_of_ready(one: Takara, deployment: Deployment | None, words: str) -> None:
    assert message(one, deployment) == words


def test_the_words_where_nothing_is_stalled() -> None:
    assert status(takara(), live())["conditions"][1]["message"] == "Nothing waits for a person."


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
    was = takara(status={"conditions": [condition("Ready", "False", "Paused"), condition("Stalled", "False", "x")]})
    still = status(was, live(status=BUSY))["conditions"]
    assert [c["lastTransitionTime"] for c in still] == [LONG, LONG]
    assert still[0]["reason"] == "Progressing"
    ready = status(was, live())["conditions"]
    assert [c["lastTransitionTime"] for c in ready] == [rfc3339(NOW), LONG]


@pytest.mark.parametrize("since", [None, 5, {}])
def test_a_time_that_is_no_text_is_set_anew(since: Any) -> None:
    was = takara(status={"conditions": [condition("Ready", "True", "Ready", since)]})
    assert status(was, live())["conditions"][0]["lastTransitionTime"] == rfc3339(NOW)


def test_conditions_of_other_types_are_kept_behind_ours() -> None:
    mine = condition("Mine", "Unknown", "Because") | {"observedGeneration": 7}
    theirs = condition("Theirs", "True", "Because")
    ours = [condition("Ready", "True", "Ready"), condition("Stalled", "False", "x")]
    found = status(takara(status={"conditions": [mine, *ours, theirs]}), live())["conditions"]
    assert [c["type"] for c in found[:2]] == ["Ready", "Stalled"]
    assert found[2:] == [mine, theirs]


ODD = [condition("Mine", "True", "x") | {name: None} for name in condition("Mine", "True", "x")]


@pytest.mark.parametrize("odd", [None, 5, {}, {"type": "Mine"}, *ODD])
def test_conditions_that_no_schema_takes_are_dropped(odd: Any) -> None:
    good = condition("Other", "True", "Because")
    was = takara(status={"conditions": [odd, good, good | {"message": "a second of its type"}]})
    assert status(was, live())["conditions"][2:] == [good]


@pytest.mark.parametrize("conditions", [None, "text", {}, 5])
def test_conditions_that_are_no_list_count_for_nothing(conditions: Any) -> None:
    assert len(status(takara(status={"conditions": conditions}), live())["conditions"]) == 2


# ------------------------------------------------------------------ the rest


def test_what_is_observed_and_recorded() -> None:
    applied = Applied("u", "c", "f", 1, TakenBy("hpa", LONG, 2))
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
            "fieldsHash": "f",
            "format": 1,
            "replicasTakenBy": {"manager": "hpa", "at": LONG, "times": 2},
        },
    }
    assert "deployment" not in status(takara(), live())


def test_conditions_say_which_generation_they_are_about() -> None:
    found = status(takara(generation=4, size=-1), None, verdict=Verdict(Reason.INVALID_SIZE, "words"))
    assert [found["observedGeneration"], *(c["observedGeneration"] for c in found["conditions"])] == [4, 4, 4]
