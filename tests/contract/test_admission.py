"""What a server does to an object before it stores it: refusals with their causes, pruning, defaults."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    CONTAINER,
    Json,
    Talk,
    altered,
    deployment,
    owner,
    refusal,
    takara,
)

INVALID, REQUIRED, TYPE = "FieldValueInvalid", "FieldValueRequired", "FieldValueTypeInvalid"
LONG = "x" * 100


@pytest.mark.parametrize(
    ("size", "reason"),
    [(-1, INVALID), (2147483648, INVALID), ("3", TYPE), (1.5, TYPE), (None, REQUIRED), (True, TYPE)],
)
def test_sizes_that_the_crd_refuses(talk: Talk, size: Any, reason: str) -> None:
    status, name, causes = refusal(talk.post("takaras", takara(size=size)))
    assert (status, name) == (422, "Invalid")
    assert (reason, "spec.size") in causes
    talk.create("takaras", takara())
    assert talk.patch("takaras", {"spec": {"size": size}}).status == 422


@pytest.mark.parametrize("size", [0, 2147483647])
def test_sizes_that_the_crd_takes(talk: Talk, size: int) -> None:
    assert talk.create("takaras", takara(size=size))["spec"]["size"] == size


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (altered(takara(), "spec", {}), (REQUIRED, "spec.size")),
        (altered(takara(), "spec"), (REQUIRED, "spec")),
        *((takara(name), (INVALID, "metadata.name")) for name in ("UPPER", "a_b", "x" * 254, "-a")),
        (altered(deployment(), f"{CONTAINER}.image"), (REQUIRED, "spec.template.spec.containers[0].image")),
    ],
)
def test_an_object_that_is_refused(talk: Talk, body: Json, cause: tuple[str, str]) -> None:
    assert refusal(talk.post(f"{body['kind'].lower()}s", body)) == (422, "Invalid", [cause])


def test_a_label_value_over_63_characters_is_refused(talk: Talk) -> None:
    talk.create("takaras", takara(LONG))
    for answer in (talk.post("deployments", deployment(LONG)), talk.apply(deployment(LONG))):
        assert refusal(answer)[:2] == (422, "Invalid")
        assert (INVALID, "metadata.labels") in refusal(answer)[2]


def test_two_controllers_are_refused(talk: Talk) -> None:
    owners = [owner(talk.create("takaras", takara(name))) for name in ("a", "b")]
    answer = talk.post("deployments", deployment(ownerReferences=owners))
    assert refusal(answer) == (422, "Invalid", [(INVALID, "metadata.ownerReferences")])


def test_the_selector_is_immutable(talk: Talk) -> None:
    talk.create("deployments", deployment())
    labels = {"app": "takara", "takara_cr": "one", "new": "label"}
    patch = {"spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}}
    assert refusal(talk.patch("deployments", patch)) == (422, "Invalid", [(INVALID, "spec.selector")])


def test_a_template_is_kept_as_it_is(talk: Talk) -> None:
    template = {"anything": [{"goes": None}, 1.5], "metadata": {"labels": {"a": "b"}}}
    assert talk.create("takaras", takara(size=1, template=template))["spec"]["template"] == template


def test_unknown_fields_are_pruned_silently_or_refused_when_strict(talk: Talk) -> None:
    assert talk.create("takaras", takara(size=1, colour="red"))["spec"] == {"size": 1}
    patch = {"status": {"colour": "red", "replicas": 1}}
    assert "colour" not in talk.patched("takaras", patch, sub="status")["status"]
    strict = talk.patch("takaras", patch, sub="status", query="fieldValidation=Strict")
    assert strict.status in (400, 422)


def test_unknown_fields_of_a_deployment(talk: Talk) -> None:
    body = altered(deployment(), f"{CONTAINER}.imagee", "typo")
    strict = talk.post("deployments", body, query="dryRun=All&fieldValidation=Strict")
    assert refusal(strict) == (400, "BadRequest", [])
    assert "imagee" in strict.body["message"]
    assert "imagee" not in talk.create("deployments", body)["spec"]["template"]["spec"]["containers"][0]


def test_a_wrong_type_in_a_deployment_is_400(talk: Talk) -> None:
    answer = talk.post("deployments", altered(deployment(), "spec.replicas", "three"))
    assert refusal(answer) == (400, "BadRequest", [])


def test_the_defaults_of_a_deployment(talk: Talk) -> None:
    expected = altered(deployment(), "spec.strategy", {"type": "RollingUpdate"})["spec"]
    expected["strategy"]["rollingUpdate"] = {"maxUnavailable": "25%", "maxSurge": "25%"}
    expected |= {"revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
    expected["template"]["spec"] |= {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }
    expected["template"]["spec"]["containers"][0] |= {
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always",
    }
    assert talk.create("deployments", deployment())["spec"] == expected
