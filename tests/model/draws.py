"""What the rules draw from."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.model.oracle import Program
from tests.support.takaras import Json

NAMES = ("a", "b", "n" * 80)
SIZES = (0, 1, 2, 3, 5)
BAD_SIZES = (-1, 9, 2**31, "3", None, True, 1.5)
MANAGERS = ("kubectl", "hpa")
FAULTS = ("response lost", "outage", "stopped", "no pods")
TEMPLATES: tuple[Any, ...] = (
    None,
    {"spec": {"containers": [{"name": "main", "image": "nginx:1"}]}},
    {
        "metadata": {"labels": {"tier": "web"}, "annotations": {"scraped": "yes"}},
        "spec": {
            "containers": [
                {"name": "main", "image": "nginx:2", "env": [{"name": "A", "value": "1"}]},
                {"name": "takara", "image": "busybox", "ports": [{"containerPort": 80}]},
            ],
            "terminationGracePeriodSeconds": 5,
        },
    },
    {"spec": {"containers": [{"name": "main", "image": "nginx:1", "imagge": "a field that does not exist"}]}},
    {"metadata": {"labels": {"tier": "no label value!"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}},
    {"spec": {"containers": []}},
)
PARTS: tuple[Json, ...] = (  # what others apply with force
    {"spec": {"replicas": 4}},
    {"metadata": {"labels": {"app": "theirs", "team": "x"}}},
    {"metadata": {"annotations": {"note": "theirs"}}},
    {"spec": {"template": {"spec": {"containers": [{"name": "takara", "image": "theirs"}]}}}},
    {"spec": {"template": {"spec": {"containers": [{"name": "takara", "env": [{"name": "B", "value": "2"}]}]}}}},
    {"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "theirs"}]}}}},
)
PODS: tuple[Json, ...] = (  # what others change in the pod template
    {"spec": {"containers": [{"name": "takara", "image": "nginx"}]}},
    {"spec": {"containers": [{"name": "extra", "image": "nginx"}]}},
    {"spec": {"containers": [{"name": "main", "env": [{"name": "A", "value": "3"}]}]}},
    {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}}},
)
CLEARED: Json = {"managedFields": [{}]}
METADATA: tuple[Json, ...] = (
    {"ownerReferences": None},
    CLEARED,
    {"labels": {"app": None}},
    {"labels": {"takara_cr": None}},
    {"labels": {"team": "y"}},
    {"annotations": {"note": "edited"}},
)

BEGINNINGS = ("converged", "converged", "plain", "template", "paused", "go operator", "go operator cleared", "stranger")

rarely = st.sampled_from((False,) * 7 + (True,))
fleets = st.lists(st.sampled_from(("nothing", *BEGINNINGS)), min_size=len(NAMES), max_size=len(NAMES))
names, sizes = st.sampled_from(NAMES), st.sampled_from(SIZES)
programs = st.sampled_from(
    (Program(),) * 6
    + (Program(templates=False), Program(format=2, image="busybox:2"), Program(max_size=3))
    + (Program(page=1),) * 2
)
