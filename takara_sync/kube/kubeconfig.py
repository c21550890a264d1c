"""Reads kubeconfigs by the rules of kubectl: the files, the context, and its cluster and user.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/ and
https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/. Where both are silent, client-go's `clientcmd` decides.
An empty value and null mean the same as no value.
"""

from __future__ import annotations

import base64
import os
import re
import stat
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import msgspec

from takara_sync.errors import ConfigurationError
from takara_sync.kube.plain_yaml import plain_yaml

NEXT_STEP = "Try: kubectl get takaras -A, with the same kubeconfig and context."


class Data(bytes):
    """The value of a key that ends with `-data`: base64 in the file, line breaks allowed."""


Cluster = TypedDict(
    "Cluster",
    {
        "server": str | None,
        "certificate-authority": str | None,
        "certificate-authority-data": Data | None,
        "insecure-skip-tls-verify": bool | None,
        "tls-server-name": str | None,
        "proxy-url": str | None,
        "disable-compression": bool | None,
        "extensions": list[dict[str, Any]] | None,
    },
    total=False,
)
Exec = TypedDict(
    "Exec",
    {
        "command": str | None,
        "apiVersion": str | None,
        "args": list[str] | None,
        "env": list[dict[str, str | None]] | None,
        "installHint": str | None,
        "provideClusterInfo": bool | None,
        "interactiveMode": str | None,
    },
    total=False,
)
User = TypedDict(
    "User",
    {
        "token": str | None,
        "tokenFile": str | None,
        "client-certificate": str | None,
        "client-certificate-data": Data | None,
        "client-key": str | None,
        "client-key-data": Data | None,
        "username": str | None,
        "password": str | None,
        "exec": Exec | None,
        "auth-provider": dict[str, Any] | None,
        "as": str | None,
        "as-groups": list[str] | None,
        "as-uid": str | None,
        "as-user-extra": dict[str, list[str]] | None,
    },
    total=False,
)
Context = TypedDict("Context", {"cluster": str | None, "user": str | None, "namespace": str | None}, total=False)
_Entry = TypedDict(
    "_Entry", {"name": str, "context": Context | None, "cluster": Cluster | None, "user": User | None}, total=False
)
_Entries = list[_Entry] | None
_File = TypedDict(
    "_File",
    {
        "apiVersion": Literal["v1", ""] | None,
        "kind": Literal["Config", ""] | None,
        "current-context": str | None,
        "contexts": _Entries,
        "clusters": _Entries,
        "users": _Entries,
    },
    total=False,
)
_FOLDERS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
# Invalid: all keys of the first set together, without any key of the second set (validation.go of client-go).
_REFUSED: tuple[tuple[set[str], set[str]], ...] = (
    ({"certificate-authority", "certificate-authority-data"}, set()),
    ({"certificate-authority", "insecure-skip-tls-verify"}, set()),
    ({"certificate-authority-data", "insecure-skip-tls-verify"}, set()),
    ({"client-certificate", "client-certificate-data"}, set()),
    ({"client-key", "client-key-data"}, set()),
    ({"token", "username"}, set()),
    ({"token", "password"}, set()),
    ({"tokenFile", "username"}, set()),
    ({"tokenFile", "password"}, set()),
    ({"exec", "auth-provider"}, set()),
    ({"client-certificate"}, {"client-key", "client-key-data"}),
    ({"client-certificate-data"}, {"client-key", "client-key-data"}),
    ({"as-groups"}, {"as"}),
    ({"as-uid"}, {"as"}),
    ({"as-user-extra"}, {"as"}),
)


class Chosen(NamedTuple):
    """One context with its cluster and user. source: its kubeconfig."""

    source: str
    context: str
    namespace: str
    cluster: Cluster
    user: User

    def pem(self, key: str) -> bytes:
        """The content of the file that this key of cluster or user names, else the value of its `-data`, else b"".

        Raises:
            ConfigurationError: the file cannot be read.
        """
        said: dict[str, Any] = {**self.cluster, **self.user}
        try:
            return content(said[key]) if said.get(key) else bytes(said.get(f"{key}-data") or b"")
        except OSError as error:
            raise unusable(self.source, f"{key} {said[key]}: {str(error.strerror).lower()}") from error


def unusable(source: str, why: str, hint: str = NEXT_STEP) -> ConfigurationError:
    return ConfigurationError(f"The {source} cannot be used: {why}", hint)


def paths(kubeconfig: str | os.PathLike[str] | None) -> list[str]:
    """The files to read: the given file, else those of $KUBECONFIG, else the one in the home folder."""
    home = os.path.expanduser("~/.kube/config")  # noqa: PTH111 - Path.expanduser raises where there is no home
    given = os.fspath(kubeconfig or "")
    return [given] if given else list(filter(None, (os.environ.get("KUBECONFIG") or home).split(os.pathsep)))


def choose(sources: list[str], context: str | None = None, before: str = "") -> Chosen | None:
    """The context `context`, else `before` if it still exists, else the current context; None without a context.

    If several files of `sources` define an entry, the first file is used. A missing file counts as empty.

    Raises:
        ConfigurationError: a file, or a part that this context needs, is not usable. The message names it and says what
            to do. It contains no value from the file.
    """
    files = {path: file for path in sources if (file := _read(path)) is not None}
    source = f"kubeconfig {os.pathsep.join(files or sources)}"
    known: dict[tuple[str, str], Any] = {}
    for path, file in reversed(files.items()):
        known |= _entries(path, file)
    kept = before if ("contexts", before) in known else ""
    name: str = next(filter(None, (context, kept, *(file.get("current-context") for file in files.values()))), "")
    if not name:
        return None

    def named(kind: str, name: str) -> Any:
        if (kind, name) not in known:
            others = ", ".join(sorted(other for its_kind, other in known if its_kind == kind))
            raise unusable(source, f"there is no {kind[:-1]} {name}; it has: {others or 'none'}")
        return known[kind, name]

    parts = named("contexts", name)
    cluster, user = named("clusters", parts.get("cluster") or ""), named("users", parts.get("user") or "")
    _check(source, {key for key, value in (cluster | user).items() if value})
    return Chosen(source, name, parts.get("namespace") or "", cluster, user)


def content(path: str) -> bytes:
    """The content of a file or a pipe. A pipe without a writer is empty. Raises OSError for other kinds of files."""
    descriptor = os.open(path.replace("\0", "?"), os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise OSError(0, "neither a file nor a pipe", path)
        os.set_blocking(descriptor, True)
        return file.read()


def is_loopback(host: str | None) -> bool:
    return re.fullmatch(r"localhost|127(\.\d+){3}|::1", host or "") is not None


def _read(path: str) -> dict[str, Any] | None:
    try:
        return dict(msgspec.convert(plain_yaml(content(path)) or {}, _File, dec_hook=_decoded))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = str(error.strerror).lower() if isinstance(error, OSError) else str(error)
        raise unusable(f"kubeconfig {path}", why) from error


def _decoded(kind: type[Data], value: Any) -> Data:
    return kind(base64.b64decode(str(value).translate({10: None, 13: None}), validate=True))


def _entries(path: str, file: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """The entries of one file, by kind and name. Relative paths start at the folder of the file, or of a link to it."""
    folder, found = Path(path).absolute().parent, dict[tuple[str, str], Any]()
    for kind in ("contexts", "clusters", "users"):
        for entry in file.get(kind) or ():
            named, part = (kind, entry.get("name", "")), entry.get(kind[:-1]) or {}
            if named in found:
                raise unusable(f"kubeconfig {path}", f"it has two {kind} {named[1]}")
            found[named] = part | {key: str(folder / part[key]) for key in _FOLDERS if part.get(key)}
            if os.sep in (command := (part.get("exec") or {}).get("command") or ""):
                part["exec"]["command"] = str(folder / command)
    return found


def _check(source: str, said: set[str]) -> None:
    for together, missing in _REFUSED:
        if said >= together and not said & missing:
            without = f"without {' or '.join(sorted(missing))}" if missing else "together"
            raise unusable(source, f"it has {' and '.join(sorted(together))} {without}")
