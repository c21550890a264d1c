"""The real cluster: each method builds a request, sends it and decodes the response."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import structs

from takara_sync.deadline import Deadline
from takara_sync.desired import Manifest
from takara_sync.errors import ApiNotServed, Conflict, CutShort, NotFound, ObjectError, Rejected, Retryable, Unreadable
from takara_sync.kube import decode
from takara_sync.kube.api import TRIES, Api
from takara_sync.kube.response import APPLY, JSON_PATCH, Expired, Request
from takara_sync.objects import (
    FIELD_MANAGER,
    GROUP,
    PLURAL,
    Deployment,
    Key,
    Listing,
    ManagedFieldsEntry,
    Pod,
    PodItem,
    Takara,
)

log = logging.getLogger("takara_sync")

T = TypeVar("T")
W = TypeVar("W")
Query = tuple[tuple[str, str], ...]

PAGE = 500
_PAGE_BYTES = 16 * 2**20
"""The size that a page should not exceed; the size of the last page decides on the limit of the next one."""
_RESTARTS = 3
_DEPLOYMENTS = "/apis/apps/v1"
_TAKARAS = f"/apis/{GROUP}/v1alpha1"
_OURS = (("labelSelector", "app=takara"),)
_RUNNING = ("fieldSelector", "status.phase!=Failed,status.phase!=Succeeded")
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
_PATCH_QUERY = (("fieldManager", FIELD_MANAGER),)
_APPLY_QUERY = (*_PATCH_QUERY, ("force", "true"))

# A valid resourceVersion that is never the current one: the apply creates, or gets 409 Conflict.
# Without it a slow pass could write its old size to a Deployment that another pass created in the meantime.
_CREATE_ONLY = "1"


def _as_it_is(item: Any) -> Any:
    return item


class _List(NamedTuple, Generic[W, T]):
    """A list to read. kind: the struct of an item. kinds: the expected kinds of the list. keep: what is kept of it."""

    base: str
    resource: str
    kind: type[W]
    kinds: tuple[str, ...]
    query: Query = ()
    accept: str = "application/json"
    keep: Callable[[W], T] = _as_it_is

    def request(self, namespace: str | None) -> Request:
        """The request for this namespace, or for all."""
        place = "" if namespace is None else f"/namespaces/{quote(namespace)}"
        return Request("GET", f"{self.base}{place}/{self.resource}", query=self.query, accept=self.accept)


class KubeCluster:
    """A cluster with a real API server. One object works for any number of passes, from any thread.

    namespaces: send requests only for these namespaces; empty means all. selector: a label selector for Takaras.
    server_dry_run: send each write as a dry run; the server validates it and stores nothing.
    """

    def __init__(
        self, api: Api, *, namespaces: Sequence[str] = (), selector: str = "", server_dry_run: bool = False
    ) -> None:
        self._api = api
        self._namespaces = tuple(sorted(set(namespaces)))
        self._selector = selector
        self._write_query = (("dryRun", "All"),) if server_dry_run else ()

    @classmethod
    def connect(cls, kubeconfig: str | None = None, context: str | None = None, **options: Any) -> KubeCluster:
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
        return self._lists(_List(_DEPLOYMENTS, "deployments", Deployment, ("DeploymentList",), _OURS), deadline)

    def takaras(self, deadline: Deadline) -> Listing[Takara]:
        """Every Takara of the namespaces and the selector. Raises PassStopped."""
        query = (("labelSelector", self._selector),) if self._selector else ()
        return self._lists(_List(_TAKARAS, PLURAL, Takara, ("TakaraList",), query), deadline)

    def pods(self, deadline: Deadline) -> Listing[Pod]:
        """Every pod with the label app=takara that is not Succeeded or Failed. Raises PassStopped."""
        kinds = ("PartialObjectMetadataList", "PodList")
        found = _List("/api/v1", "pods", PodItem, kinds, (*_OURS, _RUNNING), _METADATA_ONLY, PodItem.pod)
        return self._lists(found, deadline)

    def _lists(self, wanted: _List[W, T], deadline: Deadline) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        for namespace in self._namespaces or (None,):
            try:
                found = self._whole_list(wanted, namespace, deadline)
            except ObjectError as error:
                raise _unreadable(wanted.resource, namespace, error) from error
            except CutShort as cut:
                # The server did not respond before the deadline, unless somebody stopped the pass.
                if isinstance(cut.__cause__, Retryable) and not deadline.stopped:
                    raise _unreadable(wanted.resource, namespace, cut.__cause__) from cut
                raise
            items += found.items
            unread |= found.unread
        for key, why in unread.items():
            log.warning("%s %s is left out: %s", wanted.kinds[-1].removesuffix("List"), key, why)
        return Listing(tuple(items), unread)

    def _whole_list(self, wanted: _List[W, T], namespace: str | None, deadline: Deadline) -> Listing[T]:
        """All pages. After an expired continue token the list starts again, so that all pages show the same state."""
        request = wanted.request(namespace)
        for _ in range(_RESTARTS):
            try:
                return self._pages(wanted, request, deadline)
            except Expired as expired:
                log.debug("%s starts again: %s", request, expired)
                last = expired
        raise last

    def _pages(self, wanted: _List[W, T], request: Request, deadline: Deadline) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        token, seen, limit = "", set[str](), PAGE
        while True:
            paging = (("limit", str(limit)),) + ((("continue", token),) if token else ())
            body = self._api.send(structs.replace(request, query=request.query + paging), deadline)
            found, token = decode.page(body, wanted.kind, wanted.kinds, len(items) + len(unread))
            items += map(wanted.keep, found.items)
            unread |= found.unread
            if not token:
                return Listing(tuple(items), unread)
            if token in seen:
                raise Unreadable(f"{request} gave the same continue token twice")
            seen.add(token)
            limit = max(1, min(PAGE, _PAGE_BYTES * limit // len(body)))
            del body  # else it is in memory together with the next page

    # -------------------------------------------------------------- single objects

    def deployment(self, key: Key, deadline: Deadline) -> Deployment | None:
        """One Deployment by name; None if it does not exist. Raises ObjectError, PassStopped."""
        return self._get(_object(_DEPLOYMENTS, "deployments", key), Deployment, key, deadline)

    def takara(self, key: Key, deadline: Deadline) -> Takara | None:
        """One Takara by name; None if it does not exist. Raises ObjectError, PassStopped."""
        return self._get(_object(_TAKARAS, PLURAL, key), Takara, key, deadline)

    def _get(self, path: str, kind: type[T], key: Key, deadline: Deadline) -> T | None:
        try:
            return decode.single(self._send(Request("GET", path), deadline, TRIES), kind, key)
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
        key = Key(metadata["namespace"], metadata["name"])
        return self._patch_deployment(key, create_only, APPLY, _APPLY_QUERY, deadline)

    def apply(self, deployment: Deployment, manifest: Manifest, deadline: Deadline) -> Deployment:
        """Apply with force, only to the version of the Deployment that was read.

        Raises:
            Conflict: it changed, or does not exist any more. Other ObjectErrors, PassStopped.
        """
        _must_have_version(deployment)
        return self._patch_existing(deployment.key, manifest, APPLY, _APPLY_QUERY, deadline)

    def take_over(
        self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry], deadline: Deadline
    ) -> Deployment:
        """Replace the managedFields, only in the version of the Deployment that was read.

        Raises:
            Conflict: it changed, or does not exist any more. Other ObjectErrors, PassStopped.
        """
        _must_have_version(deployment)
        entries = [msgspec.json.decode(msgspec.json.encode(entry)) for entry in managed_fields]  # fieldsV1 is raw JSON
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": deployment.uid},
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": deployment.metadata.resource_version},
        ]
        return self._patch_existing(deployment.key, patch, JSON_PATCH, _PATCH_QUERY, deadline)

    def write_status(self, takara: Takara, patch: Sequence[dict[str, Any]], deadline: Deadline) -> None:
        """Send a JSON patch to the status.

        Raises:
            Conflict: the Takara changed since the read. NotFound: it does not exist. Other ObjectErrors, PassStopped.
        """
        path = _object(_TAKARAS, PLURAL, takara.key) + "/status"
        request = Request("PATCH", path, _PATCH_QUERY, list(patch), JSON_PATCH)
        decode.single(self._send_write(request, deadline), Takara, takara.key)  # the response of a proxy is no success

    def _patch_existing(
        self, key: Key, body: object, content_type: str, query: Query, deadline: Deadline
    ) -> Deployment:
        try:
            return self._patch_deployment(key, body, content_type, query, deadline)
        except NotFound as error:  # deleted since it was read
            raise Conflict(error.message) from error

    def _patch_deployment(
        self, key: Key, body: object, content_type: str, query: Query, deadline: Deadline
    ) -> Deployment:
        request = Request("PATCH", _object(_DEPLOYMENTS, "deployments", key), query, body, content_type)
        return decode.single(self._send_write(request, deadline), Deployment, key)

    def _send_write(self, request: Request, deadline: Deadline) -> bytes | bytearray:
        return self._send(structs.replace(request, query=request.query + self._write_query), deadline, 1)

    def _send(self, request: Request, deadline: Deadline, tries: int) -> bytes | bytearray:
        try:
            return self._api.send(request, deadline, tries=tries)
        except Expired as error:  # 410 for one object: the server does not know this resourceVersion any more
            raise Conflict(error.message) from error


def _unreadable(resource: str, namespace: str | None, error: ObjectError) -> Unreadable:
    """The error that ends the pass after a failed list."""
    where = "all namespaces" if namespace is None else f"namespace {namespace}"
    message, hint = f"Cannot list {resource} in {where}: {error.message}", error.hint
    if isinstance(error, Rejected) and namespace is None:
        hint = f"Grant the right to list {resource} everywhere, or name the namespaces that you may read: -n NAMESPACE."
    if isinstance(error, NotFound | ApiNotServed) and resource == PLURAL:
        message = f"The server does not serve Takaras ({GROUP}/v1alpha1)"
        hint = "Install the CRD: takara-sync manifests | kubectl apply --server-side -f -"
    return Unreadable(message, hint)


def _must_have_version(deployment: Deployment) -> None:
    """Raise ObjectError without a resourceVersion: the write would not be bound to the version that was read."""
    if not deployment.metadata.resource_version:
        raise ObjectError(f"Deployment {deployment.key} came without a resourceVersion", "Is this an API server?")


def _object(base: str, resource: str, key: Key) -> str:
    return f"{base}/namespaces/{quote(key.namespace, safe='')}/{resource}/{quote(key.name, safe='')}"
