"""A kubeconfig, checked before the client's loader sees it.

The loader's own errors quote the file, and the file holds tokens; and a wrong type in it is a TypeError somewhere.
https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from takara_sync.errors import ConfigurationError
from takara_sync.kube.plain_yaml import plain_yaml

NEXT_STEP = "Try: kubectl get takaras -A, with the same kubeconfig and context."

_FILES = ("tokenFile", "certificate-authority", "client-certificate", "client-key")

T = TypeVar("T", bound=Struct)


class _Entry(Struct, frozen=True):
    name: str
    context: Any = None
    cluster: Any = None
    user: Any = None


class _File(Struct, frozen=True, rename="kebab"):
    current_context: str | None = None
    contexts: list[_Entry] | None = None
    clusters: list[_Entry] | None = None
    users: list[_Entry] | None = None


class _Context(Struct, frozen=True):
    cluster: str
    user: str | None = None


class _Cluster(Struct, frozen=True, rename="kebab"):
    server: str
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None


class _Variable(Struct, frozen=True):
    name: str
    value: str


class _Exec(Struct, frozen=True, rename="camel"):
    command: str
    api_version: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    install_hint: str | None = None


class _User(Struct, frozen=True, rename="kebab"):
    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    username: str | None = None
    password: str | None = None
    exec: _Exec | None = None
    auth_provider: dict[str, Any] | None = None
    impersonate: str | None = msgspec.field(default=None, name="as")
    impersonate_groups: list[str] | None = msgspec.field(default=None, name="as-groups")
    impersonate_uid: str | None = msgspec.field(default=None, name="as-uid")
    impersonate_extra: dict[str, Any] | None = msgspec.field(default=None, name="as-user-extra")


class Chosen(NamedTuple):
    """The context to use, and whom its user acts as ("" for nobody else)."""

    context: str
    acts_as: str


def chosen(source: str, context: str | None, before: str | None = None) -> Chosen:
    """What these files lead to: `context`, else the one used `before`, else the current one.

    source: one path or several, separated as in $KUBECONFIG; the first file that names a thing wins.

    Raises:
        ConfigurationError: a part that this context needs is missing or of the wrong kind; names the file and the key.
    """
    files = {str(path): _read(path) for path in there(source)}
    name = context or _kept(files, before) or next(filter(None, (each.current_context for each in files.values())), "")
    if not name:
        raise _unusable(source, "it names no current-context", "Choose one: kubectl config use-context, or --context.")
    parts = _entry(files, source, "context", name, _Context)
    cluster = _entry(files, source, "cluster", parts.cluster, _Cluster)
    if not _is_address(cluster.server):
        raise _unusable(source, f"the server of cluster {parts.cluster} is no http or https URL with a usable port")
    if not _is_name(cluster.tls_server_name):
        raise _unusable(source, f"the tls-server-name of cluster {parts.cluster} is no name of a host")
    user = _entry(files, source, "user", parts.user, _User) if parts.user else _User()
    if user.impersonate_groups or user.impersonate_uid or user.impersonate_extra:
        raise _unusable(source, f"user {parts.user} has as-groups, as-uid or as-user-extra: only `as` is supported")
    return Chosen(name, user.impersonate or "")


def _kept(files: dict[str, _File], before: str | None) -> str | None:
    known = {entry.name for file in files.values() for entry in file.contexts or ()}
    return before if before in known else None


def there(source: str) -> list[Path]:
    """Those of these paths that lead to something; one that no system could have does not."""
    found = []
    for path in filter(None, source.split(os.pathsep)):
        with contextlib.suppress(OSError, RuntimeError, ValueError):  # too long a name, a home of nobody, a NUL
            found.append(Path(path).expanduser().resolve(strict=True))
    return found


def _read(path: Path) -> _File:
    if not path.is_file():
        raise _unusable(path, "it is no regular file")
    try:
        return msgspec.convert(plain_yaml(path.read_bytes()) or {}, _File)
    except OSError as error:
        raise _unusable(path, (error.strerror or type(error).__name__).lower()) from error
    except ValueError as error:
        raise _unusable(path, str(error)) from error


def _entry(files: dict[str, _File], source: str, kind: str, name: str, shape: type[T]) -> T:
    """What the first file says under this name."""
    for path, file in files.items():
        for entry in getattr(file, f"{kind}s") or ():
            if entry.name == name:
                try:
                    found = msgspec.convert(getattr(entry, kind), shape)
                    _must_be_files(path, found)
                except msgspec.ValidationError as error:
                    raise _unusable(path, f"{kind} {name}: {error}") from error
                return found
    known = sorted({entry.name for file in files.values() for entry in getattr(file, f"{kind}s") or ()})
    raise _unusable(source, f"there is no {kind} {name}; it has: {', '.join(known) or 'none'}")


def _must_be_files(path: str, entry: Struct) -> None:
    """What waits for a writer, as a pipe does, would be taken for a plugin that waits for a person."""
    for key, value in msgspec.to_builtins(entry).items():
        if key in _FILES and value and not all(found.is_file() for found in there(str(Path(path).parent / value))):
            raise _unusable(path, f"{key}: {value} is no regular file")


def _is_address(server: str) -> bool:
    try:
        parts = urlsplit(server)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_name(host: str | None) -> bool:
    try:
        return host is None or (bool(host.encode("idna")) and host.isprintable())
    except UnicodeError:
        return False


def _unusable(where: str | Path, why: str, hint: str = NEXT_STEP) -> ConfigurationError:
    return ConfigurationError(f"The kubeconfig {where} cannot be used: {why}", hint)
