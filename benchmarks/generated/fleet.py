"""The objects of a generated fleet: those that a real server recorded for three Takaras, under other names.

The Takaras, Deployments and pods of the fleet differ from the recorded ones in what differs between two Takaras of a
real cluster: names, namespaces, uids, versions, and the hashes in the record of the last apply.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec

from benchmarks.generated.recorded import SIZE, Recording
from takara_sync.desired import deployment_for, with_identity
from takara_sync.objects import Deployment, Takara
from takara_sync.record import record_of

Json = dict[str, Any]

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # of generated names: k8s.io/apimachinery/pkg/util/rand
_VERSION = re.compile(r'"resourceVersion":"\d+"')
_RECORD = re.compile(r'"deployment":\{"configHash".*?\}(?=,"nodes")')
_BLOCK = 1000  # bytes of an annotation after which its text repeats


class Identity(NamedTuple):
    """What differs between two Takaras, in the order in which a text is changed: longer texts before their parts."""

    pods: tuple[str, ...]
    replica_set: str
    template_hash: str
    name: str
    namespace: str
    takara_uid: str
    deployment_uid: str
    set_uid: str
    pod_uids: tuple[str, ...]

    @classmethod
    def recorded(cls, takara: Json, deployment: Json, pods: list[Json]) -> Identity:
        """The identity of a recorded Takara with its Deployment and pods."""
        owner = pods[0]["metadata"]["ownerReferences"][0]
        return cls(
            tuple(pod["metadata"]["name"] for pod in pods),
            owner["name"],
            pods[0]["metadata"]["labels"]["pod-template-hash"],
            takara["metadata"]["name"],
            takara["metadata"]["namespace"],
            takara["metadata"]["uid"],
            deployment["metadata"]["uid"],
            owner["uid"],
            tuple(pod["metadata"]["uid"] for pod in pods),
        )

    @classmethod
    @lru_cache(maxsize=8)  # the pods of a Takara follow each other
    def generated(cls, number: int, namespace: str) -> Identity:
        """The identity of the Takara of this number; always the same."""
        name = f"takara-{number:05}"
        digest = hashlib.sha512(name.encode()).digest()
        template_hash = _letters(digest[:10])
        suffixes = sorted(_letters(digest[at : at + 5]) for at in range(10, 10 + 5 * SIZE, 5))
        replica_set = f"{name}-{template_hash}"
        pod_uids = tuple(_uid(name, f"pod {index}") for index in range(SIZE))
        return cls(
            tuple(f"{replica_set}-{suffix}" for suffix in suffixes),
            replica_set,
            template_hash,
            name,
            namespace,
            _uid(name, "takara"),
            _uid(name, "deployment"),
            _uid(name, "replica set"),
            pod_uids,
        )

    def replaced(self, text: str, by: Identity) -> str:
        """The text with another identity."""
        for old, new in zip(self, by, strict=True):
            if isinstance(old, str) and isinstance(new, str):
                text = text.replace(old, new)
            else:
                for one, other in zip(old, new, strict=True):
                    text = text.replace(one, other)
        return text


def _letters(digest: bytes) -> str:
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest)


def _uid(name: str, kind: str) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(f"{name} {kind}".encode(), usedforsecurity=False).digest(), version=4))


@dataclass(frozen=True)
class Fleet:
    """takaras: how many, each with a Deployment and three pods, in this many namespaces.

    new: no pass has run yet, so that there are only Takaras. annotations: bytes of annotations of each Takara.
    """

    recording: Recording
    takaras: int
    namespaces: int = 1
    annotations: int = 0
    new: bool = False

    def count(self, resource: str) -> int:
        """How many objects of this resource there are."""
        if resource == "takaras":
            return self.takaras
        return 0 if self.new else self.takaras * (SIZE if resource == "pods" else 1)

    def item(self, resource: str, index: int) -> str:
        """One object as JSON text; the index follows the order of keys in etcd."""
        if resource == "deployments":
            return self.deployment(index)
        return self.pod(index) if resource == "pods" else self.takara(index)

    def key(self, resource: str, index: int) -> str:
        """Namespace and name, as a continue token has them."""
        one = self.identity(index // SIZE if resource == "pods" else index)
        return f"{one.namespace}/{one.pods[index % SIZE] if resource == 'pods' else one.name}"

    def identity(self, number: int) -> Identity:
        """The identity of a Takara, its Deployment and its pods."""
        group = number * self.namespaces // self.takaras
        return Identity.generated(number, f"tenant-{group:05}" if self.namespaces > 1 else "default")

    def takara(self, number: int) -> str:
        """A Takara as JSON text."""
        by = self.identity(number)
        if self.new:
            text = self._template.replaced(self._new_takara, by)
        else:
            text = self._template.replaced(self._items["takaras"][0], by)
            text = self._with_record(text, self.deployment(number))
        if self.annotations:
            text = _annotated(text, by.name, self.annotations)
        return _with_version(text, number)

    def deployment(self, number: int) -> str:
        """A Deployment as JSON text."""
        text = self._template.replaced(self._items["deployments"][0], self.identity(number))
        return _with_version(text, number)

    def pod(self, index: int) -> str:
        """The metadata of a pod as JSON text."""
        number, one = divmod(index, SIZE)
        text = self._template.replaced(self._items["pods"][one], self.identity(number))
        return _with_version(text, index)

    def applied(self, number: int) -> str:
        """The answer to the apply that creates a Deployment."""
        return _with_version(self._template.replaced(self.recording.applied, self.identity(number)), number)

    def status_written(self, number: int, patch: list[Json]) -> str:
        """The answer to a JSON patch of the status that adds whole values, as takara-sync sends it."""
        status = {op["path"].removeprefix("/status/"): op["value"] for op in patch if op["path"].startswith("/status/")}
        head, _, _ = self.recording.status.rpartition('"status":{')
        text = self._template.replaced(head, self.identity(number))
        return f'{_with_version(text, number)}"status":{msgspec.json.encode(status, order="sorted").decode()}}}\n'

    @staticmethod
    def _with_record(text: str, deployment: str) -> str:
        """The Takara with the record of the apply that made this Deployment."""
        takara = msgspec.json.decode(text, type=Takara)
        live = msgspec.json.decode(deployment, type=Deployment)
        manifest = with_identity(deployment_for(takara), takara, live)
        record = msgspec.to_builtins(record_of(takara, manifest, live, "", None, _NOW))
        encoded = msgspec.json.encode(record, order="sorted").decode()
        return _RECORD.sub(lambda _: f'"deployment":{encoded}', text)

    @cached_property
    def _items(self) -> dict[str, list[str]]:
        return {resource: items_of(first) for resource, (first, _) in self.recording.settled.items()}

    @cached_property
    def _new_takara(self) -> str:
        return items_of(self.recording.new["takaras"])[0]

    @cached_property
    def _template(self) -> Identity:
        takara, deployment = (msgspec.json.decode(self._items[each][0]) for each in ("takaras", "deployments"))
        return Identity.recorded(takara, deployment, [msgspec.json.decode(pod) for pod in self._items["pods"][:SIZE]])


class _Items(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


def items_of(page: str) -> list[str]:
    """The texts of the items of a page."""
    return [bytes(item).decode() for item in msgspec.json.decode(page, type=_Items).items or ()]


def _with_version(text: str, number: int) -> str:
    return _VERSION.sub(f'"resourceVersion":"{10_000_000 + number}"', text, count=1)


def _annotated(text: str, name: str, size: int) -> str:
    """The Takara with one annotation of this many bytes, which its creator owns."""
    block = hashlib.shake_256(name.encode()).hexdigest(_BLOCK // 2)
    note = (block * (size // _BLOCK + 1))[:size]
    text = text.replace('"metadata":{', f'"metadata":{{"annotations":{{"example.com/note":"{note}"}},', 1)
    owned = '"f:metadata":{"f:annotations":{".":{},"f:example.com/note":{}}},"f:spec":{'
    return text.replace('"f:spec":{', owned, 1)
