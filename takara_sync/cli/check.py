"""`takara-sync check`: the server, the API and the rights that a pass needs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec
from msgspec import Struct

from takara_sync.cli.connect import api_of
from takara_sync.cli.documents import CheckDocument, CheckedDocument
from takara_sync.cli.output import json_line, write
from takara_sync.cli.render import fitted, style_of
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cluster import Deadline
from takara_sync.errors import ObjectError, PassStopped, Unreadable
from takara_sync.kube.answers import NotServed, Request
from takara_sync.kube.api import Api
from takara_sync.objects import GROUP, PLURAL
from takara_sync.reasons import one_line
from takara_sync.report import Exit, error_document

log = logging.getLogger("takara_sync")


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
    """Print what was found; 1 where something is missing, 3 where the server cannot be asked.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    api = api_of(settings, stop)
    deadline = Deadline(settings.pass_timeout)
    stop.watch(deadline)
    version, error = "", None
    checks: tuple[CheckedDocument, ...] = ()
    try:
        version, checks = _looked_at(api, deadline, settings)
        code = Exit.OK if all(check.ok for check in checks) else Exit.FAILED
    except PassStopped as stopped:
        error = stopped
        log.error("the check stopped: %s", error)  # noqa: TRY400 - an expected error has no use for a traceback
        code = Exit(error.exit_code)
    _print(CheckDocument("takara-sync/check/v1", int(code), error_document(error), version, checks), settings.output)
    return code


def _looked_at(api: Api, deadline: Deadline, settings: Settings) -> tuple[str, tuple[CheckedDocument, ...]]:
    """The server's version, and each thing that was looked at. Raises PassStopped where it cannot be asked."""
    hint = "Is the API server up, and is its address in the kubeconfig right?"
    asked = [(right, place) for place in settings.namespace or ("",) for right in RIGHTS]
    try:
        version = msgspec.json.decode(api.send(Request("GET", "/version"), deadline), type=_Version).git_version
        with ThreadPoolExecutor(settings.concurrency, "takara-sync") as pool:
            rights = pool.map(lambda each: _right(api, deadline, *each), asked)
            return version, (_served(api, deadline), *rights)
    except ObjectError as error:
        raise Unreadable(error.message, hint) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(f"The server's answer is none of an API server: {error}", hint) from error


def _served(api: Api, deadline: Deadline) -> CheckedDocument:
    what = f"{PLURAL}.{GROUP}/v1alpha1 is served"
    try:
        api.send(Request("GET", f"/apis/{GROUP}/v1alpha1"), deadline)
    except NotServed:
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
    write(json_line(document) + "\n" if output == "json" else "".join(_text(document)))


def _text(document: CheckDocument) -> Iterator[str]:
    style = style_of(sys.stdout)
    if document.server:
        yield f"server: {one_line(document.server)}\n"
    for check in document.checks:
        verdict = style("ok     ", "green") if check.ok else style("missing", "red")
        lines = fitted(f"{check.what}: {check.detail}" if check.detail else check.what, sys.stdout, indent=9)
        yield f"{verdict}  {lines}\n"
    if document.error is not None:
        yield one_line(f"error: {document.error.message}. {document.error.hint}") + "\n"
