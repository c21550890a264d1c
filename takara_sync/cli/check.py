"""`takara-sync check`: the server, the API and the rights that a pass needs."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec
from msgspec import Struct

from takara_sync.cli.connect import api_of
from takara_sync.cli.documents import CheckDocument, CheckedDocument
from takara_sync.cli.render import style_of
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cluster import Deadline
from takara_sync.errors import ObjectError, Unreadable, Vanished
from takara_sync.kube.answers import Request
from takara_sync.kube.api import Api
from takara_sync.objects import GROUP, PLURAL
from takara_sync.reasons import one_line
from takara_sync.report import Exit


class Right(NamedTuple):
    verb: str
    group: str
    resource: str
    subresource: str = ""


RIGHTS = (
    Right("get", GROUP, PLURAL),
    Right("list", GROUP, PLURAL),
    Right("patch", GROUP, PLURAL, "status"),
    Right("update", GROUP, PLURAL, "finalizers"),  # blockOwnerDeletion, where clusters enforce it
    Right("get", "apps", "deployments"),
    Right("list", "apps", "deployments"),
    Right("create", "apps", "deployments"),
    Right("patch", "apps", "deployments"),
    Right("list", "", "pods"),
)
"""Exactly what a pass needs; k8s/base grants these and no more."""


class _Version(Struct, frozen=True, rename="camel"):
    git_version: str = ""


class _ReviewStatus(Struct, frozen=True):
    allowed: bool = False


class _Review(Struct, frozen=True):
    status: _ReviewStatus = _ReviewStatus()


def run(settings: Settings, stop: Stop) -> Exit:
    """Print what was found; 1 where something is missing.

    Raises:
        ConfigurationError: there are no usable credentials.
        Unreadable: the server cannot be asked.
    """
    api = api_of(settings, stop)
    deadline = Deadline(settings.pass_timeout)
    stop.watch(deadline)
    try:
        version = msgspec.json.decode(api.send(Request("GET", "/version"), deadline), type=_Version).git_version
        places = settings.namespace or ("",)
        asked = [(right, place) for place in places for right in RIGHTS]
        with ThreadPoolExecutor(settings.concurrency, "takara-sync") as pool:
            rights = list(pool.map(lambda each: _right(api, deadline, *each), asked))
        checks = (_served(api, deadline), *rights)
    except ObjectError as error:
        raise Unreadable(error.message, "Is the API server up, and is its address in the kubeconfig right?") from error
    except msgspec.MsgspecError as error:
        raise Unreadable(f"The server's answer is none of an API server: {error}", "Check its address.") from error
    code = Exit.OK if all(check.ok for check in checks) else Exit.FAILED
    _print(CheckDocument("takara-sync/check/v1", int(code), version, checks), settings.output)
    return code


def _served(api: Api, deadline: Deadline) -> CheckedDocument:
    what = f"{PLURAL}.{GROUP}/v1alpha1 is served"
    try:
        api.send(Request("GET", f"/apis/{GROUP}/v1alpha1"), deadline)
    except Vanished:
        return CheckedDocument(what, ok=False, detail="install the CRD: kubectl apply -k k8s/crd")
    return CheckedDocument(what, ok=True)


def _right(api: Api, deadline: Deadline, right: Right, namespace: str) -> CheckedDocument:
    """https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/"""
    attributes = {"verb": right.verb, "group": right.group, "resource": right.resource}
    if right.subresource:
        attributes["subresource"] = right.subresource
    if namespace:
        attributes["namespace"] = namespace
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    request = Request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=body)
    allowed = msgspec.json.decode(api.send(request, deadline), type=_Review).status.allowed
    resource = "/".join(part for part in (right.resource, right.subresource) if part)
    qualified = f"{resource}.{right.group}" if right.group else resource
    where = f"in namespace {namespace}" if namespace else "in all namespaces"
    detail = "" if allowed else "not allowed; bind the Role or ClusterRole of k8s/base"
    return CheckedDocument(f"may {right.verb} {qualified} {where}", ok=allowed, detail=detail)


def _print(document: CheckDocument, output: str) -> None:
    if output == "json":
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        style = style_of(sys.stdout)
        sys.stdout.write(f"server: {one_line(document.server)}\n")
        for check in document.checks:
            verdict = style("ok     ", "green") if check.ok else style("missing", "red")
            detail = f": {check.detail}" if check.detail else ""
            sys.stdout.write(f"{verdict}  {check.what}{detail}\n")
    sys.stdout.flush()
