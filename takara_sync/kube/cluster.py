"""The real cluster: each method builds a request, sends it and decodes the response."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import structs

from takara_sync.deadline import Deadline
from takara_sync.desired import Manifest
from takara_sync.errors import ApiNotServed, Conflict, CutShort, NotFound, ObjectError, Rejected, Retryable, Unreadable
from takara_sync.kube import decode
from takara_sync.kube.api import TRIES, Api
from takara_sync.kube.response import APPLY, JSON_PATCH, Expired, Request
from takara_sync.objects import FIELD_MANAGER, GROUP, PLURAL, Deployment, Key, Listing, ManagedFieldsEntry, Pod, Takara

log = logging.getLogger("takara_sync")

T = TypeVar("T")
Query = tuple[tuple[str, str], ...]

PAGE = 500
_RESTARTS = 3
_DEPLOYMENTS = "/apis/apps/v1"
_TAKARAS = f"/apis/{GROUP}/v1alpha1"
_LABEL = "app=takara"
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
_PATCH_QUERY = (("fieldManager", FIELD_MANAGER),)
_APPLY_QUERY = (*_PATCH_QUERY, ("force", "true"))

# A valid resourceVersion that is never the current one: the apply creates, or gets 409 Conflict.
# Without it a slow pass could write its old size to a Deployment that another pass created in the meantime.
_CREATE_ONLY = "1"


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
        query = (("labelSelector", _LABEL),)
        return self._lists(deadline, _DEPLOYMENTS, "deployments", Deployment, ("DeploymentList",), query)

    def takaras(self, deadline: Deadline) -> Listing[Takara]:
        """Every Takara of the namespaces and the selector. Raises PassStopped."""
        query = (("labelSelector", self._selector),) if self._selector else ()
        return self._lists(deadline, _TAKARAS, PLURAL, Takara, ("TakaraList",), query)

    def pods(self, deadline: Deadline) -> Listing[Pod]:
        """The metadata of every pod with the label app=takara that is not Succeeded or Failed. Raises PassStopped."""
        query = (("labelSelector", _LABEL), ("fieldSelector", "status.phase!=Failed,status.phase!=Succeeded"))
        kinds = ("PartialObjectMetadataList", "PodList")
        return self._lists(deadline, "/api/v1", "pods", Pod, kinds, query, accept=_METADATA_ONLY)

    def _lists(
        self,
        deadline: Deadline,
        base: str,
        resource: str,
        kind: type[T],
        kinds: tuple[str, ...],
        query: Query,
        accept: str = "application/json",
    ) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        for namespace in self._namespaces or (None,):
            path = f"{base}/{resource}" if namespace is None else f"{base}/namespaces/{quote(namespace)}/{resource}"
            request = Request("GET", path, query=query, accept=accept)
            try:
                found = self._whole_list(request, kind, kinds, deadline)
            except ObjectError as error:
                raise _unreadable(resource, namespace, error) from error
            except CutShort as cut:
                # The server did not respond before the deadline, unless somebody stopped the pass.
                if isinstance(cut.__cause__, Retryable) and not deadline.stopped:
                    raise _unreadable(resource, namespace, cut.__cause__) from cut
                raise
            items += found.items
            unread |= found.unread
        for key, why in unread.items():
            log.warning("%s %s is left out: %s", kind.__name__, key, why)
        return Listing(tuple(items), unread)

    def _whole_list(self, request: Request, kind: type[T], kinds: tuple[str, ...], deadline: Deadline) -> Listing[T]:
        """All pages. After an expired continue token the list starts again, so that all pages show the same state."""
        for _ in range(_RESTARTS):
            try:
                return self._pages(request, kind, kinds, deadline)
            except Expired as expired:
                log.debug("%s starts again: %s", request, expired)
                last = expired
        raise last

    def _pages(self, request: Request, kind: type[T], kinds: tuple[str, ...], deadline: Deadline) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        token, seen = "", set[str]()
        while True:
            paging = (("limit", str(PAGE)),) + ((("continue", token),) if token else ())
            query = request.query + paging
            body = self._api.send(structs.replace(request, query=query), deadline)
            raws, token = decode.page(body, kinds)
            found = decode.listing(raws, kind, len(items) + len(unread))
            items += found.items
            unread |= found.unread
            if not token:
                return Listing(tuple(items), unread)
            if token in seen:
                raise Unreadable(f"{request} gave the same continue token twice")
            seen.add(token)

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

    def _send_write(self, request: Request, deadline: Deadline) -> bytes:
        return self._send(structs.replace(request, query=request.query + self._write_query), deadline, 1)

    def _send(self, request: Request, deadline: Deadline, tries: int) -> bytes:
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
