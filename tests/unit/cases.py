"""The cases of the truth table of takara_sync.plan, by row."""

from __future__ import annotations

from datetime import timedelta

from takara_sync.objects import GROUP
from takara_sync.plan import Policy
from takara_sync.text import rfc3339
from tests.unit.build import (
    LONG,
    NOW,
    PAUSED,
    REPLICAS,
    TEMPLATE,
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
from tests.unit.rows import (
    A_MINUTE_AGO,
    GONE,
    JUST_NOW,
    LABEL,
    ODD_TEMPLATES,
    TEMPLATES,
    Case,
    admission,
    applied_at,
    invalid,
    not_ours,
    pause,
    predecessor,
    rejected,
    unselected,
)

ACCEPTING = Policy(accept_newer_format=True)
KEPT = ("Keep", "", "ours")
OTHER_SELECTOR = ("Block", "DeploymentSelectorDiffers", "ours")
CHANGED = ("Block", "ChangedOnAdmission", "ours")
DUE, NOT_DUE = "uid-25", "uid-1"
AGAIN = ("Apply", 3, "at once")
TAKEN_OVER = ("Apply", 3, "after take-over")
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
        *(
            pause(word, ("Keep", "", "none of ours"))
            for word in ("True", "yes", "YES", "on", "1", " true ", "soon", "2")
        ),
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
        *(pause(word, ("Create", 3)) for word in ("false", "False", "no", "NO", "off", "0", "", " ")),
    ],
    "predecessor": [
        predecessor("seen for the first time", None, "Keep"),
        predecessor("waited for a minute", A_MINUTE_AGO, "Keep"),
        predecessor("for five minutes", rfc3339(NOW - timedelta(minutes=5)), "Keep"),
        predecessor("for longer", rfc3339(NOW - timedelta(minutes=5, seconds=1)), "Block"),
        predecessor("since a moment that cannot be right", "yesterday", "Block"),
        predecessor("of a version that is not served", A_MINUTE_AGO, "Block", apiVersion=f"{GROUP}/v9"),
        predecessor("other reason until now", LONG, "Keep", reason="Progressing"),
    ],
    "not-ours": [
        not_ours("no owners", "DeploymentWithoutController", ownerReferences=None),
        not_ours("owner, not controller", "DeploymentWithoutController", ownerReferences=[owner(controller=False)]),
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
    "selector": [
        Case("adopted", takara_json(), unselected(deployment_json()), OTHER_SELECTOR),
        Case("drifted", settled(size=5), unselected(deployment_json()), OTHER_SELECTOR),
        Case("of the Go operator", takara_json(), unselected(legacy(deployment_json())), OTHER_SELECTOR),
    ],
    "legacy": [
        Case("Go operator", takara_json(), legacy(deployment_json()), TAKEN_OVER),
        Case("size differs", takara_json(size=5), legacy(deployment_json()), ("Apply", 5, "after take-over")),
        Case("before first apply", takara_json(), legacy(deployment_json(), "before-first-apply"), TAKEN_OVER),
        Case("our own name, Update", takara_json(), legacy(deployment_json(), "takara-sync"), TAKEN_OVER),
        Case(
            "--legacy-manager",
            takara_json(),
            legacy(deployment_json(), "older"),
            TAKEN_OVER,
            Policy(legacy_managers=("older",)),
        ),
        Case(
            "the Go operator outside of the cluster",
            takara_json(),
            legacy(deployment_json(), "takara-operator-local"),
            TAKEN_OVER,
        ),
        Case(
            "came back after we had converged",
            settled(),
            deployment_json(managedFields=[own_entry(), entry("takara-operator", REPLICAS)]),
            TAKEN_OVER,
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
    "admission": [
        Case("the replicas came back changed", admission(1), deployment_json(replicas=2), CHANGED),
        Case("another field came back changed", admission(9.9), deployment_json(), CHANGED),
        Case("the second backoff is twice as long", admission(19.9, times=2), deployment_json(), CHANGED),
        Case("the backoff is over", admission(10), deployment_json(), AGAIN),
        Case("the second backoff is over", admission(20, times=2), deployment_json(), AGAIN),
        Case("a new generation", admission(1, size=5, generation=2), deployment_json(), ("Apply", 5, "at once")),
        Case("something else drifted", admission(1), edited(deployment_json(), "nginx"), AGAIN),
        Case("another manager took the replicas", admission(1), scaled(deployment_json(), 7), AGAIN),
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
        Case("another manifest", settled(record={"configHash": "older"}), deployment_json(), AGAIN),
        Case("of another generation", settled(generation=2), deployment_json(), AGAIN),
        Case("our entry has another time", settled(), applied_at(deployment_json(), A_MINUTE_AGO), AGAIN),
        Case("older format", settled(record={"format": 0}), deployment_json(), AGAIN),
        Case("nothing recorded", takara_json(), deployment_json(), AGAIN),
        Case("the record is null", takara_json(status={"deployment": None}), deployment_json(), AGAIN),
        Case("the record is odd", takara_json(status={"deployment": recorded(format="1")}), deployment_json(), AGAIN),
        Case("newer, accepted", settled(record={"format": 9}), deployment_json(), AGAIN, ACCEPTING),
    ],
    "rejected": [
        rejected("not due", NOT_DUE, ("Keep", "ApplyFailed", "none of ours")),
        rejected("an apply", NOT_DUE, ("Keep", "ApplyFailed", "ours"), live=True),
        rejected("the template", NOT_DUE, ("Keep", "ApplyRejected", "none of ours"), "ApplyRejected"),
        rejected("due", DUE, ("Create", 3)),
        rejected("a single pass tries everything", NOT_DUE, ("Create", 3), policy=Policy()),
        rejected("a new generation", NOT_DUE, ("Create", 3), generation=2),
        rejected("not stalled any more", NOT_DUE, ("Create", 3), stalled="False"),
        rejected("stalled by something else", NOT_DUE, ("Create", 3), "InvalidSize"),
        rejected("stalled by a list", NOT_DUE, ("Create", 3), ["ApplyFailed"]),
    ],
}
