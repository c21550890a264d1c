"""`takara-sync manifests` prints what `kubectl kustomize` makes of k8s/, and what its options say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from takara_sync import __version__
from takara_sync.desired import default_container
from takara_sync.errors import ConfigurationError
from takara_sync.kube.cluster import INSTALL_CRD
from tests.manifests.install import Json, objects
from tests.manifests.kustomize import COMPONENTS, FOLDERS, build, by_name, overlay
from tests.support.command import loaded, run


@pytest.fixture
def kubectl(control_plane_assets: Path) -> Path:
    return control_plane_assets / "kubectl"


def printed(*argv: str) -> list[Json]:
    """What the command prints."""
    done = run("manifests", *argv)
    assert (done.code, done.stderr) == (0, "")
    return list(yaml.safe_load_all(done.stdout))


def workload(found: list[Json]) -> tuple[Json, Json]:
    """The CronJob or Deployment, and its one container."""
    (one,) = (each for each in found if each["kind"] in ("CronJob", "Deployment"))
    template = one["spec"]["jobTemplate"]["spec"]["template"] if one["kind"] == "CronJob" else one["spec"]["template"]
    (container,) = template["spec"]["containers"]
    return one, container


@pytest.mark.parametrize(
    ("argv", "folder"),
    [
        ((), "cronjob"),
        (("--mode", "cronjob"), "cronjob"),
        (("--mode", "loop"), "loop"),
        (("--mode", "once"), "once"),
        (("--watch-namespace", "default"), "namespaced"),
    ],
)
def test_each_mode_is_its_folder(kubectl: Path, argv: tuple[str, ...], folder: str) -> None:
    assert by_name(printed(*argv)) == by_name(build(kubectl, "crd")) | by_name(build(kubectl, folder))


def test_the_hint_to_install_the_crd_selects_the_crd_and_nothing_else() -> None:
    """A checkout is not needed, and nobody who wants to look gets a CronJob."""
    label = re.search(r"-l '!(\S+)'", INSTALL_CRD)
    assert label
    chosen = [one["kind"] for one in printed() if label[1] not in one["metadata"].get("labels", {})]
    assert chosen == ["CustomResourceDefinition"]


@pytest.mark.parametrize("mode", ["cronjob", "loop", "once"])
def test_the_log_of_an_install_leaves_out_what_is_unchanged(mode: str) -> None:
    _, container = workload(printed("--mode", mode))
    assert "--output=json-brief" in container["args"]


@pytest.mark.parametrize("mode", ["cronjob", "loop", "once"])
def test_the_options_are_what_an_overlay_makes_by_hand(kubectl: Path, tmp_path: Path, mode: str) -> None:
    made = overlay(
        kubectl,
        tmp_path,
        resources=["k8s/crd", f"k8s/{mode}"],
        components=["k8s/components/namespaced", "k8s/components/templates"],
        images=[{"name": "takara-sync", "newName": "example.invalid/takara-sync", "newTag": "9"}],
    )
    argv = ("--mode", mode, "--allow-templates", "--watch-namespace=default", "--image=example.invalid/takara-sync:9")
    found = by_name(printed(*argv))
    assert sorted(workload(list(found.values()))[1]["args"]) == sorted(workload(made)[1]["args"])
    for each in (made, found.values()):
        workload(list(each))[1]["args"].sort()
    assert found == by_name(made)


def test_another_install_namespace_is_what_kustomize_makes_of_it(kubectl: Path, tmp_path: Path) -> None:
    made = overlay(kubectl, tmp_path, resources=["k8s/crd", "k8s/cronjob"], namespace="elsewhere")
    for each in made:
        if each["kind"].startswith("ValidatingAdmission"):  # kustomize does not know that these are in no namespace
            del each["metadata"]["namespace"]
    found = printed("--install-namespace", "elsewhere")
    (namespace,) = (each["metadata"] for each in made if each["kind"] == "Namespace")
    for label in [label for label in namespace["labels"] if label.startswith("app.kubernetes.io/")]:
        del namespace["labels"][label]  # by which an uninstall would find it, and all that is in it with it
    assert by_name(found) == by_name(made)
    assert "takara-system" not in str(found)


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_a_namespace_of_the_clusters_own_is_left_alone(name: str) -> None:
    assert "Namespace" not in {each["kind"] for each in objects("--install-namespace", name)}


def test_the_schedule() -> None:
    assert workload(objects())[0]["spec"]["schedule"] == "* * * * *"
    assert workload(objects("--schedule", "*/5 * * * *"))[0]["spec"]["schedule"] == "*/5 * * * *"
    assert workload(objects("--schedule", "@hourly", "--mode=once"))[0]["spec"]["schedule"] == "@hourly"
    for wrong in ("soon", "* * * *", "* * * * * *", "TZ=UTC * * * * *", "CRON_TZ=UTC * * * *"):
        with pytest.raises(ConfigurationError, match="expected five fields"):
            objects("--schedule", wrong)
    with pytest.raises(ConfigurationError, match="mode loop"):
        objects("--schedule", "* * * * *", "--mode", "loop")


def test_several_watched_namespaces_may_be_the_install_namespace_too() -> None:
    found = objects("--watch-namespace", "takara-system,b", "--install-namespace", "default")
    roles = [each for each in found if each["kind"].startswith("Role")]
    places = [
        (each["kind"], each["metadata"]["namespace"]) for each in roles if each["metadata"]["name"] == "takara-sync"
    ]
    assert {each["metadata"]["namespace"] for each in roles if each["metadata"]["name"].endswith("-last-pass")} == {
        "default"
    }
    assert sorted(places) == [(kind, where) for kind in ("Role", "RoleBinding") for where in ("b", "takara-system")]
    assert "--namespace=takara-system,b" in workload(found)[1]["args"]
    subjects = [subject for each in found for subject in each.get("subjects", ())]
    assert {subject["namespace"] for subject in subjects} == {"default"}


@pytest.mark.parametrize("argv", [("--mode=cronjob",), ("--mode=loop",), ("--mode=once",), ("--watch-namespace=a,b",)])
@pytest.mark.parametrize("templates", [(), ("--allow-templates",)])
def test_the_arguments_are_those_of_the_command(argv: tuple[str, ...], templates: tuple[str, ...]) -> None:
    """Typos in k8s/ would show in a cluster only."""
    one, container = workload(objects(*argv, *templates))
    command, settings = loaded(container["args"])
    assert command == ("once" if "--mode=once" in argv else "loop")
    assert (settings.output, settings.tolerate) == ("json-brief", ("blocked", "invalid"))
    assert settings.allow_templates == bool(templates)
    assert settings.namespace == (("a", "b") if "--watch-namespace=a,b" in argv else ())
    if one["kind"] == "CronJob":
        longest = settings.duration or settings.pass_timeout
        assert one["spec"]["jobTemplate"]["spec"]["activeDeadlineSeconds"] == longest + 120
        assert longest < 60
    else:
        assert (settings.interval, settings.duration) == (10, None)


def test_templates_are_a_right_of_every_role_and_change_no_policy() -> None:
    right = {"apiGroups": ["maho.takara.org"], "resources": ["takaras/template"], "verbs": ["use"]}
    for argv, roles in (((), 1), (("--watch-namespace=a,b",), 2)):
        plain, templates = objects(*argv), objects(*argv, "--allow-templates")
        mine = [each for each in templates if each["metadata"]["name"] == "takara-sync" and "rules" in each]
        assert [each["rules"][-1] for each in mine] == [right] * roles
        assert str(right) not in str(plain)
        policies = [
            [each for each in found if each["kind"] == "ValidatingAdmissionPolicy"] for found in (plain, templates)
        ]
        assert policies[0] == policies[1]


def test_the_image_is_of_this_version_the_fence_always_there_and_the_order_one_to_apply_in() -> None:
    assert workload(objects())[1]["image"] == f"takara-sync:{__version__}"
    kinds = [each["kind"] for each in objects()]
    assert kinds.count("ValidatingAdmissionPolicy") == kinds.count("ValidatingAdmissionPolicyBinding") == 2
    assert kinds[:2] == ["CustomResourceDefinition", "Namespace"]


@pytest.mark.parametrize(
    "argv", [("--image", "a b"), ("--image=-x",), ("--install-namespace", "A"), ("--watch-namespace", ""), ("-n", "a")]
)
def test_what_cannot_be(argv: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError):
        objects(*argv)


def test_every_folder_builds_and_deleting_one_leaves_the_api_and_so_every_takara(kubectl: Path, tmp_path: Path) -> None:
    assert {"base", "crd", "cronjob", "examples", "loop", "namespaced", "once"} <= set(FOLDERS)
    for folder in FOLDERS:
        kinds = {each["kind"] for each in build(kubectl, folder)}
        assert kinds, folder
        assert ("CustomResourceDefinition" in kinds) == (folder == "crd"), folder
    for component in COMPONENTS:
        assert overlay(kubectl, tmp_path, resources=["k8s/cronjob"], components=[f"k8s/{component}"]), component


def test_the_policy_has_the_default_container_that_the_program_makes() -> None:
    """As the API server completes it; image and pull policy are variables, for an install to change."""
    (policy,) = (each for each in objects() if each["kind"] == "ValidatingAdmissionPolicy" and "sync" in _named(each))
    variables = {each["name"]: each["expression"] for each in policy["spec"]["variables"]}
    default = default_container()
    assert variables["image"] == f"'{default['image']}'"
    started = (
        f"dyn({{'name': dyn('{default['name']}'), 'image': dyn(variables.image), 'command': dyn({default['command']})"
    )
    assert variables["defaultContainer"].startswith(started)
    assert set(default) == {"name", "image", "command"}


def _named(one: Json) -> str:
    return str(one["metadata"]["name"])
