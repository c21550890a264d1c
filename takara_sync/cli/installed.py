"""`takara-sync check`: the installed copies, and what a switch of mode, scope or name left behind.

It reads with the rights of the caller. What the caller may not read is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import msgspec

from takara_sync.cli.findings import Proof
from takara_sync.deadline import Deadline
from takara_sync.errors import ObjectError
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request

Json = dict[str, Any]

_OURS = (("labelSelector", "app.kubernetes.io/name=takara-sync"),)
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_POLICY_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


class Copy(NamedTuple):
    """An installed takara-sync. namespaces: of its Takaras; empty means all. runs: whether it is not suspended."""

    name: str
    home: str
    account: str
    namespaces: tuple[str, ...]
    image: str = ""
    runs: bool = True

    def shares_with(self, other: Copy) -> bool:
        """Whether both keep Takaras of one namespace."""
        all_of_one = not self.namespaces or not other.namespaces
        return all_of_one or not set(self.namespaces).isdisjoint(other.namespaces)


def leftovers(api: Api, deadline: Deadline) -> Iterator[Proof]:
    """Each check of the installed copies; none where takara-sync is not installed.

    Raises:
        PassStopped: the server cannot be reached.
    """
    what = "one installed copy keeps each namespace"
    try:
        every = [copy_of(each) for path in _WORKLOADS for each in _list(api, deadline, path, _OURS)]
    except ObjectError as error:
        yield Proof(what, None, error.message)
        return
    found = [copy for copy in every if copy.runs]
    if not found:
        return
    twice = [f"{one.name} and {other.name}" for one, other in combinations(found, 2) if one.shares_with(other)]
    yield Proof(what, not twice, f"{'; '.join(twice)} keep the same Takaras: delete one of them" if twice else "")
    yield _rights(api, deadline, found)
    yield _policies(api, deadline, found)


_WORKLOADS = ("/apis/batch/v1/cronjobs", "/apis/apps/v1/deployments")


def _list(api: Api, deadline: Deadline, path: str, query: tuple[tuple[str, str], ...] = ()) -> list[Json]:
    body = msgspec.json.decode(api.send(Request("GET", path, query), deadline), type=Json)
    return body.get("items") or []


def copy_of(one: Json) -> Copy:
    """The copy that this CronJob or Deployment runs."""
    spec = one["spec"]
    kind, job = ("CronJob", spec["jobTemplate"]["spec"]) if "jobTemplate" in spec else ("Deployment", spec)
    pod, name, home = job["template"]["spec"], one["metadata"]["name"], one["metadata"]["namespace"]
    arguments = [argument for container in pod["containers"] for argument in container.get("args") or ()]
    named = [argument.removeprefix("--namespace=") for argument in arguments if argument.startswith("--namespace=")]
    namespaces = tuple(name for each in named for name in each.split(","))
    image, runs = pod["containers"][0].get("image", ""), not spec.get("suspend") and spec.get("replicas", 1) > 0
    return Copy(f"{kind} {home}/{name}", home, pod.get("serviceAccountName", "default"), namespaces, image, runs)


def _rights(api: Api, deadline: Deadline, copies: Sequence[Copy]) -> Proof:
    """Whether every binding of an account of ours is one that its copy needs."""
    what = "the accounts of takara-sync have the rights of their mode and no more"
    try:
        bindings = [
            each for kind in ("clusterrolebindings", "rolebindings") for each in _list(api, deadline, f"{_RBAC}/{kind}")
        ]
    except ObjectError as error:
        return Proof(what, None, error.message)
    odd = sorted(_called(each) for each in bindings if not _is_needed(each, copies))
    return Proof(what, not odd, f"not needed, delete it: {', '.join(odd)}" if odd else "")


def _is_needed(binding: Json, copies: Sequence[Copy]) -> bool:
    """A binding of others is not our business. One of ours needs a copy that works in this scope."""
    place = binding["metadata"].get("namespace")
    accounts = {(each.get("namespace", place), each["name"]) for each in binding.get("subjects") or ()}
    using = [copy for copy in copies if (copy.home, copy.account) in accounts]
    ours = (binding["metadata"].get("labels") or {}).get("app.kubernetes.io/name") == "takara-sync"
    if not ours:
        return not using
    return any(not copy.namespaces if place is None else place in (copy.home, *copy.namespaces) for copy in using)


def _called(binding: Json) -> str:
    place = binding["metadata"].get("namespace")
    name = binding["metadata"]["name"]
    return f"RoleBinding {name} in namespace {place}" if place else f"ClusterRoleBinding {name}"


def _policies(api: Api, deadline: Deadline, copies: Sequence[Copy]) -> Proof:
    """Whether each copy has both admission policies, and each denies."""
    what = "the admission policies are there and deny"
    try:
        policies = {each["metadata"]["name"]: each for each in _list(api, deadline, _POLICIES)}
        bindings = _list(api, deadline, _POLICY_BINDINGS)
    except ObjectError as error:
        return Proof(what, None, error.message)
    wanted = {name for copy in copies for name in (copy.account, copy.account.replace("-sync", "-template"))}
    closed = {each["spec"]["policyName"] for each in bindings if _denies(each)}
    strict = {name for name, each in policies.items() if each["spec"].get("failurePolicy", "Fail") == "Fail"}
    odd = sorted(wanted - (closed & strict))
    return Proof(what, not odd, f"missing or open: {', '.join(odd)}; apply the manifests again" if odd else "")


def _denies(binding: Json) -> bool:
    """Whether the binding denies everywhere: without a selector of its own."""
    spec = binding["spec"]
    matches = {key: value for key, value in spec.get("matchResources", {}).items() if key != "matchPolicy" and value}
    return "Deny" in spec.get("validationActions", ()) and not matches and "paramRef" not in spec
