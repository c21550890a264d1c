"""Fields that the server fills in, and what is left of them when their cause is applied no longer."""

from __future__ import annotations

import pytest

from tests.contract.talk import CONTAINER, POD, REAL_ONLY, Json, Talk, altered, deployment

NAME, TWIN = ({key: "a"} for key in ("serviceAccountName", "serviceAccount"))


def with_pod(fields: Json) -> Json:
    body = deployment()
    body["spec"]["template"]["spec"] |= fields
    return body


@REAL_ONLY
@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([NAME], ("a", "a")),
        ([TWIN], ("a", "a")),
        ([NAME, {}], ("a", "a")),  # the twin has no owner, stays, and fills the name in again
        ([NAME, {"serviceAccountName": ""}], ("a", "a")),
        ([TWIN, {"serviceAccount": "b"}], ("a", "a")),  # the name, which has no owner, wins
        ([NAME, {"serviceAccountName": "b"}], ("b", "b")),
        ([NAME, {"serviceAccount": ""}], (None, None)),
        ([NAME | TWIN, {}], (None, None)),
        ([NAME, {}, NAME | TWIN, {}], (None, None)),
    ],
)
def test_a_service_account_has_two_names_that_fill_each_other_in(
    talk: Talk, steps: list[Json], left: tuple[str | None, str | None]
) -> None:
    pod = [talk.applied(with_pod(step)) for step in steps][-1]["spec"]["template"]["spec"]
    assert (pod.get("serviceAccountName"), pod.get("serviceAccount")) == left


def test_the_defaults_of_an_object_go_with_it(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.applied(altered(deployment(), f"{CONTAINER}.livenessProbe", {"tcpSocket": {"port": 80}}))
    talk.applied(altered(deployment(), f"{POD}.securityContext", {"runAsUser": 5}))
    assert talk.applied(deployment())["spec"] == made["spec"]
