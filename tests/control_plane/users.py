"""The users of one control plane: a token file made in advance, and a kubeconfig for each who is asked for.

The API server reads its token file once, at its start, so everybody must be in it by then.
"""

from __future__ import annotations

import base64
import secrets
import threading
from typing import TYPE_CHECKING, Any

import yaml

from tests.server import User

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

ADMINS = 400
OTHERS = 100

# Those whose requests are no user's doing; the audit policy leaves them out.
HARNESS = "takara-sync-tests"
CONTROLLER_MANAGER = "system:kube-controller-manager"

_MASTERS = "system:masters"


class NoMoreUsersError(Exception):
    """The pool is used up: raise ADMINS or OTHERS."""


class Users:
    """Hands out each user once; thread-safe."""

    def __init__(self, folder: Path, url: str, authority: Path) -> None:
        self._folder = folder
        self._url = url
        self._authority = authority
        self._lock = threading.Lock()
        self._pools = {
            True: iter(self._made([f"admin-{n}" for n in range(ADMINS)])),
            False: iter(self._made([f"other-{n}" for n in range(OTHERS)])),
        }
        self.harness, self.controller_manager = self._made([HARNESS, CONTROLLER_MANAGER])
        for user in (self.harness, self.controller_manager):
            self._write_kubeconfig(user)

    def take(self, *, admin: bool) -> User:
        """A user never handed out before. Raises NoMoreUsersError."""
        with self._lock:
            user = next(self._pools[admin], None)
        if user is None:
            raise NoMoreUsersError(f"no {'admin' if admin else 'other user'} is left in this control plane")
        self._write_kubeconfig(user)
        return user

    def forget(self, users: Iterable[User]) -> None:
        """Takes them out of the token file, which the next start of the server reads."""
        gone = {user.name for user in users}
        lines = self.token_file.read_text().splitlines(keepends=True)
        self.token_file.write_text("".join(line for line in lines if line.split(",")[1] not in gone))

    @property
    def token_file(self) -> Path:
        """What --token-auth-file wants: token, name, uid, groups."""
        return self._folder / "tokens.csv"

    def _made(self, names: list[str]) -> list[User]:
        users = list(self._new(names))
        with self.token_file.open("a") as lines:
            for user in users:
                groups = "" if user.name.startswith("other-") else f',"{_MASTERS}"'
                lines.write(f"{user.token},{user.name},{user.name}{groups}\n")
        return users

    def _new(self, names: list[str]) -> Iterator[User]:
        for name in names:
            yield User(name, secrets.token_hex(16), self._folder / f"{name.replace(':', '-')}.kubeconfig")

    def _write_kubeconfig(self, user: User) -> None:
        user.kubeconfig.write_text(yaml.safe_dump(self._kubeconfig(user)))
        user.kubeconfig.chmod(0o600)  # kubectl and others warn about a readable token

    def _kubeconfig(self, user: User) -> dict[str, Any]:
        authority = base64.b64encode(self._authority.read_bytes()).decode()
        cluster = {"server": self._url, "certificate-authority-data": authority}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": cluster}],
            "users": [{"name": user.name, "user": {"token": user.token}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": user.name}}],
        }
