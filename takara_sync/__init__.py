"""takara-sync: one pass brings the Deployment of every Takara to its declared size.

    from takara_sync import KubeCluster, Policy, sync_once

    report = sync_once(KubeCluster.connect(), Policy(max_size=100))
    report.raise_for_failure()

As a library it installs no signal handler, changes no logger (its own is `takara_sync`) and never exits the process.
Only `KubeCluster.connect` reads the environment, for the credentials. The names below are imported on first use.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # to import `typing` takes longer than everything else here
if TYPE_CHECKING:
    from typing import Any

    from takara_sync.cluster import Cluster, DryRun
    from takara_sync.conditions import Reason
    from takara_sync.deadline import Deadline
    from takara_sync.diff import Change
    from takara_sync.errors import (
        ApiNotServed,
        ConfigurationError,
        Conflict,
        CutShort,
        DeniedOnAdmission,
        InternalError,
        NotFound,
        ObjectError,
        PassStopped,
        Rejected,
        Retryable,
        TakaraSyncError,
        TemplateRejected,
        TooManyChanges,
        Unauthorized,
        Unreadable,
        Untrusted,
        WrongName,
    )
    from takara_sync.kube.cluster import KubeCluster
    from takara_sync.objects import Deployment, Key, Pod, Snapshot, Takara
    from takara_sync.plan import Apply, Block, Create, Decision, Keep, Plan, Policy
    from takara_sync.progress import Progress
    from takara_sync.report import Exit, Outcome, Report, Result
    from takara_sync.sync import plan_once, sync_once

_HOMES = {
    "cluster": ("Cluster", "DryRun"),
    "conditions": ("Reason",),
    "deadline": ("Deadline",),
    "diff": ("Change",),
    "errors": (
        "TakaraSyncError",
        "ConfigurationError",
        "PassStopped",
        "Unreadable",
        "Unauthorized",
        "Untrusted",
        "WrongName",
        "CutShort",
        "TooManyChanges",
        "ObjectError",
        "Conflict",
        "NotFound",
        "Rejected",
        "DeniedOnAdmission",
        "TemplateRejected",
        "Retryable",
        "InternalError",
        "ApiNotServed",
    ),
    "kube.cluster": ("KubeCluster",),
    "objects": ("Deployment", "Key", "Pod", "Snapshot", "Takara"),
    "plan": ("Apply", "Block", "Create", "Decision", "Keep", "Plan", "Policy"),
    "progress": ("Progress",),
    "report": ("Exit", "Outcome", "Report", "Result"),
    "sync": ("plan_once", "sync_once"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - the most important names come first
    "sync_once",
    "plan_once",
    "Policy",
    "KubeCluster",
    "DryRun",
    "Deadline",
    "Cluster",
    "Report",
    "Outcome",
    "Result",
    "Reason",
    "Change",
    "Exit",
    "Plan",
    "Decision",
    "Create",
    "Apply",
    "Keep",
    "Block",
    "Snapshot",
    "Takara",
    "Deployment",
    "Pod",
    "Key",
    "Progress",
    "TakaraSyncError",
    "ConfigurationError",
    "PassStopped",
    "Unreadable",
    "Unauthorized",
    "Untrusted",
    "WrongName",
    "CutShort",
    "TooManyChanges",
    "ObjectError",
    "Conflict",
    "NotFound",
    "Rejected",
    "DeniedOnAdmission",
    "TemplateRejected",
    "Retryable",
    "InternalError",
    "ApiNotServed",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - as for `typing`

    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
