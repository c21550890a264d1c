"""The simulator behind the interface of the real control plane, so that tests can run on both."""

from __future__ import annotations

import secrets
import shutil
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

import pytest
import yaml

from takara_sync.simulator import Recorded, Simulator, Store
from tests.control_plane.build import assets
from tests.control_plane.http import Http, kubectl
from tests.server import Answer, Finished, Request, User

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_OTHERS = "other-"  # users without rights


class Simulated:
    """A simulated cluster for as long as the `with` statement lasts; tests.server.Server tells the rest.

    Its controllers move when `settle` or `make_ready` asks, and pods run only where the latter names their
    Deployment: as on a cluster without nodes.
    """

    name: ClassVar[str] = "simulator"

    def __init__(self, folder: Path, *, crd: bool = True) -> None:
        self.folder = folder
        self._tokens: dict[str, str] = {"": "system:anonymous"}
        self.store = Store(crd=crd, tokens=self._tokens, denied=_denied)
        self.simulator = Simulator(self.store)
        self.simulator.controllers.runs = self._runs
        self._running: set[tuple[str, str]] = set()
        self._taken = 0
        self._harness = self.user()

    def __enter__(self) -> Self:
        self.simulator.__enter__()
        self._http = Http(self.url)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()
        self.simulator.__exit__(kind, error, trace)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.simulator.url

    def user(self, *, admin: bool = True) -> User:
        """A user never handed out before."""
        self._taken += 1
        name = f"{'admin-' if admin else _OTHERS}{self._taken}"
        user = User(name, secrets.token_hex(16), self.folder / f"{name}.kubeconfig")
        self._tokens[user.token] = name
        config = yaml.safe_load(self.simulator.kubeconfig(name))
        config["users"][0]["user"]["token"] = user.token  # kubectl sends none over HTTP: it says "as"
        user.kubeconfig.write_text(yaml.safe_dump(config))
        user.kubeconfig.chmod(0o600)
        return user

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        user: User | None = None,
    ) -> Answer:
        """One request; bytes and text are sent as they are, everything else as JSON."""
        token = (user or self._harness).token
        headers = {"Authorization": f"Bearer {token}", "Accept": accept, "Content-Type": content_type}
        return self._http.call(method, path, body, headers)

    def kubectl(
        self,
        *args: str,
        stdin: str | None = None,
        check: bool = True,
        user: User | None = None,
        namespace: str | None = None,
    ) -> Finished:
        """Runs the real kubectl: the control plane's, else that of the path; skips the test without one."""
        found = assets()
        program = str(found / "kubectl") if found else shutil.which("kubectl")
        if program is None:
            pytest.skip("there is no kubectl: neither a control plane's nor one on the path")
        where = () if namespace is None else (f"--namespace={namespace}",)
        finished = kubectl(program, (user or self._harness).kubeconfig, *where, *args, stdin=stdin)
        return finished.check() if check else finished

    def requests(self, user: User) -> list[Request]:
        """What the user sent, in the order in which it was answered."""
        return [_told(one) for one in [*self.store.requests] if one.user == user.name]

    def namespace(self) -> str:
        """Creates a namespace with a random name."""
        name = f"test-{secrets.token_hex(5)}"
        answer = self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert answer.status == 201, answer.body
        return name

    def settle(self, namespace: str) -> None:  # noqa: ARG002 - the controllers know no namespaces
        """The controllers do all that they will do."""
        self.simulator.controllers.settle()

    def make_ready(self, namespace: str, deployment: str) -> None:
        """Runs the Deployment's pods until its rollout is complete."""
        self._running.add((namespace, deployment))
        self.simulator.controllers.settle()
        self._running.clear()

    def compact(self) -> None:
        """Continue tokens given out so far answer 410."""
        self.store.continuations.clear()

    def _runs(self, pod: dict[str, Any]) -> bool:
        owners = {one["name"].rpartition("-")[0] for one in pod["metadata"].get("ownerReferences", ())}
        return any((pod["metadata"]["namespace"], owner) in self._running for owner in owners)


def _denied(user: str) -> bool:
    return user.startswith(_OTHERS)


def _told(recorded: Recorded) -> Request:
    one = recorded.request
    parts = one.path.strip("/").split("/")
    rest = parts[2 if parts[0] == "api" else 3 :]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = [*rest, "", "", ""][:3]
    verb = _VERBS.get(one.method) or ("get" if name else "list")
    uri = f"{one.path}?{urlencode(one.query)}" if one.query else one.path
    dry = one.query.get("dryRun") == "All"
    agent = one.headers.get("user-agent", "")
    return Request(verb, uri, recorded.status, agent, resource, subresource, namespace, name, dry)
