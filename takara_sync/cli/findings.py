"""What `check` finds beside the rights: namespaces that do not exist, and pauses that are unclear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from takara_sync.deadline import Deadline
from takara_sync.errors import NotFound, ObjectError, Unreadable
from takara_sync.kube.api import Api
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.response import Request
from takara_sync.objects import PAUSED_ANNOTATION


class Proof(NamedTuple):
    """What was found. ok: None if these credentials cannot find it out; the detail says why."""

    what: str
    ok: bool | None
    detail: str = ""


def missing_namespaces(api: Api, deadline: Deadline, namespaces: Sequence[str]) -> list[str]:
    """Those that do not exist. Who may not read a namespace does not learn this. Raises PassStopped."""
    return [namespace for namespace in namespaces if _is_missing(api, deadline, namespace)]


def _is_missing(api: Api, deadline: Deadline, namespace: str) -> bool:
    try:
        api.send(Request("GET", f"/api/v1/namespaces/{namespace}"), deadline)
    except NotFound:
        return True
    except ObjectError:
        return False
    return False


def unclear_pauses(api: Api, deadline: Deadline, namespaces: Sequence[str]) -> list[tuple[str, str]]:
    """Each Takara whose annotation is neither true nor false, with what to do. Without the right to list them: none."""
    try:
        found = KubeCluster(api, namespaces=namespaces).takaras(deadline).items
    except Unreadable:  # the right is one of those that are checked
        return []
    return [(f"a clear {PAUSED_ANNOTATION} on {each.key}", each.unclear_pause) for each in found if each.unclear_pause]
