"""`status`: what a person sees, with the rights of that person; it changes nothing. The numbers: cli/test_status.py."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from takara_sync.cli import check
from tests.commands.running import ON_THE_SIMULATOR, Commands, validate
from tests.commands.story import CRONJOBS, EVENTS, PAGE, Story, page, story
from tests.world import World, takara

REVIEWS = {"selfsubjectaccessreviews", "subjectaccessreviews"}


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Story]:
    with story(tmp_path) as told:
        yield told


def shown(text: str) -> str:
    """Without what a terminal is told about colours."""
    return re.sub(r"\x1b\[\d*m", "", text)


def test_the_examples_in_the_documentation_are_true(told: Story) -> None:
    """`python -m tests.commands.story` writes them."""
    assert page(told) == PAGE.read_text()
    assert PAGE.read_text().count("```console\n$ takara-sync status") == 2


@pytest.mark.parametrize("name", [(), ("web",)])
def test_a_terminal_shows_the_same_with_colours(told: Story, name: tuple[str, ...]) -> None:
    coloured, plain = told.status(*name, columns=1000).stdout, told.status(*name).stdout
    assert shown(coloured) == plain != coloured


def test_json_says_the_same_in_one_line_and_more(told: Story) -> None:
    done = told.status("-o", "json")
    assert done.stdout.count("\n") == 1
    document: dict[str, Any] = json.loads(done.stdout)
    validate(document)
    assert (document["exit"], document["takara"], document["unchecked"]) == (0, None, [])
    (copy,) = document["overview"]["copies"]
    assert (copy["late"], copy["suspended"], copy["lastPass"]["exit"]) == (False, False, 0)
    assert copy["lastPass"]["counts"] == {"unchanged": 1, "contested": 1, "blocked": 1}
    states = {"Ready": 1, "DeploymentWithoutController": 1, "ReplicasContested": 1, "Unseen": 1}
    assert document["overview"]["takaras"]["states"] == states

    one = json.loads(told.status("default/web", "-o", "json").stdout)
    validate(one)
    assert one["overview"] is None
    assert one["takara"]["contest"] == {
        "field": "spec.replicas",
        "manager": "kube-controller-manager",
        "since": "2026-01-01T12:02:00Z",
        "nextTry": "2026-01-01T12:12:00Z",
        "times": 1,
    }


# ------------------------------------------------------------------ what is wrong with an installed copy


def test_a_late_copy_a_suspended_one_and_none(told: Story) -> None:
    told.wait(minutes=2)
    assert "LATE" not in told.status().stdout
    told.wait(minutes=1)
    late = told.status().stdout
    assert "last pass       2026-01-01T12:03:00Z (3m ago), LATE, exit code 0" in late
    assert "CronJob takara-system/takara-sync is late: see kubectl -n takara-system get jobs,pods" in late
    told.store.others[CRONJOBS]["items"][0]["spec"]["suspend"] = True
    suspended = told.status().stdout
    assert "SUSPENDED" in suspended
    assert "kubectl -n takara-system patch cronjob takara-sync" in suspended
    assert "LATE" not in suspended
    told.store.others[CRONJOBS] = {"items": []}
    nothing = told.status().stdout
    assert "Installed copies: none found" in nothing
    assert "takara-sync manifests | kubectl apply --server-side -f -" in nothing


def test_a_failed_pass_and_since_when(told: Story) -> None:
    told.store.record["data"] |= {"exit": "3", "result": "0 Takaras (0.1 s); no server", "end": "2026-01-01T12:03:35Z"}
    text = told.status().stdout
    assert "exit code 3" in text
    assert "no server" in text
    assert "last success    2026-01-01T12:03:00Z (40s ago)" in text
    assert "ended with exit code 3: see kubectl -n takara-system get jobs,pods" in text


@pytest.mark.parametrize("data", [None, {}, {"end": "yesterday", "exit": "x", "counts": "[]"}])
def test_a_record_that_is_not_there_or_not_ours(told: Story, data: Any) -> None:
    told.store.record["data"] = data
    done = told.status("-o", "json")
    validate(json.loads(done.stdout))
    assert done.code == 0
    assert told.status().code == 0


def test_an_installed_copy_that_lost_its_rights_is_seen_before_its_next_pass(told: Story) -> None:
    told.store.lacking.add("system:serviceaccount:takara-system:takara-sync")
    text = told.status().stdout
    assert "Rights of ServiceAccount takara-system/takara-sync: 0 of 11" in text
    assert "missing  may patch configmaps/takara-sync in namespace takara-system" in text
    assert f"Your rights: {len(check.RIGHTS)} of {len(check.RIGHTS)}" in text


def test_what_may_not_be_read_is_not_checked_and_the_rest_is(told: Story) -> None:
    told.store.others |= {CRONJOBS: 403, EVENTS: 403}
    done = told.status()
    assert done.code == 0
    assert (
        "Not checked\n  CronJobs of takara-sync: GET /apis/batch/v1/cronjobs was answered 403: you may not"
        in done.stdout
    )
    assert "4 Takaras" in done.stdout
    one = told.status("web")
    assert (one.code, "Not checked\n  events: " in one.stdout) == (0, True)
    assert "Events" not in one.stdout
    assert "contest" in one.stdout


# ------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("wbe",), "There is no Takara wbe. Did you mean web?"),
        (("default/wbe",), "There is no Takara default/wbe. Did you mean default/web?"),
        (("nothing-like-it",), "There is no Takara nothing-like-it. See kubectl get takaras -A."),
        (("web", "-n", "elsewhere"), "There is no Takara web"),
    ],
)
def test_a_name_that_is_none(told: Story, args: tuple[str, ...], says: str) -> None:
    done = told.status(*args)
    assert (done.code, f"error: {says}" in done.stdout) == (1, True), done.stdout
    document = json.loads(told.status(*args, "-o", "json").stdout)
    validate(document)
    assert (document["exit"], document["takara"]) == (1, None)


def test_two_names_are_a_usage_error(told: Story) -> None:
    assert told.status("web", "api").code == 2


# ------------------------------------------------------------------ both servers


def test_it_only_reads(world: World, commands: Commands) -> None:
    world.create(takara("one", 1), takara("two", 2))
    commands.once()
    for args in (("status",), ("status", "one")):
        done = commands.json(*args)
        assert done.code == 0
        assert {request.resource for request in done.writes} <= REVIEWS
    assert commands.json("status").report["overview"]["takaras"]["total"] == 2
    one = commands.json("status", "one").report["takara"]
    assert (one["stale"], one["deployment"]["ours"], one["deployment"]["replicas"]) == (False, True, 1)
    owners = {field["field"]: field["owner"] for field in one["fields"]}
    assert owners["spec.replicas"] == "takara-sync"
    world.kubectl("scale", "deployment/one", "--replicas=3")
    moved = commands.json("status", "one").report["takara"]
    assert [field["owner"] for field in moved["fields"] if field["field"] == "spec.replicas"] == ["kubectl"]
    assert moved["next"][0] == "The next pass sets the replicas: 3, set by kubectl, to 1."
    world.merge("one", {"spec": {"size": 5}})
    stale = commands.json("status", "one").report["takara"]
    assert (stale["stale"], stale["generation"], stale["observedGeneration"]) == (True, 2, 1)
    assert stale["next"][0].startswith("No pass has seen generation 2 yet")


def test_without_any_right_nothing_is_checked_and_nothing_is_an_error(world: World) -> None:
    nobody = Commands(world.server, world.namespace, world.server.user(admin=False))
    done = nobody.json("status")
    assert done.code == 0
    whole = done.report["overview"]
    assert (whole["copies"], whole["takaras"], whole["installed"]) == (None, None, [])
    assert {each["what"] for each in done.report["unchecked"]} >= {"Takaras", "CronJobs of takara-sync"}
    (rights,) = whole["rights"]
    assert (rights["account"], [each["detail"].partition(";")[0] for each in rights["checks"]]) == (
        "",
        ["not allowed"] * len(check.RIGHTS),
    )


@ON_THE_SIMULATOR
def test_a_server_that_is_not_there(world: World, commands: Commands, tmp_path: Path) -> None:
    config = commands.user.kubeconfig.read_text().replace(world.server.url, "http://127.0.0.1:1")
    (tmp_path / "kubeconfig").write_text(config)
    done = commands.json("status", "--kubeconfig", str(tmp_path / "kubeconfig"), "--pass-timeout=1s")
    assert (done.code, done.report["overview"]) == (3, None)
    assert (
        "not reached"
        in commands.run("status", "--kubeconfig", str(tmp_path / "kubeconfig"), "--pass-timeout=1s").stdout
    )


def test_events_are_those_about_this_takara(real_world: World) -> None:
    """With the real server's field selector."""
    commands = Commands(real_world.server, real_world.namespace)
    one, two = real_world.create(takara("one", 0), takara("two", 0))
    for owner, reason in ((one, "Created"), (two, "Changed")):
        about = {key: owner[key] for key in ("apiVersion", "kind")}
        about |= {key: owner["metadata"][key] for key in ("name", "namespace", "uid")}
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"event-{owner['metadata']['name']}"},
            "eventTime": "2026-01-01T12:00:00.000000Z",
            "reportingController": "takara.org/takara-sync",
            "reportingInstance": "takara-sync",
            "action": "Reconcile",
            "type": "Normal",
            "reason": reason,
            "note": "something happened",
            "regarding": about,
        }
        real_world.call("POST", f"/apis/events.k8s.io/v1/namespaces/{real_world.namespace}/events", event)

    (found,) = commands.json("status", "one").report["takara"]["events"]

    assert (found["reason"], found["note"]) == ("Created", "something happened")
    assert found["time"].startswith("2026-01-01T12:00:00")
