"""What an adoption means: refused, done already, or offered with what follows."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync import Policy
from takara_sync.adoption import Declined, Offer, consider, is_restored, owners_without
from takara_sync.objects import Deployment, Takara
from takara_sync.plan import Apply, Block
from tests.unit.build import LONG, NOW, decoded, deployment_json, owner, takara

OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u-1"}
LABELS = {"app": "takara", "takara_cr": "one"}


def deployment(*owners: Any, spec: Any = None, **metadata: Any) -> Deployment:
    """The Deployment of Takara `one`, of size 3, with these owners."""
    made = deployment_json()
    made["metadata"] |= {"ownerReferences": list(owners), "labels": LABELS} | metadata
    made["spec"] |= spec or {}
    return decoded(Deployment, made)


def offered(of: Takara, live: Deployment, policy: Policy = Policy()) -> Offer:  # noqa: B008 - frozen
    found = consider(of.key, of, live, policy, NOW)
    assert isinstance(found, Offer)
    return found


def selecting(labels: Any, **more: Any) -> Any:
    return {"selector": {"matchLabels": labels} | more}


SELF = {"name": "one", "uid": "uid-of-one"}
DECLINED = [
    (None, deployment(), "refused", "There is no Takara of this name. Create it first."),
    (takara(), None, "refused", "There is no Deployment of this name. The next pass creates one."),
    (takara(), deployment(owner()), "keep", "The Takara is its controller already."),
    (takara(deletionTimestamp=LONG), deployment(), "refused", "The Takara is being deleted. Kubernetes would"),
    (takara(), deployment(deletionTimestamp=LONG), "refused", "The Deployment is being deleted. The next pass"),
    (takara(), deployment(owner("two")), "refused", "Its controller is Takara two (uid uid-of-two), and"),
    (takara(), deployment(owner(uid="u-0")), "refused", "Its controller is Takara one (uid u-0), and"),
    (takara(), deployment(owner(kind="Shop")), "refused", "Its controller is Shop one (uid uid-of-one), and"),
    (
        takara(),
        deployment(spec=selecting({"app": "takara"})),
        "refused",
        "Its selector is not app=takara,takara_cr=one",
    ),
    (
        takara(),
        deployment(spec=selecting(LABELS, matchExpressions=[{"key": "app", "operator": "Exists"}])),
        "refused",
        "Its selector is not app=takara,takara_cr=one",
    ),
    (takara(), deployment(spec={"selector": None}), "refused", "Its selector is not app=takara,takara_cr=one"),
]


@pytest.mark.parametrize(("of", "live", "action", "words"), DECLINED)
def test_no_offer(of: Takara | None, live: Deployment | None, action: str, words: str) -> None:
    key = takara().key
    found = consider(key, of, live, Policy(), NOW)
    assert isinstance(found, Declined)
    assert (found.key, found.action, found.why[: len(words)]) == (key, action, words)
    if of is not None and live is not None:
        assert not is_restored(of, live)


@pytest.mark.parametrize("owners", [[], [OTHER], [owner(controller=False)], [OTHER, owner(controller=None)]])
def test_the_takara_becomes_the_controller_and_other_owners_stay(owners: list[Any]) -> None:
    found = offered(takara(), deployment(*owners))
    assert [each.uid for each in found.owners] == [*(["u-1"] if OTHER in owners else []), "uid-of-one"]
    last = found.owners[-1]
    assert (last.kind, last.name, last.controller, last.block_owner_deletion) == ("Takara", "one", True, True)
    assert owners_without(deployment(*owners), "u-1") == deployment(*[each for each in owners if each != OTHER]).owners
    assert found.key == takara().key


def test_an_offer_says_what_the_next_pass_decides() -> None:
    following = offered(takara(size=5), deployment(OTHER)).next
    assert isinstance(following, Apply)
    assert [(change.field, change.old, change.new) for change in following.changes] == [("spec.replicas", 3, 5)]
    assert isinstance(offered(takara(size=5), deployment(), Policy(max_size=4)).next, Block)


@pytest.mark.parametrize(
    ("labels", "restored"),
    [
        (LABELS, True),
        ({"takara_cr": "one"}, True),
        ({"takara_cr": "two"}, False),
        ({"app": "takara"}, False),
        (None, False),
    ],
)
def test_a_restored_one_carries_the_label_of_its_takara(labels: Any, *, restored: bool) -> None:
    assert is_restored(takara(), deployment(labels=labels)) is restored


MARKS = [
    ("labels", "app.kubernetes.io/managed-by", "Helm", "Helm"),
    ("annotations", "meta.helm.sh/release-name", "x", "Helm"),
    ("annotations", "argocd.argoproj.io/tracking-id", "x", "Argo CD"),
    ("labels", "argocd.argoproj.io/instance", "x", "Argo CD"),
    ("labels", "app.kubernetes.io/instance", "x", "Argo CD or Helm"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "x", "Flux"),
    ("labels", "helm.toolkit.fluxcd.io/name", "x", "Flux"),
]


@pytest.mark.parametrize(("part", "mark", "value", "tool"), MARKS)
def test_a_mark_of_another_tool_is_a_warning(part: str, mark: str, value: str, tool: str) -> None:
    (warning,) = offered(takara(), deployment(**{part: LABELS | {mark: value}})).warnings
    assert warning == (
        f"{tool} may manage this Deployment ({part[:-1]} {mark}={value}). Take it out of {tool} first, in a way that "
        f"keeps it in the cluster; else both write it, or {tool} deletes it."
    )


def test_no_mark_no_warning() -> None:
    labels = LABELS | {"app.kubernetes.io/managed-by": "somebody", "app.kubernetes.io/instance": ""}
    assert offered(takara(), deployment(labels=labels, annotations=None)).warnings == ()
