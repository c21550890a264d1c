"""What a row of the table is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.kubectl.recorder import GOOD

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = f"{GOOD}tom"
Json = dict[str, Any]
GONE = object()
"""The value of a key that a row takes out."""


@dataclass(frozen=True)
class Row:
    """One kubeconfig, environment and server, for kubectl and for takara-sync.

    user, cluster, context: keys that differ from a good kubeconfig with a token. files: other files, or other text in
    `config`, by name. server: which certificate it shows (place.py). env: variables; KUBECONFIG is `config` unless it
    is said, and "@gone" takes one out. argv: for both commands. edit: what else is done to the kubeconfig, prepare: in
    the folder. differs: the reason, where the outcome is another one than that of kubectl.

    In all texts `@url`, `@port`, `@folder`, and the base64 `@ca`, `@cert`, `@key` stand for what they are in this run.
    """

    name: str
    user: Json | None = None
    cluster: Json = field(default_factory=dict)
    context: Json = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    server: str = "good"
    env: dict[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    edit: Callable[[Json], Any] | None = None
    prepare: Callable[[Any], Any] | None = None
    differs: str = ""

    @property
    def config(self) -> Json:
        cluster = {"server": "@url", "certificate-authority-data": "@ca"} | self.cluster
        user = {"token": TOKEN} if self.user is None else self.user
        made = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "c", "cluster": {key: it for key, it in cluster.items() if it is not GONE}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"} | self.context}],
        }
        return (self.edit(made) or made) if self.edit else made


def rows(*found: Row) -> list[Row]:
    """A part of the table."""
    return list(found)
