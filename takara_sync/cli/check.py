"""`takara-sync check`: the server, the API, the rights that a pass needs, and the installed copies."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from takara_sync.cli.connect import api_of
from takara_sync.cli.installed import Proof, leftovers
from takara_sync.cli.render import fitted, show, style
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.errors import ApiNotServed, ObjectError, PassStopped, Unreadable
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from takara_sync.objects import GROUP, PLURAL
from takara_sync.report import ErrorDocument, Exit, error_document
from takara_sync.text import one_line

log = logging.getLogger("takara_sync")


class Right(NamedTuple):
    verb: str
    group: str
    resource: str
    subresource: str = ""
    name: str = ""


RIGHTS = (
    Right("get", GROUP, PLURAL),
    Right("list", GROUP, PLURAL),
    Right("patch", GROUP, PLURAL, "status"),
    Right("update", GROUP, PLURAL, "finalizers"),  # for blockOwnerDeletion, if the cluster enforces it
    Right("get", "apps", "deployments"),
    Right("list", "apps", "deployments"),
    Right("create", "apps", "deployments"),
    Right("patch", "apps", "deployments"),
    Right("list", "", "pods"),
    Right("create", "events.k8s.io", "events"),
)
"""The rights that a pass needs; k8s/base grants these and no more, and with --last-pass the next one."""

LAST_PASS = Right("patch", "", "configmaps")
"""Only for the one ConfigMap of --last-pass."""

_OPTIONAL = {
    Right("create", "events.k8s.io", "events"): "not allowed; passes send no Events",
    LAST_PASS: "not allowed; the last pass is not recorded",
}

_HINT = "Is the API server up, and is its address in the kubeconfig right?"
_NO_SERVER = "The response is not from an API server"

# ------------------------------------------------------------------ the form of -o json (docs/check.schema.json)


class CheckedDocument(Struct, frozen=True):
    """One check."""

    what: str
    ok: bool
    detail: str = ""


class NotCheckedDocument(Struct, frozen=True):
    """What these credentials cannot find out, and why."""

    what: str
    detail: str


class CheckDocument(Struct, frozen=True, rename="camel"):
    """Every check. `exit` is the exit code."""

    schema: Literal["takara-sync/check/v1"]
    exit: int
    error: ErrorDocument | None
    server: str
    checks: tuple[CheckedDocument, ...]
    not_checked: tuple[NotCheckedDocument, ...] = ()


# ------------------------------------------------------------------ the command


def run(settings: Settings, stop: Stop) -> Exit:
    """Print the checks; 1 if something is missing, 3 if the server cannot be read.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    api = api_of(settings, stop)
    deadline = stop.watch(Deadline(settings.pass_timeout))
    version, checks, error = "", tuple[CheckedDocument, ...](), None
    found: list[Proof] = []
    try:
        version, checks = _checks(api, deadline, settings)
        found = list(leftovers(api, deadline))
    except PassStopped as stopped:
        error = stopped
        log.error("the check stopped: %s", error)  # noqa: TRY400 - an expected error needs no traceback
    checks += tuple(CheckedDocument(one.what, one.ok, one.detail) for one in found if one.ok is not None)
    unknown = tuple(NotCheckedDocument(one.what, one.detail) for one in found if one.ok is None)
    code = Exit(error.exit_code) if error else Exit.OK if all(check.ok for check in checks) else Exit.FAILED
    document = CheckDocument("takara-sync/check/v1", int(code), error_document(error), version, checks, unknown)
    show(document, settings.output, _lines(document, api.source), error)
    return code


def _checks(api: Api, deadline: Deadline, settings: Settings) -> tuple[str, tuple[CheckedDocument, ...]]:
    """The server's version and every check. Raises PassStopped if the server cannot be read."""
    version = server_version(api, deadline)
    try:
        rights = check_rights(api, deadline, rights_of(settings.namespace, settings.last_pass), settings.concurrency)
        return version, (check_served(api, deadline), *rights)
    except ObjectError as error:
        raise Unreadable(error.message, _HINT) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(f"{_NO_SERVER}: {error}", _HINT) from error


def server_version(api: Api, deadline: Deadline) -> str:
    """The version of the server. Raises PassStopped."""
    try:
        version = msgspec.json.decode(api.send(Request("GET", "/version"), deadline), type=dict[str, Any])
    except ObjectError as error:
        raise Unreadable(error.message, _HINT) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(f"{_NO_SERVER}: {error}", _HINT) from error
    return str(version.get("gitVersion", ""))


def rights_of(namespaces: Sequence[str], last_pass: str | None) -> list[tuple[Right, str]]:
    """The rights that takara-sync needs, each with its namespace; "" is all of them."""
    found = [(right, namespace) for namespace in namespaces or ("",) for right in RIGHTS]
    home, _, name = (last_pass or "").partition("/")
    return [*found, (LAST_PASS._replace(name=name), home)] if name else found


def check_rights(
    api: Api,
    deadline: Deadline,
    rights: Sequence[tuple[Right, str]],
    workers: int,
    account: tuple[str, str] | None = None,
) -> tuple[CheckedDocument, ...]:
    """Ask for each right: for those of the caller, or of a ServiceAccount (namespace, name).

    Raises:
        ObjectError: the server does not answer this; most users may not ask about a ServiceAccount. PassStopped.
    """
    with ThreadPoolExecutor(workers, "takara-sync") as pool:
        return tuple(pool.map(lambda each: _right(api, deadline, each[0], each[1], account), rights))


def check_served(api: Api, deadline: Deadline) -> CheckedDocument:
    what = f"{PLURAL}.{GROUP}/v1alpha1 is served"
    try:
        api.send(Request("GET", f"/apis/{GROUP}/v1alpha1"), deadline)
    except ApiNotServed:
        return CheckedDocument(what, ok=False, detail="install the CRD: kubectl apply -k k8s/crd")
    return CheckedDocument(what, ok=True)


def _right(
    api: Api, deadline: Deadline, right: Right, namespace: str, account: tuple[str, str] | None
) -> CheckedDocument:
    """https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access"""
    kind = "SubjectAccessReview" if account else "SelfSubjectAccessReview"
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": kind,
        "spec": {"resourceAttributes": right._asdict() | {"namespace": namespace}} | _subject(account),
    }
    request = Request("POST", f"/apis/authorization.k8s.io/v1/{kind.lower()}s", body=body)
    review = msgspec.json.decode(api.send(request, deadline), type=dict[str, Any])
    resource = "/".join(filter(None, (right.resource, right.subresource, right.name)))
    where = f"namespace {namespace}" if namespace else "all namespaces"
    what = f"may {right.verb} {'.'.join(filter(None, (resource, right.group)))} in {where}"
    if review["status"]["allowed"]:
        return CheckedDocument(what, ok=True)
    optional = _OPTIONAL.get(right._replace(name=""))
    detail = optional or "not allowed; bind the Role or ClusterRole of k8s/base"
    return CheckedDocument(what, optional is not None, detail)


def _subject(account: tuple[str, str] | None) -> dict[str, Any]:
    """https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/ has the names of the groups."""
    if account is None:
        return {}
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{account[0]}", "system:authenticated"]
    return {"user": f"system:serviceaccount:{':'.join(account)}", "groups": groups}


def _lines(document: CheckDocument, source: str) -> Iterator[str]:
    """source: the kubeconfig, the context and its namespace, and the address."""
    if document.server:
        yield f"server: {one_line(document.server)}"
    yield fitted(f"using: {one_line(source)}", indent=0)
    for check in document.checks:
        result = style("ok     ", "green") if check.ok else style("missing", "red")
        yield f"{result}  {fitted(f'{check.what}: {check.detail}' if check.detail else check.what, indent=9)}"
    for each in document.not_checked:
        yield fitted(f"not checked: {each.what}: {each.detail}", indent=9)
