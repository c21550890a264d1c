"""The cases of the truth table of takara_sync.plan, by row."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from takara_sync.contest import rfc3339
from takara_sync.objects import GROUP
from takara_sync.plan import Apply, Create, Decision, Policy
from tests.unit.build import (
    NOW,
    PAUSED,
    REPLICAS,
    TEMPLATE,
    Json,
    deployment_json,
    edited,
    entry,
    legacy,
    lost,
    own_entry,
    owner,
    recorded,
    scaled,
    settled,
    takara_json,
)

GONE: Json = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
TEMPLATES = Policy(allow_templates=True)
LABEL: Json = {"f:metadata": {"f:labels": {"f:app": {}}}}
ODD_TEMPLATES: dict[str, Json] = {"metadata": {"metadata": ["a"]}, "labels": {"metadata": {"labels": ["a"]}}}
JUST_NOW = {"replicasTakenBy": {"manager": "hpa", "at": rfc3339(NOW - timedelta(minutes=1))}}


class Case(NamedTuple):
    """A Takara, the Deployment of its name, and the `shape` of what has to be decided."""

    name: str
    takara: Json
    deployment: Json | None
    shape: tuple[Any, ...]
    policy: Policy = Policy()


def shape(decision: Decision) -> tuple[Any, ...]:
    """What tells decisions apart: the kind, then the reason or the replicas, then whose the Deployment is."""
    if isinstance(decision, Create):
        return ("Create", decision.body["spec"]["replicas"])
    if isinstance(decision, Apply):
        over = "after take-over" if decision.managed_fields else "at once"
        return ("Apply", decision.body["spec"]["replicas"], over)
    reason = str(decision.verdict.reason) if decision.verdict else ""
    return (type(decision).__name__, reason, "ours" if decision.deployment else "none of ours")


def invalid(name: str, reason: str, *, policy: Policy = Policy(), **spec: Any) -> Case:  # noqa: B008 - frozen
    return Case(name, takara_json(spec=spec), None, ("Block", reason, "none of ours"), policy)


def not_ours(name: str, reason: str, takara: Json | None = None, **metadata: Any) -> Case:
    """Everything is as recorded but the owner."""
    return Case(name, takara or settled(), deployment_json(**metadata), ("Block", reason, "none of ours"))


KEPT = ("Keep", "", "ours")
AGAIN = ("Apply", 3, "at once")
CASES: dict[str, list[Case]] = {
    "deleting": [
        Case("no Deployment", takara_json(**GONE), None, ("Keep", "", "none of ours")),
        Case("drifted", takara_json(size=5, **GONE), deployment_json(), KEPT),
        Case("not ours", takara_json(**GONE), deployment_json(ownerReferences=None), ("Keep", "", "none of ours")),
        Case("unusable and paused", takara_json(size=-1, annotations=PAUSED, **GONE), deployment_json(), KEPT),
        Case("legacy", takara_json(**GONE), legacy(deployment_json()), KEPT),
        Case("newer format", settled(record={"format": 9}, **GONE), deployment_json(), KEPT),
    ],
    "invalid": [
        invalid("no size", "InvalidSize", replicas=3),
        invalid("null", "InvalidSize", size=None),
        invalid("text", "InvalidSize", size="3"),
        invalid("fraction", "InvalidSize", size=3.5),
        invalid("whole fraction", "InvalidSize", size=3.0),
        invalid("boolean", "InvalidSize", size=True),
        invalid("negative", "InvalidSize", size=-1),
        invalid("above int32", "InvalidSize", size=2**31, policy=Policy(max_size=2**40)),
        invalid("above any integer", "InvalidSize", size=2**70),
        invalid("above --max-size", "SizeTooLarge", size=1001),
        invalid("template not allowed", "TemplatesNotAllowed", size=3, template=TEMPLATE),
        invalid("empty template", "InvalidTemplate", policy=TEMPLATES, size=3, template={}),
        invalid("template without containers", "InvalidTemplate", policy=TEMPLATES, size=3, template={"spec": {}}),
        invalid("template is a list", "InvalidTemplate", policy=TEMPLATES, size=3, template=[1]),
        *(
            invalid(f"template with odd {what}", "InvalidTemplate", policy=TEMPLATES, size=3, template=TEMPLATE | odd)
            for what, odd in ODD_TEMPLATES.items()
        ),
        Case("spec is text", takara_json(spec="3"), None, ("Block", "InvalidSpec", "none of ours")),
        Case("spec is a list", takara_json(spec=[]), None, ("Block", "InvalidSpec", "none of ours")),
        Case("had converged", settled(size=-1), deployment_json(), ("Block", "InvalidSize", "ours")),
        Case("paused", takara_json(size=-1, annotations=PAUSED), None, ("Block", "InvalidSize", "none of ours")),
        Case(
            "not ours",
            takara_json(size=-1),
            deployment_json(ownerReferences=None),
            ("Block", "InvalidSize", "none of ours"),
        ),
    ],
    "paused": [
        Case("absent", takara_json(annotations=PAUSED), None, ("Keep", "", "none of ours")),
        Case("drifted", takara_json(size=5, annotations=PAUSED), deployment_json(), KEPT),
        Case("legacy", takara_json(annotations=PAUSED), legacy(deployment_json()), KEPT),
        Case("leaving", takara_json(annotations=PAUSED), deployment_json(**GONE), KEPT),
        Case(
            "not ours",
            takara_json(annotations=PAUSED),
            deployment_json(ownerReferences=None),
            ("Keep", "DeploymentWithoutController", "none of ours"),
        ),
    ],
    "absent": [
        Case("size 3", takara_json(), None, ("Create", 3)),
        Case("size 0", takara_json(size=0), None, ("Create", 0)),
        Case("the limit itself", takara_json(size=1000), None, ("Create", 1000)),
        Case("was there before", settled(), None, ("Create", 3)),
        Case("template allowed", takara_json(spec={"size": 2, "template": TEMPLATE}), None, ("Create", 2), TEMPLATES),
        Case("paused: not quite", takara_json(annotations=dict.fromkeys(PAUSED, "True")), None, ("Create", 3)),
    ],
    "not-ours": [
        not_ours("no owners", "DeploymentWithoutController", ownerReferences=None),
        not_ours("owner, not controller", "DeploymentWithoutController", ownerReferences=[owner(controller=False)]),
        not_ours("predecessor", "DeploymentOfPredecessor", ownerReferences=[owner(uid="older")]),
        not_ours("another Takara", "DeploymentOfAnotherController", ownerReferences=[owner("two")]),
        not_ours("another name, our uid", "DeploymentOfAnotherController", ownerReferences=[owner(name="two")]),
        not_ours("another kind", "DeploymentOfAnotherController", ownerReferences=[owner(kind="Takaraa")]),
        not_ours(
            "another group",
            "DeploymentOfAnotherController",
            ownerReferences=[owner(apiVersion="maho.takara.organic/v1alpha1")],
        ),
        not_ours("no group", "DeploymentOfAnotherController", ownerReferences=[owner(apiVersion=GROUP)]),
        not_ours("being deleted", "DeploymentWithoutController", ownerReferences=None, **GONE),
        not_ours("newer format", "DeploymentWithoutController", settled(record={"format": 9}), ownerReferences=None),
    ],
    "leaving": [
        Case("converged", settled(), deployment_json(**GONE), ("Keep", "DeploymentDeleting", "ours")),
        Case("drifted", takara_json(size=5), deployment_json(**GONE), ("Keep", "DeploymentDeleting", "ours")),
        Case("legacy", takara_json(), legacy(deployment_json(**GONE)), ("Keep", "DeploymentDeleting", "ours")),
    ],
    "newer-format": [
        Case("drifted", settled(size=5, record={"format": 2}), deployment_json(), ("Block", "NewerFormat", "ours")),
        Case("same", settled(record={"format": 2}), deployment_json(), ("Block", "NewerFormat", "ours")),
        Case(
            "legacy fields", settled(record={"format": 9}), legacy(deployment_json()), ("Block", "NewerFormat", "ours")
        ),
    ],
    "legacy": [
        Case("Go operator", takara_json(), legacy(deployment_json()), ("Apply", 3, "after take-over")),
        Case("size differs", takara_json(size=5), legacy(deployment_json()), ("Apply", 5, "after take-over")),
        Case(
            "before first apply",
            takara_json(),
            legacy(deployment_json(), "before-first-apply"),
            ("Apply", 3, "after take-over"),
        ),
        Case(
            "our own name, Update",
            takara_json(),
            legacy(deployment_json(), "takara-sync"),
            ("Apply", 3, "after take-over"),
        ),
        Case(
            "--legacy-manager",
            takara_json(),
            legacy(deployment_json(), "older"),
            ("Apply", 3, "after take-over"),
            Policy(legacy_managers=("older",)),
        ),
        Case(
            "came back after we had converged",
            settled(),
            deployment_json(managedFields=[own_entry(), entry("takara-operator", REPLICAS)]),
            ("Apply", 3, "after take-over"),
        ),
    ],
    "contested": [
        Case(
            "only the replicas",
            settled(record=JUST_NOW),
            scaled(deployment_json(), 7),
            ("Keep", "ReplicasContested", "ours"),
        ),
        Case(
            "other drift too",
            settled(record=JUST_NOW),
            edited(scaled(deployment_json(), 7), "nginx"),
            ("Apply", 7, "at once"),
        ),
        Case(
            "legacy fields too",
            settled(record=JUST_NOW),
            scaled(deployment_json(managedFields=[own_entry(), entry("takara-operator", LABEL)]), 7),
            ("Apply", 7, "after take-over"),
        ),
    ],
    "converged": [
        Case("as recorded", settled(), deployment_json(), KEPT),
        Case("size 0", settled(size=0), deployment_json(replicas=0), KEPT),
        Case(
            "rollout restarted",
            settled(),
            deployment_json(
                generation=2,
                managedFields=[own_entry(), entry("kubectl", {"f:metadata": {"f:annotations": {"f:x": {}}}})],
            ),
            KEPT,
        ),
        Case(
            "fields of a stranger", settled(), deployment_json(managedFields=[own_entry(), entry("x", REPLICAS)]), KEPT
        ),
        Case("a contest is remembered", settled(record=JUST_NOW), deployment_json(), KEPT),
        Case(
            "a legacy manager's scale",
            settled(),
            deployment_json(managedFields=[own_entry(), entry("takara-operator", REPLICAS, subresource="scale")]),
            KEPT,
        ),
    ],
    "drifted": [
        Case("scaled once", settled(), scaled(deployment_json(), 7), AGAIN),
        Case("replicas that nobody took", settled(), deployment_json(replicas=7), AGAIN),
        Case("scaled to 0", settled(), scaled(deployment_json(), 0), AGAIN),
        Case("size edited", settled(size=5, record=recorded(size=3)), deployment_json(), ("Apply", 5, "at once")),
        Case("image edited", settled(), edited(deployment_json(), "nginx"), AGAIN),
        Case("a label edited", settled(), lost(deployment_json(), "f:metadata", "f:labels", "f:app"), AGAIN),
        Case("our entry lost", settled(), deployment_json(managedFields=None), AGAIN),
        Case("replaced: another uid", settled(), deployment_json(uid="another"), AGAIN),
        Case("another body", settled(record={"configHash": "older"}), deployment_json(), AGAIN),
        Case("older format", settled(record={"format": 0}), deployment_json(), AGAIN),
        Case("nothing recorded", takara_json(), deployment_json(), AGAIN),
        Case("the record is null", takara_json(status={"deployment": None}), deployment_json(), AGAIN),
        Case("the record is odd", takara_json(status={"deployment": recorded(format="1")}), deployment_json(), AGAIN),
        Case(
            "newer format, accepted",
            settled(record={"format": 9}),
            deployment_json(),
            AGAIN,
            Policy(accept_newer_format=True),
        ),
    ],
}
