"""takara-sync: every Takara's Deployment at its declared size, in a single pass.

    from takara_sync import KubeCluster, Policy, sync_once

    report = sync_once(KubeCluster.connect(), Policy(max_size=100))
    report.raise_for_failure()

As a library it installs no handler, changes no logger (its own is named `takara_sync`) and never exits. Only
`KubeCluster.connect` looks into the environment, for the credentials. What is named here is loaded when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from takara_sync.cluster import Cluster, Deadline, DryRun
    from takara_sync.kube.cluster import KubeCluster
    from takara_sync.objects import Deployment, Key, Pod, Snapshot, Takara
    from takara_sync.plan import Apply, Block, Create, Decision, Keep, Plan, Policy
    from takara_sync.report import Exit, Outcome, Report
    from takara_sync.sync import plan_once, sync_once

_HOMES = {
    "cluster": ("Cluster", "Deadline", "DryRun"),
    "kube.cluster": ("KubeCluster",),
    "objects": ("Deployment", "Key", "Pod", "Snapshot", "Takara"),
    "plan": ("Apply", "Block", "Create", "Decision", "Keep", "Plan", "Policy"),
    "report": ("Exit", "Outcome", "Report"),
    "sync": ("plan_once", "sync_once"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order a reader meets them
    "sync_once",
    "plan_once",
    "Policy",
    "KubeCluster",
    "DryRun",
    "Deadline",
    "Cluster",
    "Report",
    "Outcome",
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
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
