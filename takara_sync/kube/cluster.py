"""The real cluster: each method builds a request, sends it and decodes the response."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import structs

from takara_sync.deadline import Deadline
from takara_sync.desired import Manifest, selector_text
from takara_sync.errors import (
    ApiNotServed,
    Conflict,
    CutShort,
    NotFound,
    ObjectError,
    Retryable,
    Unreadable,
    WrongName,
)
from takara_sync.kube import decode
from takara_sync.kube.api import Api
from takara_sync.kube.response import APPLY, FORBIDDEN_HINT, JSON_PATCH, Expired, Request
from takara_sync.objects import (
    API_VERSION,
    FIELD_MANAGER,
    GROUP,
    PLURAL,
    Deployment,
    Key,
    Listing,
    ManagedFieldsEntry,
    OwnerReference,
    Pod,
    PodDetail,
    PodItem,
    Takara,
)
from takara_sync.progress import Progress
from takara_sync.text import some

log = logging.getLogger("takara_sync")

T = TypeVar("T")
W = TypeVar("W")
Query = tuple[tuple[str, str], ...]

PAGE = 500
_PAGE_BYTES = 16 * 2**20
"""The size that a page should not exceed; the size of the last page decides on the limit of the next one."""
_RESTARTS = 3
_OURS = (("labelSelector", "app=takara"),)
_RUNNING = ("status.phase!=Failed", "status.phase!=Succeeded")
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
_ADOPTER = "takara-sync-adopt"
"""The field manager of `adopt`, which acts for a person: the managedFields say that and when it adopted."""
_FORCE = ("force", "true")

# A valid resourceVersion that is never the current one: the apply creates, or gets 409 Conflict.
# Without it a slow pass could write its old size to a Deployment that another pass created in the meantime.
_CREATE_ONLY = "1"


INSTALL_CRD = "Install the CRD: takara-sync manifests | kubectl apply --server-side -l '!app.kubernetes.io/name' -f -"
"""Everything else that is installed has this label."""


def _as_it_is(item: Any) -> Any:
    return item


class _Resource(NamedTuple, Generic[W, T]):
    """A resource of the API. kind: the struct of an object. lists: the kinds of a list. keep: what is kept of each."""

    root: str
    plural: str
    kind: type[W]
    lists: tuple[str, ...]
    accept: str = "application/json"
    keep: Callable[[W], T] = _as_it_is

    def path(self, namespace: str | None, name: str = "") -> str:
        """The path of one object, or of the list of a namespace, or of all namespaces."""
        place = "" if namespace is None else f"/namespaces/{quote(namespace, safe='')}"
        return f"{self.root}{place}/{self.plural}{'/' if name else ''}{quote(name, safe='')}"


_DEPLOYMENTS = _Resource[Deployment, Deployment]("/apis/apps/v1", "deployments", Deployment, ("DeploymentList",))
_TAKARAS = _Resource[Takara, Takara](f"/apis/{API_VERSION}", PLURAL, Takara, ("TakaraList",))
_PODS = _Resource[PodItem, Pod](
    "/api/v1", "pods", PodItem, ("PartialObjectMetadataList", "PodList"), _METADATA_ONLY, PodItem.pod
)
_POD_DETAILS = _Resource[PodDetail, PodDetail]("/api/v1", "pods", PodDetail, ("PodList",))


class KubeCluster:
    """A cluster with a real API server. One object works for any number of passes, from any thread.

    namespaces: send requests only for these namespaces; empty means all. without: leave out these. selector: a label
    selector for Takaras. names: only these Takaras, each NAME or NAMESPACE/NAME; empty means all. It changes no number
    of requests.
    server_dry_run: send each write as a dry run; the server validates it and stores nothing.
    progress: is told about each page of a list.
    """

    def __init__(
        self,
        api: Api,
        *,
        namespaces: Sequence[str] = (),
        without: Sequence[str] = (),
        selector: str = "",
        names: Sequence[str] = (),
        server_dry_run: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._api = api
        self._namespaces = tuple(sorted(set(namespaces)))
        self._fields = tuple(f"metadata.namespace!={name}" for name in without)
        self._selector = selector
        self._names = tuple(dict.fromkeys(names))
        self._progress = progress
        self._write_query = (("dryRun", "All"),) if server_dry_run else ()

    @classmethod
    def connect(
        cls, kubeconfig: str | os.PathLike[str] | None = None, context: str | None = None, **options: Any
    ) -> KubeCluster:
        """A cluster with the same credentials as kubectl: see `kube.connection`.

        kubeconfig: a path. context: a context in it. options: the arguments of the class.

        Raises:
            ConfigurationError: there are no usable credentials.
        """
        return cls(Api.connect(kubeconfig, context), **options)

    @property
    def dry_run(self) -> bool:
        """Whether the server stores no writes."""
        return bool(self._write_query)

    # -------------------------------------------------------------- lists

    def deployments(self, deadline: Deadline) -> Listing[Deployment]:
        """Every Deployment with the label app=takara. Raises PassStopped."""
        return self._lists(_DEPLOYMENTS, _OURS, deadline)

    def takaras(self, deadline: Deadline) -> Listing[Takara]:
        """Every Takara of the namespaces and the selector, or those of the names.

        Raises:
            WrongName: a name means no Takara, or several. Other PassStopped.
        """
        query = (("labelSelector", self._selector),) if self._selector else ()
        found = self._lists(_TAKARAS, query, deadline)
        return named(found, self._names) if self._names else found

    def pods(self, deadline: Deadline) -> Listing[Pod]:
        """Every pod with the label app=takara that is not Succeeded or Failed. Raises PassStopped."""
        return self._lists(_PODS, _OURS, deadline, _RUNNING)

    def _lists(
        self, resource: _Resource[W, T], query: Query, deadline: Deadline, fields: Sequence[str] = ()
    ) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        if fields := (*fields, *self._fields):
            query = (*query, ("fieldSelector", ",".join(fields)))
        for namespace in self._namespaces or (None,):
            request = Request("GET", resource.path(namespace), query=query, accept=resource.accept)
            try:
                found = self._whole_list(resource, request, deadline)
            except ObjectError as error:
                raise _unreadable(resource.plural, namespace, error) from error
            except CutShort as cut:
                # The server did not respond before the deadline, unless somebody stopped the pass.
                if isinstance(cut.__cause__, Retryable) and not deadline.stopped:
                    raise _unreadable(resource.plural, namespace, cut.__cause__) from cut
                raise
            items += found.items
            unread |= found.unread
        for key, why in unread.items():
            log.warning("%s %s is left out: %s", resource.lists[-1].removesuffix("List"), key, why)
        return Listing(tuple(items), unread)

    def _whole_list(self, resource: _Resource[W, T], request: Request, deadline: Deadline) -> Listing[T]:
        """All pages. After an expired continue token the list starts again, so that all pages show the same state."""
        for _ in range(_RESTARTS):
            try:
                return self._pages(resource, request, deadline)
            except Expired as expired:
                log.debug("%s starts again: %s", request, expired)
                last = expired
        raise last

    def _pages(self, resource: _Resource[W, T], request: Request, deadline: Deadline) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        token, seen, limit = "", set[str](), PAGE
        while True:
            paging = (("limit", str(limit)),) + ((("continue", token),) if token else ())
            body = self._api.send(structs.replace(request, query=request.query + paging), deadline)
            found, token = decode.page(body, resource.kind, resource.lists, len(items) + len(unread))
            items += map(resource.keep, found.items)
            unread |= found.unread
            if self._progress is not None:
                done, left = len(items) + len(unread), decode.left_out(body)
                self._progress(f"listing {resource.plural}", done, None if left is None else done + left)
            if not token:
                return Listing(tuple(items), unread)
            if token in seen:
                raise Unreadable(f"{request} gave the same continue token twice")
            seen.add(token)
            limit = max(1, min(PAGE, _PAGE_BYTES * limit // len(body)))
            del body  # else it is in memory together with the next page

    def pods_of(self, key: Key, deadline: Deadline) -> tuple[PodDetail, ...]:
        """The first pods of one Takara, with their status: one request, one try. Raises ObjectError, PassStopped."""
        query = (("labelSelector", selector_text(key.name)), _RUNNING, ("limit", str(PAGE)))
        request = Request("GET", _POD_DETAILS.path(key.namespace), query)
        body = self._api.send(request, deadline, tries=1)
        return decode.page(body, PodDetail, _POD_DETAILS.lists)[0].items

    # -------------------------------------------------------------- single objects

    def deployment(self, key: Key, deadline: Deadline) -> Deployment | None:
        """One Deployment by name; None if it does not exist. Raises ObjectError, PassStopped."""
        return self._get(_DEPLOYMENTS, key, deadline)

    def takara(self, key: Key, deadline: Deadline) -> Takara | None:
        """One Takara by name; None if it does not exist. Raises ObjectError, PassStopped."""
        return self._get(_TAKARAS, key, deadline)

    def _get(self, resource: _Resource[W, Any], key: Key, deadline: Deadline) -> W | None:
        try:
            return decode.single(self._api.send(Request("GET", resource.path(*key)), deadline), resource.kind, key)
        except NotFound:
            return None

    # -------------------------------------------------------------- writes

    def create(self, manifest: Manifest, deadline: Deadline) -> Deployment:
        """Create a Deployment by an apply that can only create.

        Raises:
            Conflict: it exists. NotFound: the namespace is missing or terminating. Other ObjectErrors, PassStopped.
        """
        metadata = manifest["metadata"]
        create_only = manifest | {"metadata": metadata | {"resourceVersion": _CREATE_ONLY}}
        return self._patch(_DEPLOYMENTS, Key(metadata["namespace"], metadata["name"]), create_only, deadline)

    def apply(self, deployment: Deployment, manifest: Manifest, deadline: Deadline) -> Deployment:
        """Apply with force, only to the version of the Deployment that was read.

        Raises:
            Conflict: it changed, or does not exist any more. Other ObjectErrors, PassStopped.
        """
        return self._patch_existing(deployment, manifest, deadline)

    def take_over(
        self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry], deadline: Deadline
    ) -> Deployment:
        """Replace the managedFields, only in the version of the Deployment that was read.

        Raises:
            Conflict: it changed, or does not exist any more. Other ObjectErrors, PassStopped.
        """
        entries = [msgspec.json.decode(msgspec.json.encode(entry)) for entry in managed_fields]  # fieldsV1 is raw JSON
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": deployment.uid},
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": deployment.metadata.resource_version},
        ]
        return self._patch_existing(deployment, patch, deadline)

    def set_owners(self, deployment: Deployment, owners: Sequence[OwnerReference], deadline: Deadline) -> Deployment:
        """Replace the owner references, only in the version of the Deployment that was read. No pass does this.

        Raises:
            Conflict: it changed, or does not exist any more. Other ObjectErrors, PassStopped.
        """
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": deployment.uid},
            {"op": "test", "path": "/metadata/resourceVersion", "value": deployment.metadata.resource_version},
            {"op": "add", "path": "/metadata/ownerReferences", "value": msgspec.to_builtins(owners)},
        ]
        return self._patch_existing(deployment, patch, deadline, _ADOPTER)

    def write_status(self, takara: Takara, patch: Sequence[dict[str, Any]], deadline: Deadline) -> None:
        """Send a JSON patch to the status.

        Raises:
            Conflict: the Takara changed since the read. NotFound: it does not exist. Other ObjectErrors, PassStopped.
        """
        self._patch(_TAKARAS, takara.key, list(patch), deadline, "/status")

    def send_event(self, event: Manifest, deadline: Deadline) -> None:
        """Create an Event: one request, and one try.

        Raises:
            Conflict: it exists. NotFound: the namespace is missing or terminating. Other ObjectErrors, PassStopped.
        """
        path = f"/apis/events.k8s.io/v1/namespaces/{quote(event['metadata']['namespace'], safe='')}/events"
        self._api.send(Request("POST", path, (("fieldManager", FIELD_MANAGER),), event), deadline, tries=1)

    def _patch_existing(
        self, deployment: Deployment, body: object, deadline: Deadline, manager: str = FIELD_MANAGER
    ) -> Deployment:
        """Raises ObjectError without a resourceVersion: the write would not be bound to the version that was read."""
        if not deployment.metadata.resource_version:
            raise ObjectError(f"Deployment {deployment.key} came without a resourceVersion", "Is this an API server?")
        try:
            return self._patch(_DEPLOYMENTS, deployment.key, body, deadline, manager=manager)
        except NotFound as error:  # deleted since it was read
            raise Conflict(error.message) from error

    def _patch(
        self,
        resource: _Resource[W, Any],
        key: Key,
        body: object,
        deadline: Deadline,
        subresource: str = "",
        manager: str = FIELD_MANAGER,
    ) -> W:
        """An apply if `body` is a manifest, a JSON patch if it is a list. Returns the object in the response."""
        applies = isinstance(body, dict)
        query = (("fieldManager", manager), *((_FORCE,) if applies else ()), *self._write_query)
        kind = APPLY if applies else JSON_PATCH
        request = Request("PATCH", resource.path(*key) + subresource, query, body, kind)
        return decode.single(self._api.send(request, deadline, tries=1), resource.kind, key)  # a proxy may respond


def named(found: Listing[Takara], names: Sequence[str]) -> Listing[Takara]:
    """The Takaras with these names, each NAME or NAMESPACE/NAME.

    Raises:
        WrongName: a name means no Takara, or Takaras in several namespaces.
    """
    keys = [takara.key for takara in found.items] + list(found.unread)
    wanted = set[Key]()
    for name in names:
        meant = [key for key in keys if name in (str(key), key.name)]
        if not meant:
            near = get_close_matches(name, {text for key in keys for text in (str(key), key.name)}, 1)
            raise WrongName(f"There is no Takara {name}", f"Did you mean {near[0]}?" if near else "")
        if len(meant) > 1:
            raise WrongName(f"{name} is more than one Takara: {some(meant)}", "Name one of them, or give -n NAMESPACE.")
        wanted.update(meant)
    items = tuple(takara for takara in found.items if takara.key in wanted)
    return Listing(items, {key: why for key, why in found.unread.items() if key in wanted})


def _unreadable(resource: str, namespace: str | None, error: ObjectError) -> Unreadable:
    """The error that ends the pass after a failed list."""
    where = "all namespaces" if namespace is None else f"namespace {namespace}"
    message, hint = f"Cannot list {resource} in {where}: {error.message}", error.hint
    if hint == FORBIDDEN_HINT and namespace is None:
        hint = f"Grant the right to list {resource} everywhere, or name the namespaces that you may read: -n NAMESPACE."
    if isinstance(error, NotFound | ApiNotServed) and resource == PLURAL:
        message = f"The server does not serve Takaras ({GROUP}/v1alpha1)"
        hint = INSTALL_CRD
    return Unreadable(message, hint)
