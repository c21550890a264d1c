"""`takara-sync check`: the server, the API, the rights of a pass, the admission policy, and the installed copies."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from takara_sync.cli.connect import api_of
from takara_sync.cli.fenced import RESTRICTED, proofs
from takara_sync.cli.findings import Proof, missing_namespaces, unclear_pauses
from takara_sync.cli.installed import leftovers
from takara_sync.cli.render import fitted, show, style
from takara_sync.cli.screen import screen
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.errors import ApiNotServed, ObjectError, PassStopped, Unreadable
from takara_sync.kube.api import Api
from takara_sync.kube.cluster import INSTALL_CRD
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

_NOT_ALLOWED = "not allowed; bind the ClusterRole takara-sync, which takara-sync manifests prints, to this user"
_NO_NAMESPACE = "it does not exist. Correct -n, or create it."
_HINT = "Is the API server up, and is its address in the kubeconfig right?"
_NO_SERVER = "The response is not from an API server"
UNRESTRICTED = Right("update", GROUP, PLURAL, "fence")
"""Who has it is not restricted by the admission policy: wildcard roles have it."""
TEMPLATES = Right("use", GROUP, PLURAL, "template")
"""Where it is granted, the admission policy allows any pod template."""

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
    version, found, error = "", tuple[Proof, ...](), None
    try:
        version, found = _checks(api, deadline, settings)
        found += tuple(leftovers(api, deadline))
    except PassStopped as stopped:
        error = stopped
        log.error("the check stopped: %s", error, extra={"reported": True})  # noqa: TRY400 - an expected error needs no traceback
    screen().finish()
    checks = tuple(CheckedDocument(one.what, one.ok, one.detail) for one in found if one.ok is not None)
    unknown = tuple(NotCheckedDocument(one.what, one.detail) for one in found if one.ok is None)
    code = Exit(error.exit_code) if error else Exit.OK if all(check.ok for check in checks) else Exit.FAILED
    document = CheckDocument("takara-sync/check/v1", int(code), error_document(error), version, checks, unknown)
    show(document, settings.output, _lines(document, api.source), error)
    return code


def _checks(api: Api, deadline: Deadline, settings: Settings) -> tuple[str, tuple[Proof, ...]]:
    """The server's version and every check. Raises PassStopped if the server cannot be read."""
    version = server_version(api, deadline)
    try:
        missing = missing_namespaces(api, deadline, settings.namespace)
        places = [namespace for namespace in settings.namespace or ("",) if namespace not in missing]
        found = [_served(api, deadline)]
        found += [Proof(f"namespace {name}", ok=False, detail=_NO_NAMESPACE) for name in missing]
        rights = rights_of(places, settings.last_pass) if places else []
        with ThreadPoolExecutor(settings.concurrency, "takara-sync") as pool:
            checks = tuple(pool.map(lambda each: _right(api, deadline, *each), rights))
            complete = all(check.ok for check in checks)
            fence = pool.map(lambda each: _fence(api, deadline, each, settings, complete=complete), places)
            checks += tuple(chain(*fence))
        pauses = unclear_pauses(api, deadline, places) if places else []
        return version, (*found, *checks, *(Proof(what, ok=False, detail=detail) for what, detail in pauses))
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
        found = pool.map(lambda each: _right(api, deadline, each[0], each[1], account), rights)
        return tuple(CheckedDocument(one.what, bool(one.ok), one.detail) for one in found)


def _served(api: Api, deadline: Deadline) -> Proof:
    what = f"{PLURAL}.{GROUP}/v1alpha1 is served"
    try:
        api.send(Request("GET", f"/apis/{GROUP}/v1alpha1"), deadline)
    except ApiNotServed:
        return Proof(what, ok=False, detail=INSTALL_CRD)
    return Proof(what, ok=True)


def _right(api: Api, deadline: Deadline, right: Right, namespace: str, account: tuple[str, str] | None = None) -> Proof:
    resource = "/".join(filter(None, (right.resource, right.subresource, right.name)))
    where = f"namespace {namespace}" if namespace else "all namespaces"
    what = f"may {right.verb} {'.'.join(filter(None, (resource, right.group)))} in {where}"
    if _allowed(api, deadline, right, namespace, account):
        return Proof(what, ok=True)
    optional = _OPTIONAL.get(right._replace(name=""))
    return Proof(what, optional is not None, optional or _NOT_ALLOWED)


def _allowed(
    api: Api, deadline: Deadline, right: Right, namespace: str, account: tuple[str, str] | None = None
) -> bool:
    """https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access"""
    kind = "SubjectAccessReview" if account else "SelfSubjectAccessReview"
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": kind,
        "spec": {"resourceAttributes": right._asdict() | {"namespace": namespace}} | _subject(account),
    }
    request = Request("POST", f"/apis/authorization.k8s.io/v1/{kind.lower()}s", body=body)
    review = msgspec.json.decode(api.send(request, deadline), type=dict[str, Any])
    return bool(review["status"]["allowed"])


def _subject(account: tuple[str, str] | None) -> dict[str, Any]:
    """https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/ has the names of the groups."""
    if account is None:
        return {}
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{account[0]}", "system:authenticated"]
    return {"user": f"system:serviceaccount:{':'.join(account)}", "groups": groups}


def _fence(api: Api, deadline: Deadline, namespace: str, settings: Settings, *, complete: bool) -> tuple[Proof, ...]:
    """Whether the admission policy restricts these credentials. complete: whether no right is missing."""
    place = namespace or "default"  # the rights are the same in every namespace
    if not complete:
        return (Proof(RESTRICTED.format(place), None, "grant the missing rights first"),)
    if _allowed(api, deadline, UNRESTRICTED, place):
        why = f"it does not restrict users who may update {PLURAL}/fence; check as the ServiceAccount of takara-sync"
        return (Proof(RESTRICTED.format(place), None, why),)
    templates = (_right(api, deadline, TEMPLATES, namespace),) if settings.allow_templates else ()
    return (*templates, *proofs(api, deadline, place))


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
