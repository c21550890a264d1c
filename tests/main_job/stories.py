"""The stories: drift, take-over, names, templates, strangers, the end of a Takara."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.main_job import steps
from tests.main_job.fleet import Fleet, Story, containers, wrote
from tests.main_job.steps import created, edited, held, kubectl, left_by_the_go_operator, paused

Check = Callable[[Fleet, str], object]


# ------------------------------------------------------------------ drift


def repaired(words: str) -> Check:
    """Everything is as before, and one line of the log says what and who it was."""

    def check(fleet: Fleet, name: str) -> None:
        after, before = fleet.healed.deployments[name], fleet.calm.deployments[name]
        assert after["spec"] == before["spec"]
        assert after["metadata"]["labels"] == before["metadata"]["labels"] == {"app": "takara", "takara_cr": name}
        (line,) = fleet.log(name)
        assert words in line["message"]
        assert (line["result"], line["level"]) == ("updated", "info")

    return check


def relabelled(fleet: Fleet, name: str) -> None:
    """No generation moves when a label goes."""
    repaired("metadata.labels.app none -> takara")(fleet, name)
    generations = {at.deployments[name]["metadata"]["generation"] for at in (fleet.calm, fleet.disturbed, fleet.healed)}
    assert len(generations) == 1


def replaced(fleet: Fleet, name: str) -> None:
    repaired("nginx -> busybox")(fleet, name)
    assert fleet.disturbed.deployments[name]["metadata"]["generation"] == 1


def kept(words: str) -> Check:
    """What others wrote into the Deployment is no drift."""

    def check(fleet: Fleet, name: str) -> None:
        assert not wrote(name, "deployments", fleet.second, fleet.third, fleet.fourth)
        assert words in str(fleet.ended.deployments[name])

    return check


def has_size(size: int, fleet: Fleet, name: str) -> None:
    assert fleet.healed.deployments[name]["spec"]["replicas"] == size
    assert fleet.ended.statuses[name]["nodes"] == fleet.ended.pods(name)
    assert len(fleet.ended.pods(name)) == size


def scaled_by_its_own_subresource(fleet: Fleet, name: str) -> None:
    has_size(2, fleet, name)
    scale = fleet.world.call("GET", f"{fleet.world.takara_path(name)}/scale")
    assert scale["status"]["selector"] == f"app=takara,takara_cr={name}"


def is_empty(fleet: Fleet, name: str) -> None:
    has_size(0, fleet, name)
    assert fleet.ended.condition(name, "Ready") == ("True", "Ready")


def is_ready(fleet: Fleet, name: str) -> None:
    assert [one.line_of(name)["ready"] for one in (fleet.first, fleet.second)] == ["Progressing", "Ready"]
    assert fleet.calm.condition(name, "Ready") == ("True", "Ready")
    status = fleet.calm.statuses[name]
    assert (status["replicas"], status["readyReplicas"]) == (2, 2)
    assert "Ready" in fleet.world.kubectl("get", "tk", name)


DRIFT = {
    "ready": Story(created(2), ("created", "unchanged", "unchanged"), is_ready),
    "scaled": Story(
        created(3),
        ("created", "updated", "unchanged"),
        repaired("spec.replicas 7 -> 3 (set by kubectl, subresource scale)"),
        kubectl("scale deployment/NAME --replicas=7"),
    ),
    "reimaged": Story(
        created(),
        ("created", "updated", "unchanged"),
        repaired("nginx -> busybox (set by kubectl-set"),
        kubectl("set image deployment/NAME takara=nginx"),
    ),
    "unlabelled": Story(
        created(), ("created", "updated", "unchanged"), relabelled, kubectl("label deployment/NAME app-")
    ),
    "replaced": Story(created(), ("created", "updated", "unchanged"), replaced, steps.replaced),
    "restarted": Story(
        created(),
        ("created", "unchanged", "unchanged"),
        kept("restartedAt"),
        kubectl("rollout restart deployment/NAME"),
    ),
    "annotated": Story(
        created(),
        ("created", "unchanged", "unchanged"),
        kept("'note': 'mine'"),
        kubectl("annotate deployment/NAME note=mine"),
    ),
    "resized": Story(
        created(),
        ("created", "updated", "unchanged"),
        scaled_by_its_own_subresource,
        kubectl("scale tk/NAME --replicas=2"),
    ),
    "none": Story(created(0), ("created", "unchanged", "unchanged"), is_empty),
    "emptied": Story(created(2), ("created", "updated", "unchanged"), is_empty, edited(size=0)),
    "beside-a-stray-pod": Story(
        created(), ("created", "unchanged", "unchanged"), partial(has_size, 1), steps.stray_pod
    ),
}


# ------------------------------------------------------------------ names and templates


def has_nodes(fleet: Fleet, name: str) -> None:
    assert len(fleet.calm.statuses[name]["nodes"]) == 2


def as_the_template_says(fleet: Fleet, name: str) -> None:
    template = fleet.calm.deployments[name]["spec"]["template"]
    assert template["metadata"]["labels"] == {"team": "blue", "app": "takara", "takara_cr": name}
    assert [container["name"] for container in template["spec"]["containers"]] == ["c"]


def stalled_until_it_is_mended(fleet: Fleet, name: str) -> None:
    """The message is the same in each pass: a status is written once."""
    status, reason = fleet.calm.condition(name, "Stalled")
    assert (status, reason in ("ApplyRejected", "ApplyFailed", "InvalidTemplate")) == ("True", True)
    assert not wrote(name, "takaras", fleet.second, fleet.third)
    assert fleet.ended.types(name) == ["Ready"]


def keeps_its_pods(fleet: Fleet, name: str) -> None:
    has_size(2, fleet, name)
    assert fleet.healed.condition(name, "Stalled") == ("True", "SizeTooLarge")
    assert fleet.healed.statuses[name]["deployment"] == fleet.calm.statuses[name]["deployment"]


LONG = ("x" * 60 + ".") * 4 + "y" * 9
NAMES = {
    LONG[:length].rstrip(".").ljust(length, "z"): Story(created(2), ("created", "unchanged", "unchanged"), has_nodes)
    for length in (63, 64, 253)
}
C: dict[str, Any] = {"name": "c", "image": "i"}
LABELLED = {"metadata": {"labels": {"team": "blue", "app": "mine"}}, "spec": {"containers": [C]}}
BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown-field": ("failed", {"spec": {"containers": [C | {"imagee": "x"}]}}),
    "wrong-type": ("failed", {"spec": {"containers": [C | {"image": 7}]}}),
    "duplicate": ("failed", {"spec": {"containers": [C, C | {"image": "j"}]}}),
    "bad-quantity": ("failed", {"spec": {"containers": [C | {"resources": {"limits": {"cpu": "many"}}}]}}),
    "no-container": ("invalid", {"spec": {"containers": []}}),
    "empty": ("invalid", {"spec": {}}),
    "labels-no-object": ("invalid", {"metadata": {"labels": "none"}, "spec": {"containers": [C]}}),
}
TEMPLATES = {
    "template": Story(created(template=LABELLED), ("created", "unchanged", "unchanged"), as_the_template_says),
    "too-large": Story(created(2), ("created", "invalid", "invalid"), keeps_its_pods, edited(size=1001)),
} | {
    f"broken-{what}": Story(
        created(template=template), (result, result, "created"), stalled_until_it_is_mended, ends=edited(template=None)
    )
    for what, (result, template) in BROKEN.items()
}


# ------------------------------------------------------------------ take-over


def unnoticed(fleet: Fleet, name: str) -> None:
    """No pod notices the take-over."""
    before, after = fleet.begun.deployments[name], fleet.calm.deployments[name]
    assert after["spec"] == before["spec"]
    assert after["metadata"]["labels"] == {"app": "takara", "takara_cr": name}
    for field in ("generation", "uid", "ownerReferences"):
        assert after["metadata"][field] == before["metadata"][field]
    assert fleet.calm.statuses[name]["nodes"] == fleet.calm.pods(name) == fleet.begun.pods(name)


def without_what_is_not_asked_for(fleet: Fleet, name: str) -> None:
    """The Go operator's variable and containers go; a restart stays."""
    healed = fleet.healed.deployments[name]
    (container,) = containers(healed)
    assert "env" not in container
    assert healed["spec"]["replicas"] == 3
    assert ("restartedAt" in str(healed)) == ("restartedAt" in str(fleet.begun.deployments[name]))


PASTS = {
    "": (),
    "-restarted": (steps.restarted,),
    "-cleared": (steps.without_managed_fields,),
    "-cleared-restarted": (steps.without_managed_fields, steps.restarted),
    "-restarted-cleared": (steps.restarted, steps.without_managed_fields),
}


def taken(past: str) -> str:
    """Without managedFields nothing says whose the Deployment was."""
    return "updated" if "cleared" in past else "taken over"


OLD: list[dict[str, str]] = [{"name": "OLD", "value": "1"}]
TAKEN = ("taken over", "updated", "unchanged")
TAKE_OVERS = (
    {
        f"old{past}": Story(left_by_the_go_operator(*before), (taken(past), "unchanged", "unchanged"), unnoticed)
        for past, before in PASTS.items()
    }
    | {
        f"old-env{past}": Story(
            left_by_the_go_operator(*before, env=OLD),
            (taken(past), "updated", "unchanged"),
            without_what_is_not_asked_for,
            edited(size=3),
        )
        for past, before in PASTS.items()
    }
    | {
        "old-two-containers": Story(
            left_by_the_go_operator(extra=({"name": "extra", "image": "busybox"},)),
            TAKEN,
            without_what_is_not_asked_for,
            edited(size=3),
        ),
        "old-of-another-manager": Story(
            left_by_the_go_operator(manager="our-own-operator", env=OLD),
            TAKEN,
            without_what_is_not_asked_for,
            edited(size=3),
        ),
    }
)


# ------------------------------------------------------------------ hands off


def left_alone(reason: str, *, stalled: bool) -> Check:
    def check(fleet: Fleet, name: str) -> None:
        assert not wrote(name, "deployments", fleet.first, fleet.second, fleet.third)
        assert fleet.healed.deployments[name]["spec"] == fleet.begun.deployments[name]["spec"]
        assert fleet.healed.condition(name, "Ready") == ("False", reason)
        assert fleet.healed.types(name) == (["Ready", "Stalled"] if stalled else ["Ready"])
        assert fleet.healed.statuses[name]["nodes"] == []
        assert (name in fleet.third.log[-1]["message"]) == stalled

    return check


def gets_no_write(fleet: Fleet, name: str) -> None:
    assert not wrote(name, "deployments", fleet.third)
    assert not wrote(name, "takaras", fleet.third)
    assert (name in fleet.healed.statuses, name in fleet.ended.deployments) == (True, False)


def goes_and_comes_back(fleet: Fleet, name: str) -> None:
    assert not wrote(name, "deployments", fleet.third)
    assert fleet.healed.condition(name, "Ready") == ("False", "DeploymentDeleting")


def is_gone(fleet: Fleet, name: str) -> None:
    assert (name in fleet.calm.deployments, name in fleet.ended.deployments) == (True, False)


def rested(fleet: Fleet, name: str) -> None:
    assert fleet.healed.deployments[name]["spec"] == fleet.calm.deployments[name]["spec"]
    assert fleet.healed.condition(name, "Ready") == ("False", "Paused")
    assert fleet.healed.statuses[name]["nodes"] == fleet.healed.pods(name)
    assert fleet.ended.deployments[name]["spec"]["replicas"] == 5


NOBODY, ANOTHER = "DeploymentWithoutController", "DeploymentOfAnotherController"
STRANGERS = {
    "nobody": (steps.of_nobody, "blocked", left_alone(NOBODY, stalled=True)),
    "another": (steps.of_another, "blocked", left_alone(ANOTHER, stalled=True)),
    "predecessor": (steps.of_a_predecessor, "skipped", left_alone("DeploymentOfPredecessor", stalled=False)),
}
HANDS_OFF = {
    f"of-{whose}{'-listed' if labelled else ''}": Story(
        steps.of_a_stranger(change, labelled=labelled), (result, result, result), check
    )
    for whose, (change, result, check) in STRANGERS.items()
    for labelled in (False, True)
} | {
    "of-nobody-until-it-goes": Story(
        steps.of_a_stranger(steps.of_nobody, labelled=False),
        ("blocked", "blocked", "created"),
        left_alone(NOBODY, stalled=True),
        ends=kubectl("delete deployment/NAME"),
    ),
    "deleting": Story(
        created(),
        ("created", "skipped", ""),
        gets_no_write,
        held("delete tk/NAME --cascade=foreground --wait=false"),
        steps.released,
    ),
    "leaving": Story(
        created(),
        ("created", "skipped", "created"),
        goes_and_comes_back,
        held("delete deployment/NAME --wait=false"),
        steps.released,
    ),
    "gone": Story(created(), ("created", "", ""), is_gone, kubectl("delete tk/NAME")),
    "paused": Story(created(2), ("created", "skipped", "updated"), rested, paused("true", size=5), paused(None)),
}

STORIES = DRIFT | NAMES | TEMPLATES | TAKE_OVERS | HANDS_OFF
