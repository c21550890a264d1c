"""What the tests ask of a Kubernetes API server, be it a real one or the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

# The audit log tells the verb, not the method; the verbs of non-resource paths are methods already.
_METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}


class CommandError(AssertionError):
    """A command that a test started ended with a code other than 0."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may talk to the server. The token is random hex, to be looked for in outputs."""

    name: str
    token: str
    kubeconfig: Path


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer: the body is parsed JSON, or text where it is not JSON."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    args: tuple[str, ...]
    code: int
    stdout: str
    stderr: str

    def check(self) -> Finished:
        """Returns itself; raises CommandError, with all that was said, where the code is not 0."""
        if self.code != 0:
            said = f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
            raise CommandError(f"{' '.join(self.args)} ended with code {self.code}\n{said}")
        return self


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server's audit log tells it. Parts that the path does not name are "".

    received, answered: RFC 3339 in UTC with microseconds, "" where the server does not say. An open watch is
    answered when it started.
    """

    verb: str
    uri: str
    code: int
    user_agent: str
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    dry_run: bool = False
    received: str = ""
    answered: str = ""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return _METHODS.get(self.verb, self.verb.upper())

    @property
    def writes(self) -> bool:
        """Whether the request asked for a change (an access review is a create, and counts)."""
        return self.method not in {"GET", "HEAD", "OPTIONS"}


class Server(Protocol):
    """The part of a control plane that tests may rely on; the docstrings are at the real one."""

    name: ClassVar[str]
    folder: Path

    @property
    def url(self) -> str: ...

    def user(self, *, admin: bool = True) -> User: ...

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        user: User | None = None,
    ) -> Answer: ...

    def kubectl(
        self,
        *args: str,
        stdin: str | None = None,
        check: bool = True,
        user: User | None = None,
        namespace: str | None = None,
    ) -> Finished: ...

    def requests(self, user: User) -> list[Request]: ...

    def namespace(self) -> str: ...

    def settle(self, namespace: str) -> None: ...

    def make_ready(self, namespace: str, deployment: str) -> None: ...

    def compact(self) -> None: ...
