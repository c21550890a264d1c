"""Somebody has the token of takara-sync, and wants more than the default pods of Takaras.

Each refusal names the policy: nothing else refused it. The clauses, allowed and refused side by side: `attacks.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.control_plane.server import ControlPlane
from tests.manifests.attacks import APPLY, MERGE, Thief, attacks, dress, legitimate
from tests.manifests.install import identity
from tests.manifests.pods import OTHER_PODS, deployment
from tests.server import Answer
from tests.world import owner_reference, takara

POLICY = "ValidatingAdmissionPolicy 'takara-sync'"


@pytest.fixture
def thief(cluster: ControlPlane) -> Thief:
    return Thief(cluster, identity(cluster))


def refused(*answers: Answer) -> None:
    for answer in answers:
        assert answer.status == 403, answer.body
        assert POLICY in answer.body["message"], answer.body


def test_every_attack_is_refused_and_its_key_named_and_every_write_of_a_pass_admitted(thief: Thief) -> None:
    dress(thief)
    tried = list(attacks(thief))
    for what, named, answer in tried:
        assert answer.status == 403, (what, answer.body)
        assert POLICY in answer.body["message"], (what, answer.body)
        assert named in answer.body["message"], (what, answer.body)
    assert len(tried) > 120
    for what, _, answer in legitimate(thief):
        assert answer.status < 300, (what, answer.body)


def test_a_refusal_has_the_same_words_each_time_and_the_two_ways_out(thief: Thief) -> None:
    dress(thief)
    body = {"metadata": {"annotations": dict.fromkeys("fedcba", "1")}, "spec": {"paused": True}}
    said = {thief.patch("one", body, dry=True).body["message"] for _ in range(10)}
    (message,) = said  # it becomes the status of a Takara, which would be written each time
    assert message.endswith(
        "Refused: " + ", ".join([f"metadata.annotations.{name}" for name in "abcdef"] + ["spec.paused"])
    )
    assert "let it change pods instead, or list the keys in the variable mayBeAdded of this policy" in message


def test_hundreds_of_keys_are_refused_too_and_hundreds_of_sidecars_admitted(thief: Thief) -> None:
    """The expressions of a policy have a budget; beyond it, a write is refused."""
    dress(thief)
    for count in (60, 1000):
        annotations = {f"a{number}": "1" for number in range(count)}
        refused(thief.patch("one", {"metadata": {"annotations": annotations}}, dry=True))
    sides = [{"name": f"side-{number}", "image": "side"} for number in range(100)]
    body = deployment("many", thief.mine | {"name": "many"})
    body["spec"]["template"]["spec"]["containers"] += sides
    thief.world.post_deployment(body)
    assert thief.patch("many", {"spec": {"replicas": 5}}, dry=True).status == 200


def test_no_deployment_of_a_takara_is_orphaned_or_given_away(thief: Thief) -> None:
    (two,) = thief.world.create(takara("two"))
    thief.given(thief.mine)
    given_away = ([owner_reference(two)], [thief.mine | {"uid": two["metadata"]["uid"]}])
    for owners in (None, [], *given_away, [thief.mine | {"controller": False}]):
        refused(thief.patch("one", {"metadata": {"ownerReferences": owners}}))
    assert thief.world.deployment("one")["metadata"]["ownerReferences"] == [thief.mine]


def test_an_apply_that_creates_is_judged_as_a_create(thief: Thief) -> None:
    refused(thief.patch("one", deployment("one"), APPLY))
    for change in OTHER_PODS.values():
        refused(thief.patch("one", deployment("one", thief.mine, **change), APPLY))
    assert not thief.world.has_deployment("one")
    assert thief.patch("one", deployment("one", thief.mine), APPLY).status == 201


def test_the_rest_of_the_api_is_closed_by_rbac(thief: Thief) -> None:
    thief.given(thief.mine)
    takaras = f"/apis/maho.takara.org/v1alpha1/namespaces/{thief.world.namespace}/takaras/one"
    for method, path, body in (
        ("DELETE", f"{thief.path}/one", None),
        ("PUT", f"{thief.path}/one", thief.world.deployment("one")),
        ("PATCH", f"{thief.path}/one/scale", {"spec": {"replicas": 9}}),
        ("PATCH", f"{thief.path}/one/status", {"status": {"replicas": 9}}),
        ("PATCH", takaras, {"spec": {"size": 9}}),
        ("GET", f"/api/v1/namespaces/{thief.world.namespace}/secrets", None),
        ("POST", f"/api/v1/namespaces/{thief.world.namespace}/pods", {}),
        ("GET", f"{thief.path}?watch=true", None),
    ):
        answer = thief.world.server.call(method, path, body, content_type=MERGE, user=thief.user)
        assert answer.status == 403, (method, path, answer.body)


def test_where_templates_are_allowed_the_pod_is_free_and_nothing_else_is(
    installed_with: Callable[..., ControlPlane],
) -> None:
    server = installed_with("--allow-templates")
    thief = Thief(server, identity(server))
    dress(thief)
    for what, named, answer in attacks(thief):
        free = named.lstrip("-").startswith("spec.template.")
        assert (answer.status, POLICY in str(answer.body)) == ((answer.status, False) if free else (403, True)), (
            what,
            answer.body,
        )
    for change in OTHER_PODS.values():
        assert thief.create(deployment("new", thief.mine | {"name": "new"}, **change), dry=True).status == 201
