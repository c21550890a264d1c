"""What a pass asks of a real cluster: each method a request built, sent and read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import structs

from takara_sync.cluster import Deadline
from takara_sync.errors import Changed, CutShort, ObjectError, Unreadable, Vanished
from takara_sync.kube import decode
from takara_sync.kube.answers import APPLY, JSON_PATCH, Again, Expired, NotServed, Request
from takara_sync.kube.api import Api
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

# A resourceVersion that exists but never is the current one: the apply creates, or is answered 409.
# Without it a slow pass would put its old size over a Deployment that another one has made meanwhile.
_CREATE_ONLY = "1"


class KubeCluster:
    """One pass's view of a cluster.

    namespaces: only these are asked, by namespaced requests; none means all. selector: a label selector that the
    Takaras must match. deadline: when the pass has to be over. server_dry_run: the server judges each write as if it
    were one, and stores nothing.
    """

    def __init__(
        self,
        api: Api,
        *,
        namespaces: Sequence[str] = (),
        selector: str = "",
        deadline: Deadline | None = None,
        server_dry_run: bool = False,
    ) -> None:
        self._api = api
        self._namespaces = tuple(sorted(set(namespaces)))
        self._selector = selector
        self._deadline = deadline or Deadline(50)
        self._write_query = (("dryRun", "All"),) if server_dry_run else ()

    @classmethod
    def connect(cls, kubeconfig: str | None = None, context: str | None = None, **options: Any) -> KubeCluster:
        """A cluster from the usual credentials: see `kube.credentials`. `options` are those of the class.

        Raises:
            ConfigurationError: there are no usable credentials.
        """
        return cls(Api.connect(kubeconfig, context), **options)

    @property
    def deadline(self) -> Deadline:
        return self._deadline

    @property
    def dry_run(self) -> bool:
        return bool(self._write_query)

    # -------------------------------------------------------------- lists

    def deployments(self) -> Listing[Deployment]:
        return self._lists(_DEPLOYMENTS, "deployments", Deployment, ("DeploymentList",), (("labelSelector", _LABEL),))

    def takaras(self) -> Listing[Takara]:
        query = (("labelSelector", self._selector),) if self._selector else ()
        return self._lists(_TAKARAS, PLURAL, Takara, ("TakaraList",), query)

    def pods(self) -> Listing[Pod]:
        query = (("labelSelector", _LABEL), ("fieldSelector", "status.phase!=Failed,status.phase!=Succeeded"))
        kinds = ("PartialObjectMetadataList", "PodList")
        return self._lists("/api/v1", "pods", Pod, kinds, query, accept=_METADATA_ONLY)

    def _lists(
        self,
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
                found = self._whole_list(request, kind, kinds)
            except ObjectError as error:
                raise _unreadable(resource, namespace, error) from error
            except CutShort as cut:
                # Without an answer in all that time it is the server, unless somebody asked for the end.
                if isinstance(cut.__cause__, Again) and not self._deadline.stopped:
                    raise _unreadable(resource, namespace, cut.__cause__.error) from cut
                raise
            items += found.items
            unread |= found.unread
        for key, why in unread.items():
            log.warning("%s %s is left out: %s", kind.__name__, key, why)
        return Listing(tuple(items), unread)

    def _whole_list(self, request: Request, kind: type[T], kinds: tuple[str, ...]) -> Listing[T]:
        """Every page. A token that expired starts the list again: pages of two moments are never mixed."""
        for _ in range(_RESTARTS):
            try:
                return self._pages(request, kind, kinds)
            except Expired as expired:
                log.debug("%s starts again: %s", request, expired)
                last = expired
        raise last

    def _pages(self, request: Request, kind: type[T], kinds: tuple[str, ...]) -> Listing[T]:
        items: list[T] = []
        unread: dict[Key, str] = {}
        token, seen = "", set[str]()
        while True:
            paging = (("limit", str(PAGE)),) + ((("continue", token),) if token else ())
            query = request.query + paging
            body = self._api.send(
                Request(request.method, request.path, query=query, accept=request.accept), self._deadline
            )
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

    def deployment(self, key: Key) -> Deployment | None:
        return self._get(_object(_DEPLOYMENTS, "deployments", key), Deployment, key)

    def takara(self, key: Key) -> Takara | None:
        return self._get(_object(_TAKARAS, PLURAL, key), Takara, key)

    def _get(self, path: str, kind: type[T], key: Key) -> T | None:
        try:
            return decode.single(self._api.send(Request("GET", path), self._deadline), kind, key)
        except Vanished:
            return None

    # -------------------------------------------------------------- writes

    def create(self, body: dict[str, Any]) -> Deployment:
        metadata = body["metadata"]
        create_only = body | {"metadata": metadata | {"resourceVersion": _CREATE_ONLY}}
        return self._patch_deployment(Key(metadata["namespace"], metadata["name"]), create_only, APPLY, _APPLY_QUERY)

    def apply(self, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        _must_be_versioned(deployment)
        return self._patch_deployment(deployment.key, body, APPLY, _APPLY_QUERY)

    def take_over(self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry]) -> Deployment:
        _must_be_versioned(deployment)
        entries = [msgspec.json.decode(msgspec.json.encode(entry)) for entry in managed_fields]  # fieldsV1 is raw JSON
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": deployment.uid},
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": deployment.metadata.resource_version},
        ]
        return self._patch_deployment(deployment.key, patch, JSON_PATCH, _PATCH_QUERY)

    def tell(self, takara: Takara, patch: Sequence[dict[str, Any]]) -> None:
        path = _object(_TAKARAS, PLURAL, takara.key) + "/status"
        request = Request("PATCH", path, _PATCH_QUERY, list(patch), JSON_PATCH)
        decode.single(self._send_write(request), Takara, takara.key)  # or a proxy's page would be taken for a success

    def _patch_deployment(self, key: Key, body: object, content_type: str, query: Query) -> Deployment:
        path = _object(_DEPLOYMENTS, "deployments", key)
        return decode.single(self._send_write(Request("PATCH", path, query, body, content_type)), Deployment, key)

    def _send_write(self, request: Request) -> bytes:
        request = structs.replace(request, query=request.query + self._write_query)
        try:
            return self._api.send(request, self._deadline)
        except Expired as error:  # 410 on a write: the version it was decided on is no longer known
            raise Changed(error.message) from error


def _unreadable(resource: str, namespace: str | None, error: ObjectError) -> Unreadable:
    """What a list that failed amounts to: the pass is over."""
    where = "all namespaces" if namespace is None else f"namespace {namespace}"
    message, hint = f"Cannot list {resource} in {where}: {error.message}", error.hint
    if isinstance(error, Vanished | NotServed) and resource == PLURAL:
        message = f"The server does not serve Takaras ({GROUP}/v1alpha1)"
        hint = "Install the CRD: kubectl apply -k k8s/crd"
    return Unreadable(message, hint)


def _must_be_versioned(deployment: Deployment) -> None:
    """Raise ObjectError where a write could not be bound to what was read: an empty version is no condition at all."""
    if not deployment.metadata.resource_version:
        raise ObjectError(f"Deployment {deployment.key} came without a resourceVersion", "Is this an API server?")


def _object(base: str, resource: str, key: Key) -> str:
    return f"{base}/namespaces/{quote(key.namespace, safe='')}/{resource}/{quote(key.name, safe='')}"
