"""`adopt` shows what it would do, asks, makes a Takara the controller, and refuses what would never converge."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from takara_sync import Policy
from takara_sync.adoption import Declined, Offer
from takara_sync.cli.adopter import TRIES, Adopter
from takara_sync.deadline import Deadline
from takara_sync.errors import Retryable
from takara_sync.kube.response import Request, Response
from takara_sync.objects import Key
from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.staging import HOLD, PAUSE, TEMPLATES, converged
from tests.contract.simulated import Simulated
from tests.support.takaras import takara
from tests.support.transport import in_process
from tests.tool import COMMAND
from tests.world import Json, World, as_the_go_operator

Send = Callable[[], Response]


def orphan(world: World, name: str, size: int = 2, *, labelled: bool = True, **metadata: Any) -> Json:
    """A Deployment that fits a Takara of this name, without a controller, and such a Takara."""
    (owner,) = world.create(takara(name, size))
    body = as_the_go_operator(owner, size)
    labels = body["spec"]["selector"]["matchLabels"] if labelled else {}
    body["metadata"] = {"name": name} | metadata | {"labels": labels | metadata.get("labels", {})}
    made = world.post_deployment(body, "a-backup-tool")
    world.settle()
    return made


def controller(world: World, name: str) -> str:
    """The uid of the controller; empty if there is none."""
    owners = world.deployment(name)["metadata"].get("ownerReferences", [])
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")


def uid(world: World, name: str) -> str:
    return str(world.takara(name)["metadata"]["uid"])


# ------------------------------------------------------------------ what it does


def test_the_next_pass_goes_on_with_what_was_adopted(world: World, commands: Commands) -> None:
    before = orphan(world, "one")
    pods = world.pods("one")
    assert commands.once().code == 6

    done = commands.json("adopt", "one", "--yes")

    (line,) = done.report["deployments"]
    assert (done.code, line["action"], line["next"]["action"], line["next"]["rollout"]) == (
        0,
        "adopted",
        "apply",
        False,
    )
    assert line["owner"] == {"kind": "Takara", "name": "one", "uid": uid(world, "one")}
    assert [request.uri.partition("?")[0].rpartition("/")[2] for request in done.writes] == ["one"]
    assert controller(world, "one") == uid(world, "one")
    assert commands.once().code == 0
    world.settle()
    commands.converge()
    commands.settled()
    after = world.deployment("one")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert world.pods("one") == pods
    assert commands.json("adopt", "one", "--yes").report["deployments"][0]["action"] == "keep"


def test_what_it_shows_is_what_the_next_pass_does(world: World, commands: Commands) -> None:
    orphan(world, "one", 2)
    world.merge("one", {"spec": {"size": 5}})
    world.kubectl("set", "image", "deployment/one", "takara=nginx")

    shown = commands.run("adopt", "one", "--yes=1")

    assert shown.code == 0
    using, line, *changes, counts, warning, done = shown.stdout.splitlines()
    assert using.startswith("using: the kubeconfig")
    assert world.server.url in using
    assert "context" in using
    owner = f"controller: Takara one (uid {uid(world, 'one')})"
    assert line.startswith(f"+ {world.namespace}/one: adopt  {owner}; next pass: apply, ")
    assert line.endswith("a rollout follows")
    assert [change.strip().partition(" (")[0] for change in changes] == [
        "spec.replicas 2 -> 5",
        "spec.template.spec.containers[takara].image nginx -> busybox",
    ]
    assert (counts, done) == ("adopt: 1 to adopt", "adopt: 1 adopted")
    assert "deleting one of these Takaras deletes its Deployment" in warning
    made = [(change["field"], change["new"]) for change in commands.once().line_of("one")["changes"]]
    assert made == [("spec.replicas", 5), ("spec.template.spec.containers[takara].image", "busybox")]


@ON_THE_SIMULATOR
@pytest.mark.parametrize(
    ("patch", "flags", "following"),
    [
        (PAUSE, (), ("skip", "paused")),
        ({"spec": {"size": 1001}}, (), ("invalid", "SizeTooLarge")),
        ({"spec": {"size": 1001}}, ("--max-size", "1001"), ("apply", "")),
        ({"spec": {"template": {"spec": {"containers": []}}}}, (), ("invalid", "TemplatesNotAllowed")),
        ({"spec": {"template": {"spec": {"containers": []}}}}, TEMPLATES, ("invalid", "InvalidTemplate")),
    ],
)
def test_it_says_what_follows_with_the_options_of_the_pass(
    world: World, commands: Commands, patch: Json, flags: tuple[str, ...], following: tuple[str, str]
) -> None:
    orphan(world, "one")
    world.merge("one", patch)

    done = commands.json("adopt", "one", "--yes", *flags)

    planned = done.report["deployments"][0]["next"]
    assert done.code == 0
    assert (planned["action"], planned["why"].partition(":")[0]) == following


@ON_THE_SIMULATOR
@pytest.mark.parametrize(
    ("labels", "annotations", "tool"),
    [
        ({"app.kubernetes.io/managed-by": "Helm"}, {}, "Helm"),
        ({}, {"meta.helm.sh/release-name": "shop"}, "Helm"),
        ({}, {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:a/one"}, "Argo CD"),
        ({"app.kubernetes.io/instance": "shop"}, {}, "Argo CD or Helm"),
        ({"kustomize.toolkit.fluxcd.io/name": "shop"}, {}, "Flux"),
        ({"app.kubernetes.io/managed-by": "people"}, {"checksum": "1"}, ""),
    ],
)
def test_it_warns_of_who_else_may_manage_it(
    world: World, commands: Commands, labels: Json, annotations: Json, tool: str
) -> None:
    orphan(world, "one", labels=labels, annotations=annotations)

    done = commands.run("adopt", "one", "--yes")

    warnings = [line.strip() for line in done.stdout.splitlines() if "warning: " in line]
    assert [line.partition(" may ")[0] for line in warnings] == ([f"warning: {tool}"] if tool else [])
    assert done.code == 0


@ON_THE_SIMULATOR
def test_other_owners_stay(world: World, commands: Commands) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u-1"}
    orphan(world, "one")
    world.merge_deployment("one", {"metadata": {"ownerReferences": [other]}})

    assert commands.json("adopt", "one", "--yes").code == 0

    owners = world.deployment("one")["metadata"]["ownerReferences"]
    assert [(owner["uid"], owner.get("controller", False)) for owner in owners] == [
        ("u-1", False),
        (uid(world, "one"), True),
    ]


@ON_THE_SIMULATOR
def test_an_owner_that_was_no_controller_becomes_one(world: World, commands: Commands) -> None:
    orphan(world, "one")
    reference = {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "name": "one", "uid": uid(world, "one")}
    world.merge_deployment("one", {"metadata": {"ownerReferences": [reference]}})

    assert commands.json("adopt", "one", "--yes").code == 0

    (owner,) = world.deployment("one")["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (uid(world, "one"), True)


# ------------------------------------------------------------------ what it refuses


def no_takara(world: World) -> None:
    orphan(world, "one")
    world.call("DELETE", world.takara_path("one"))


def no_deployment(world: World) -> None:
    world.create(takara("one"))


def another_selector(world: World) -> None:
    world.create(takara("one"))
    body = as_the_go_operator({"metadata": {"name": "one", "uid": ""}, "apiVersion": "", "kind": ""}, 1)
    body["metadata"] = {"name": "one"}
    labels = {"app": "takara", "takara_cr": "two"}
    body["spec"]["selector"]["matchLabels"] = body["spec"]["template"]["metadata"]["labels"] = labels
    world.post_deployment(body)


def one_more_expression(world: World) -> None:
    (owner,) = world.create(takara("one"))
    body = as_the_go_operator(owner, 1)
    body["metadata"] = {"name": "one"}
    body["spec"]["selector"]["matchExpressions"] = [{"key": "app", "operator": "Exists"}]
    world.post_deployment(body)


def takara_being_deleted(world: World) -> None:
    orphan(world, "one")
    world.merge("one", HOLD)
    world.call("DELETE", world.takara_path("one"))


def deployment_being_deleted(world: World) -> None:
    orphan(world, "one")
    world.merge_deployment("one", HOLD)
    world.call("DELETE", f"/apis/apps/v1/namespaces/{world.namespace}/deployments/one")


def another_controller(world: World) -> None:
    orphan(world, "one")
    (other,) = world.create(takara("other"))
    reference = as_the_go_operator(other, 1)["metadata"]["ownerReferences"][0]
    world.merge_deployment("one", {"metadata": {"ownerReferences": [reference]}})


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (no_takara, "There is no Takara of this name"),
        (no_deployment, "There is no Deployment of this name"),
        (another_selector, "Its selector is not app=takara,takara_cr=one"),
        (one_more_expression, "Its selector is not app=takara,takara_cr=one"),
        (takara_being_deleted, "The Takara is being deleted"),
        (deployment_being_deleted, "The Deployment is being deleted"),
        (another_controller, "Its controller is Takara other"),
    ],
)
def test_it_refuses_what_can_never_converge(
    world: World, commands: Commands, prepare: Callable[[World], None], words: str
) -> None:
    prepare(world)
    if prepare is not no_takara:
        orphan(world, "fits")

    done = commands.json("adopt", "one", "--yes")

    (line,) = done.report["deployments"]
    assert (done.code, line["action"], line["next"]) == (6, "refused", None)
    assert line["why"].startswith(words)
    assert done.writes == []
    if prepare is not no_takara:  # one that is refused keeps no other one back
        both = commands.json("adopt", "one", "fits", "--yes=1")
        assert [line["action"] for line in both.report["deployments"]] == ["refused", "adopted"]
        assert both.code == 6


# ------------------------------------------------------------------ --restored


def test_restored_are_those_that_lack_only_their_controller(world: World, commands: Commands) -> None:
    converged(world, commands, takara("calm"))
    for name in ("one", "two"):
        orphan(world, name)
    orphan(world, "unlabelled", labelled=False)  # of somebody who chose the same name and selector
    orphan(world, "held")
    world.merge("held", HOLD)
    world.call("DELETE", world.takara_path("held"))
    world.create(takara("new"))

    for wrong in ("1", "3"):
        refused = commands.json("adopt", "--restored", f"--yes={wrong}")
        assert (refused.code, refused.writes) == (2, [])
        assert f"2 Deployments would be adopted, not {wrong}" in refused.report["error"]["message"]
    done = commands.json("adopt", "--restored", "--yes=2")

    assert (done.code, [line["name"] for line in done.report["deployments"]]) == (0, ["one", "two"])
    assert [controller(world, name) for name in ("one", "two")] == [uid(world, name) for name in ("one", "two")]
    assert controller(world, "unlabelled") == ""
    none = commands.run("adopt", "--restored")
    assert (none.code, none.stdout.splitlines()[1:]) == (0, ["adopt: no Deployment to adopt"])


@ON_THE_SIMULATOR
def test_restored_with_a_selector(world: World, commands: Commands) -> None:
    for name in ("one", "two"):
        orphan(world, name)
    world.merge("two", {"metadata": {"labels": {"team": "a"}}})

    done = commands.json("adopt", "--restored", "-l", "team=a", "--yes=1")

    assert [line["name"] for line in done.report["deployments"]] == ["two"]


# ------------------------------------------------------------------ the question


@ON_THE_SIMULATOR
@pytest.mark.parametrize(("args", "hint"), [(["one"], "Give --yes."), (["--restored"], "Give --yes=1.")])
def test_without_a_terminal_it_shows_all_and_says_what_to_give(
    world: World, commands: Commands, args: list[str], hint: str
) -> None:
    orphan(world, "one")
    for run in (commands.run, commands.json):
        done = run("adopt", *args)
        assert (done.code, done.writes) == (2, [])
        assert "There is no terminal to ask on, so nothing was adopted: 1 Deployment" in done.stdout
        assert hint in done.stdout
        assert f"{world.namespace}/one: adopt" in done.stdout or '"action":"adopt"' in done.stdout


@ON_THE_SIMULATOR
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "adopt needs a name"),
        (["one", "--restored"], "not both"),
        (["one", "-n", "b"], "the one namespace"),
        (["One"], "NAME cannot be 'One': expected the name of a Takara"),
        (["one", "-l", "a=b"], "--selector"),
        (["--restored", "--yes"], "needs --yes=COUNT"),
        (["one", "--yes=many"], "--yes cannot be 'many'"),
    ],
)
def test_arguments_that_do_not_fit_together(commands: Commands, args: list[str], words: str) -> None:
    done = commands.run("adopt", *args)
    assert (done.code, done.requests) == (2, [])
    assert words in done.stderr


@pytest.mark.parametrize(
    ("answer", "code", "adopted"),
    [("y\n", 0, True), ("YES\n", 0, True), ("n\n", 1, False), ("\n", 1, False), (signal.SIGINT, 4, False)],
)
def test_on_a_terminal_it_asks(simulated: Simulated, answer: str | int, code: int, *, adopted: bool) -> None:
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    orphan(world, "one")
    ours, theirs = pty.openpty()
    args = [COMMAND, "adopt", "one", "-n", world.namespace]
    with subprocess.Popen(args, env=commands.environment(), stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = read_until(ours, "[y/N]")
        if isinstance(answer, str):
            os.write(ours, answer.encode())
        else:
            process.send_signal(answer)
        process.wait(30)
    os.close(ours)
    assert "Adopt 1 Deployment? [y/N]" in said
    assert "using: " in said
    assert (process.returncode, bool(controller(world, "one"))) == (code, adopted)


def read_until(terminal: int, words: str) -> str:
    said, end = "", time.monotonic() + 60
    while words not in said:
        assert select.select([terminal], [], [], max(0.0, end - time.monotonic()))[0], said
        said += os.read(terminal, 4096).decode()
    return said


# ------------------------------------------------------------------ what others do meanwhile


class Race:
    """An adoption of `one`, and what happens around one of its requests: the number of it, as method and kind."""

    def __init__(self, simulated: Simulated) -> None:
        self.world = World(simulated, simulated.namespace())
        orphan(self.world, "one")
        self.key = Key(self.world.namespace, "one")
        self.before: dict[str, Callable[[], object]] = {}
        self.after: dict[str, Callable[[], object]] = {}
        self.sent: list[str] = []
        cluster = in_process(simulated.store.handle, self._around, simulated.user().token)
        self.adopter = Adopter(cluster, Policy(), Deadline(30), 1)

    def _around(self, request: Request, send: Send) -> Response:
        what = f"{request.method} {request.path.split('/')[-2]}"
        self.sent.append(what)
        name = f"{what} {self.sent.count(what)}"
        self.before.pop(name, lambda: None)()
        response = send()
        self.after.pop(name, lambda: None)()
        return response

    def shown(self) -> Offer:
        (offer,) = self.adopter.named([self.key])
        assert isinstance(offer, Offer)
        self.sent.clear()
        return offer

    def run(self, offer: Offer) -> Offer | Declined:
        (result,) = self.adopter.adopt([offer])
        return result

    def replace(self) -> None:
        """Somebody deletes the Takara, and creates one of the same name. Garbage collection has not come yet."""
        self.world.call("DELETE", self.world.takara_path("one"))
        self.world.create(takara("one"))

    def touch(self) -> None:
        """Somebody writes the Deployment, but nothing that was shown."""
        self.world.merge_deployment("one", {"metadata": {"annotations": {"touched": str(len(self.sent))}}})


@pytest.fixture
def race(simulated: Simulated) -> Race:
    return Race(simulated)


def test_the_takara_is_read_before_and_after(race: Race) -> None:
    assert isinstance(race.run(race.shown()), Offer)
    assert race.sent == ["GET takaras", "PATCH deployments", "GET takaras"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_takara_that_is_replaced_never_costs_the_deployment(race: Race, moment: str) -> None:
    """Before the first look: nothing is written. After the write: the reference to the uid that is gone goes too."""
    offer = race.shown()
    race.before["GET takaras 1" if moment == "before" else "GET takaras 2"] = race.replace

    result = race.run(offer)

    assert isinstance(result, Declined)
    assert (result.action, "replaced or deleted" in result.why) == ("failed", True)
    assert "ownerReferences" not in race.world.deployment("one")["metadata"]
    race.world.settle()
    assert race.world.deployment("one")["metadata"]["uid"] == offer.deployment.uid


def test_the_reference_is_removed_from_a_deployment_that_changed_again(race: Race) -> None:
    offer = race.shown()
    race.before["GET takaras 2"] = race.replace
    race.before["PATCH deployments 2"] = race.touch

    assert isinstance(race.run(offer), Declined)
    assert race.world.deployment("one")["metadata"].get("ownerReferences", []) == []


def test_garbage_collection_that_was_faster_is_said(race: Race) -> None:
    offer = race.shown()

    def collect() -> None:
        race.replace()
        race.world.settle()

    race.before["GET takaras 2"] = collect

    result = race.run(offer)

    assert isinstance(result, Declined)
    assert "Kubernetes deleted the Deployment" in result.why


def test_a_deployment_that_is_written_meanwhile_is_read_again(race: Race) -> None:
    offer = race.shown()
    race.before["PATCH deployments 1"] = race.touch

    assert isinstance(race.run(offer), Offer)
    assert controller(race.world, "one") == offer.takara.uid
    assert race.world.deployment("one")["metadata"]["annotations"]["touched"]


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"replicas": 7}},
        {"spec": {"template": {"spec": {"nodeName": "n"}}}},
        {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}]}},
    ],
)
def test_what_is_not_as_it_was_shown_is_left_alone(race: Race, patch: Json) -> None:
    offer = race.shown()
    race.before["PATCH deployments 1"] = lambda: race.world.merge_deployment("one", patch)

    result = race.run(offer)

    assert isinstance(result, Declined)
    assert result.why == "The Deployment changed since it was shown. Run the command again."
    assert controller(race.world, "one") == ""


def test_a_deployment_of_the_same_name_is_another_one(race: Race) -> None:
    offer = race.shown()

    def again() -> None:
        path = f"/apis/apps/v1/namespaces/{race.world.namespace}/deployments/one"
        body = race.world.deployment("one")
        race.world.call("DELETE", path)
        body["metadata"] = {"name": "one", "labels": body["metadata"]["labels"]}
        race.world.post_deployment(body)

    race.before["PATCH deployments 1"] = again
    assert isinstance(race.run(offer), Declined)
    assert controller(race.world, "one") == ""


def test_a_lost_response_is_looked_at(race: Race) -> None:
    def lose() -> None:
        raise Retryable("no response")

    offer = race.shown()
    race.after["PATCH deployments 1"] = lose
    assert isinstance(race.run(offer), Offer)
    assert race.sent.count("PATCH deployments") == 1


def test_it_gives_up(race: Race) -> None:
    offer = race.shown()
    for number in range(TRIES):
        race.before[f"PATCH deployments {number + 1}"] = race.touch
    result = race.run(offer)
    assert isinstance(result, Declined)
    assert (result.action, race.sent.count("PATCH deployments")) == ("failed", TRIES)
    assert controller(race.world, "one") == ""


def test_a_stop_before_the_write_prevents_it_and_one_after_it_does_not_end_the_second_look(race: Race) -> None:
    offer = race.shown()
    race.after["PATCH deployments 1"] = lambda: race.adopter.deadline.stop("SIGTERM")
    assert isinstance(race.run(offer), Offer)
    assert race.sent == ["GET takaras", "PATCH deployments", "GET takaras"]

    race.sent.clear()
    result = race.run(structs.replace(offer))
    assert isinstance(result, Declined)
    assert (race.sent, "SIGTERM" in result.why) == ([], True)
