"""What a server does to an object before it stores it: refusals with their causes, pruning, defaults."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    Talk,
    deployment,
    owner,
    refusal,
    takara,
)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (-1, "FieldValueInvalid"),
        (2147483648, "FieldValueInvalid"),
        ("3", "FieldValueTypeInvalid"),
        (1.5, "FieldValueTypeInvalid"),
        (None, "FieldValueRequired"),  # a null that may not be is dropped
        (True, "FieldValueTypeInvalid"),
    ],
)
def test_sizes_that_the_crd_refuses(talk: Talk, size: Any, reason: str) -> None:
    answer = talk.server.call("POST", talk.path("takaras"), takara(size=size))
    status, name, causes = refusal(answer)
    assert (status, name) == (422, "Invalid")
    assert (reason, "spec.size") in causes
    talk.create("takaras", takara())
    assert talk.patch("takaras", {"spec": {"size": size}}).status == 422


def test_a_takara_without_size_or_spec_is_refused(talk: Talk) -> None:
    body = takara()
    answer = talk.server.call("POST", talk.path("takaras"), {**body, "spec": {}})
    assert refusal(answer) == (422, "Invalid", [("FieldValueRequired", "spec.size")])
    without = {key: part for key, part in body.items() if key != "spec"}
    answer = talk.server.call("POST", talk.path("takaras"), without)
    assert refusal(answer) == (422, "Invalid", [("FieldValueRequired", "spec")])


@pytest.mark.parametrize("size", [0, 2147483647])
def test_sizes_that_the_crd_takes(talk: Talk, size: int) -> None:
    assert talk.create("takaras", takara(size=size))["spec"]["size"] == size


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
    body = deployment()
    body["spec"]["template"]["spec"]["containers"][0]["imagee"] = "typo"
    strict = talk.server.call("POST", talk.path("deployments", query="dryRun=All&fieldValidation=Strict"), body)
    assert refusal(strict) == (400, "BadRequest", [])
    assert "imagee" in strict.body["message"]
    made = talk.create("deployments", body)
    assert "imagee" not in made["spec"]["template"]["spec"]["containers"][0]


def test_a_wrong_type_in_a_deployment_is_400(talk: Talk) -> None:
    body = deployment()
    body["spec"]["replicas"] = "three"
    assert refusal(talk.server.call("POST", talk.path("deployments"), body)) == (400, "BadRequest", [])


def test_the_defaults_of_a_deployment(talk: Talk) -> None:
    spec = talk.create("deployments", deployment())["spec"]
    container = {
        "name": "takara",
        "image": "busybox",
        "command": ["sleep", "3600"],
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always",
    }
    labels = {"app": "takara", "takara_cr": "one"}
    assert spec == {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [container],
                "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30,
                "dnsPolicy": "ClusterFirst",
                "securityContext": {},
                "schedulerName": "default-scheduler",
            },
        },
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }


def test_the_selector_is_immutable(talk: Talk) -> None:
    talk.create("deployments", deployment())
    labels = {"app": "takara", "takara_cr": "one", "new": "label"}
    patch = {"spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}}
    answer = talk.patch("deployments", patch)
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "spec.selector")])


def test_the_selector_must_match_the_template(talk: Talk) -> None:
    body = deployment()
    body["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    answer = talk.server.call("POST", talk.path("deployments"), body)
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "spec.template.metadata.labels")])


def test_a_label_value_over_63_characters_is_refused(talk: Talk) -> None:
    long = "x" * 100
    talk.create("takaras", takara(long))
    answer = talk.server.call("POST", talk.path("deployments"), deployment(long))
    status, reason, causes = refusal(answer)
    assert (status, reason) == (422, "Invalid")
    assert ("FieldValueInvalid", "metadata.labels") in causes


@pytest.mark.parametrize("name", ["UPPER", "a_b", "x" * 254, "-a"])
def test_names_that_are_refused(talk: Talk, name: str) -> None:
    answer = talk.server.call("POST", talk.path("takaras"), takara(name))
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "metadata.name")])


def test_two_controllers_are_refused(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    answer = talk.server.call(
        "POST", talk.path("deployments"), deployment(ownerReferences=[owner(first), owner(second)])
    )
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "metadata.ownerReferences")])


def test_an_image_is_required(talk: Talk) -> None:
    body = deployment()
    del body["spec"]["template"]["spec"]["containers"][0]["image"]
    answer = talk.server.call("POST", talk.path("deployments"), body)
    where = "spec.template.spec.containers[0].image"
    assert refusal(answer) == (422, "Invalid", [("FieldValueRequired", where)])
