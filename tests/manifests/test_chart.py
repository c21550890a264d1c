"""The Helm chart: `helm template` makes what `takara-sync manifests` prints, for each mode and any options."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from takara_sync.cli.settings import Settings, about
from takara_sync.cli.sources import flag_of
from tests.manifests.helm import CHART, helm, template
from tests.manifests.install import Json, objects
from tests.manifests.kustomize import by_name

OPTIONS: dict[str, tuple[Any, ...]] = {
    "mode": ("cronjob", "loop", "once"),
    "image": ("registry.invalid/takara-sync@sha256:00",),
    "imagePullPolicy": ("Always", "Never"),
    "imagePullSecret": (["one"], ["one", "two"]),
    "schedule": ("*/5 * * * *", "@hourly"),
    "watchNamespace": (["a"], ["a", "takara-system"]),
    "namePrefix": ("prod-", "0"),
    "heartbeatSecret": ("watchdog",),
    "cpuRequest": ("1",),
    "memoryRequest": ("1Gi",),
    "cpuLimit": ("1", "500m"),
    "memoryLimit": ("2Gi",),
    "uidFromCluster": (True,),
    "networkPolicy": (True,),
    "priorityLevel": (True,),
    "mayBeAdded": (["metadata.annotations.example.org/*"], ["a.b", "c[d].e"]),
    "skipCrd": (True,),
    "requestTimeout": (5, 2.5),
    "passTimeout": (20, 70.5),
    "concurrency": (1, 200),
    "excludeNamespace": (["x"], ["x", "y"]),
    "selector": ("team in (a, b),!old", "a=b"),
    "dryRun": (True, False),
    "maxSize": (0, 5_000_000),
    "maxChanges": (0, 1_000_000, "0%", "100%"),
    "allowTemplates": (True, False),
    "legacyManager": (["one"], ["one", "two words"]),
    "acceptNewerFormat": (True,),
    "podImage": ("mirror.invalid/busybox:1", "mirror.invalid/busybox@sha256:00"),
    "podPullPolicy": ("Never", "IfNotPresent"),
    "interval": (0.5, 30, 3600),
    "tolerate": (["nothing"], ["blocked"]),
    "failOn": (["not-ready"],),
    "logLevel": ("debug",),
    "metricsAddress": ("[::]:9090",),
}
"""Each value of the chart with some that it may have."""
CANNOT = (
    ("dryRun", True, "metricsAddress"),
    ("mode", "loop", "schedule"),
    ("mode", "once", "interval"),
    ("mode", "once", "metricsAddress"),
)
DRAWS = 12


def option_of(value: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in value)


def argv_of(given: dict[str, Any]) -> list[str]:
    """The values as flags of `manifests`."""
    found = []
    for name, value in given.items():
        option = option_of(name)
        if isinstance(value, bool):
            found.append(flag_of(option if value else f"no_{option}"))
        else:
            found.append(f"{flag_of(option)}={','.join(value) if isinstance(value, list) else value}")
    return found


def printed(given: dict[str, Any], *more: str) -> dict[tuple[str, str, str], Json]:
    """What `manifests` prints, but for the Namespace: helm makes it before it installs."""
    return by_name([each for each in objects(*argv_of(given), *more) if each["kind"] != "Namespace"])


def drawn(seed: int) -> dict[str, Any]:
    """Some of the options that fit together."""
    draw = random.Random(seed)  # noqa: S311 - a choice of cases
    given = {name: draw.choice(some) for name, some in OPTIONS.items() if draw.random() < 0.5}
    for name, value, other in CANNOT:
        if given.get(name) == value:
            given.pop(other, None)
    if "watchNamespace" in given:
        given.pop("excludeNamespace", None)
    return given


def test_every_option_of_manifests_is_a_value() -> None:
    fields = {name for name, field in Settings.model_fields.items() if "manifests" in about(field)["commands"]}
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert {option_of(name) for name in values} == fields - {"config", "install_namespace", "replaces"}
    assert set(values) == set(OPTIONS)


@pytest.mark.parametrize("mode", OPTIONS["mode"])
def test_each_mode_is_what_manifests_prints(helm_program: Path, mode: str) -> None:
    assert by_name(template(helm_program, "takara-sync", "takara-system", mode=mode)) == printed({"mode": mode})


def test_every_value_alone_and_some_together_are_what_manifests_prints(helm_program: Path, seed: int) -> None:
    every = [dict(zip(OPTIONS, (some[0] for some in OPTIONS.values()), strict=True))]
    every[0] = {name: value for name, value in every[0].items() if name not in ("excludeNamespace", "metricsAddress")}
    cases = every + [drawn(seed + number) for number in range(DRAWS)]
    for given in cases:
        made = by_name(template(helm_program, "takara-sync", "takara-system", **given))
        assert made == printed(given), given


@pytest.mark.parametrize(
    ("release", "prefix"), [("prod", "prod-"), ("prod-takara-sync", "prod-"), ("takara-sync-2", "takara-sync-2-")]
)
def test_the_release_name_is_the_prefix_and_its_namespace_the_install_namespace(
    helm_program: Path, release: str, prefix: str
) -> None:
    expected = printed({}, f"--name-prefix={prefix}", "--install-namespace=0123")
    assert by_name(template(helm_program, release, "0123")) == expected
    assert {name.startswith(prefix) for kind, _, name in expected if kind != "CustomResourceDefinition"} == {True}


def test_what_does_not_fit_together_is_refused(helm_program: Path) -> None:
    for given in (
        {"mode": "loop", "schedule": "@hourly"},
        {"mode": "once", "interval": 5},
        {"watchNamespace": ["a"], "excludeNamespace": ["b"]},
        {"maxSizes": 1},
        {"image": "it's"},
        {"maxChanges": "101%"},
    ):
        with pytest.raises(AssertionError, match=r"cannot be used|dditional prop|match|anyOf"):
            template(helm_program, "takara-sync", "takara-system", **given)
    with pytest.raises(AssertionError, match="the release name is too long"):
        template(helm_program, 50 * "x", "takara-system")


def test_lint_finds_nothing(helm_program: Path) -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in helm(helm_program, "lint", "--strict", str(CHART))


def test_the_schema_takes_the_values_and_every_sample() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.validate(values, schema)
    for name, some in OPTIONS.items():
        for value in some:
            jsonschema.validate(values | {name: value}, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(values | {name: {"nonsense": 1}}, schema)
