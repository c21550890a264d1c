"""A real control plane as child processes on loopback: etcd, API server and controller manager."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import urllib3.exceptions

from tests.control_plane import commands, crd, workloads
from tests.control_plane.audit import AuditLog
from tests.control_plane.certificates import make_certificates
from tests.control_plane.http import Http, kubectl
from tests.control_plane.processes import Ports, Processes, StartError
from tests.control_plane.users import Users
from tests.control_plane.waiting import START_SECONDS, wait_until
from tests.server import Answer, Finished, Request, User

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

# The server makes its default roles with a poll of one second: waiting for them doubles the time of a start.
_ROLES = ("poststarthook/rbac/bootstrap-roles", "poststarthook/scheduling/bootstrap-system-priority-classes")
_READY = "/readyz?" + "&".join(f"exclude={hook}" for hook in _ROLES)


class ControlPlane:
    """A cluster without nodes, for as long as the `with` statement lasts.

    crd: the Takara CRD, there before the controller manager starts; "schemaless" lets everything in.
    api_server_flags: more flags for the API server, which win over those it has.
    Enter it in a thread that stays: the system kills the parts when that thread ends.
    Raises StartError, with the ends of the logs, if a part ends or is not ready in time.
    """

    name: ClassVar[str] = "real"
    url: str
    folder: Path

    def __init__(
        self,
        assets: Path,
        *,
        crd: bool | Literal["schemaless"] = True,
        controller_manager: bool = True,
        api_server_flags: Sequence[str] = (),
    ) -> None:
        self._assets = assets
        self._crd = crd
        self._controller_manager = controller_manager
        self._api_server_flags = api_server_flags
        self._cleanup = contextlib.ExitStack()
        self._roles_are_there = False

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as cleanup:
            self.folder = Path(tempfile.mkdtemp(prefix="takara-sync-control-plane-"))
            cleanup.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._processes = Processes(self.folder)
            cleanup.callback(self._processes.kill)
            ports = Ports(3)
            cleanup.callback(ports.close)
            try:
                with self._explained():
                    self._start(cleanup, *ports.numbers)
            except (AssertionError, TimeoutError) as error:
                raise StartError(str(error)) from error
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cleanup.close()

    @property
    def pids(self) -> dict[str, int]:
        """The process ids of the parts, by name."""
        return self._processes.pids

    def user(self, *, admin: bool = True) -> User:
        """A user never handed out before: in system:masters, or without any right of its own."""
        if not admin:
            self.wait_for_roles()
        return self._users.take(admin=admin)

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
        """One request, nothing retried, as an admin unless a user is given; thread-safe.

        Bytes and text are sent as they are, everything else as JSON. Raises urllib3's HTTPError where there
        is no answer, StartError where that is because a part has ended.
        """
        token = (user or self._users.harness).token
        headers = {"Authorization": f"Bearer {token}", "Accept": accept, "Content-Type": content_type}
        try:
            return self._api.call(method, path, body, headers)
        except urllib3.exceptions.HTTPError:
            self._processes.check()
            raise

    def kubectl(
        self,
        *args: str,
        stdin: str | None = None,
        check: bool = True,
        user: User | None = None,
        namespace: str | None = None,
    ) -> Finished:
        """Runs the real kubectl, as an admin unless a user is given, with a home inside the folder.

        Raises CommandError, with both outputs in it, if the code is not 0 and check is on.
        """
        self.wait_for_roles()
        who = (user or self._users.harness).kubeconfig
        where = () if namespace is None else (f"--namespace={namespace}",)
        finished = kubectl(self._part("kubectl"), who, *where, *args, stdin=stdin)
        return finished.check() if check else finished

    def requests(self, user: User) -> list[Request]:
        """What the user sent, in the order in which it came in; complete once the answers are there."""
        return self._audit.of(user.name)

    def namespace(self) -> str:
        """Creates a namespace with a random name."""
        name = f"test-{secrets.token_hex(5)}"  # not random.*: a seeded generator repeats itself
        answer = self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        if answer.status != 201:
            raise AssertionError(f"no namespace {name}: {answer.status} {answer.body}")
        return name

    def settle(self, namespace: str) -> None:
        """Returns when the controllers have done all that they will do; see workloads.settle."""
        if self._controller_manager:
            with self._explained():
                workloads.settle(self, namespace)

    def make_ready(self, namespace: str, deployment: str) -> None:
        """Runs the Deployment's pods until it is Available, as kubelets would; see workloads.make_ready."""
        with self._explained():
            workloads.make_ready(self, namespace, deployment)

    def compact(self) -> None:
        """Makes etcd forget the past: every continue token given out so far answers 410 from now on."""
        # A token of the newest revision would live on, so there must be a newer one.
        key = base64.b64encode(b"takara-sync-tests").decode()
        newest = self._etcd.call("POST", "/v3/kv/put", {"key": key, "value": key})
        revision = newest.body["header"]["revision"]
        answer = self._etcd.call("POST", "/v3/kv/compaction", {"revision": revision, "physical": True})
        if answer.status != 200:
            raise AssertionError(f"etcd refused the compaction: {answer.status} {answer.body}")

    def wait_for_roles(self) -> None:
        """Returns when the server has its default roles, about a second after its start.

        Admins need none. A ServiceAccount does, as soon as it asks for discovery or its own rights; for
        kubectl and other users this is done already.
        """
        if not self._roles_are_there:
            wait_until(lambda: self._unready("/readyz"), within=START_SECONDS)
            self._roles_are_there = True

    def restart(self, *, after: float = 0.0, new_authority: bool = False, forget: Sequence[User] = ()) -> None:
        """Kills the API server and starts it again on the same port and data, `after` so many seconds.

        new_authority: it then shows a certificate of another one; the file `ca.crt` of the folder is that one.
        forget: their tokens are no good any more. The controller manager keeps what it trusts.
        """
        self._processes.kill("kube-apiserver")
        time.sleep(after)
        self._users.forget(forget)
        if new_authority:
            make_certificates(self.folder)
            self._api = self._cleanup.enter_context(contextlib.closing(Http(self.url, self.folder / "ca.crt")))
        self._serve()

    def snapshot(self) -> Path:
        """A copy of what etcd holds at this moment, as an administrator's backup has it; for `restore`."""
        self._processes.kill("etcd")
        copy = Path(tempfile.mkdtemp(dir=self.folder, prefix="snapshot-"))
        shutil.copytree(self.folder / "etcd", copy, dirs_exist_ok=True)
        self._run_etcd()
        wait_until(lambda: self._unready(_READY), within=START_SECONDS)
        return copy

    def restore(self, snapshot: Path) -> None:
        """Everything is as it was at the snapshot, resourceVersions too; every part starts again."""
        self._processes.kill()
        shutil.rmtree(self.folder / "etcd")
        shutil.copytree(snapshot, self.folder / "etcd")
        self._run_etcd()
        self._serve()
        if self._controller_manager:
            self._run("kube-controller-manager", self._controllers)

    def _run_etcd(self) -> None:
        self._run("etcd", self._etcd_flags)

    def _start(self, cleanup: contextlib.ExitStack, port: int, etcd_client: int, etcd_peer: int) -> None:
        etcd_url = f"http://127.0.0.1:{etcd_client}"
        peer_url = f"http://127.0.0.1:{etcd_peer}"
        self.url = f"https://127.0.0.1:{port}"
        self._etcd_flags = commands.etcd(self.folder, client=etcd_url, peer=peer_url)
        self._run_etcd()
        keys = make_certificates(self.folder)
        self._users = Users(self.folder, self.url, keys.authority)
        self._audit = AuditLog(self.folder)
        flags = (*self._audit.flags, *self._api_server_flags)
        self._api_server = commands.api_server(port, etcd_url, keys, self._users, flags)
        self._etcd = cleanup.enter_context(contextlib.closing(Http(etcd_url)))
        self._api = cleanup.enter_context(contextlib.closing(Http(self.url, keys.authority)))
        self._serve()
        if self._crd:
            crd.install(self, self._crd)
        if self._controller_manager:
            self.wait_for_roles()  # it waits for them too, and gives up after 10 s
            self._controllers = commands.controller_manager(keys, self._users)
            self._run("kube-controller-manager", self._controllers)

    def _serve(self) -> None:
        self._run("kube-apiserver", self._api_server)
        wait_until(lambda: self._unready(_READY), within=START_SECONDS)

    def _run(self, part: str, flags: list[str]) -> None:
        self._processes.start(part, [self._part(part), *flags], self._environment())

    def _part(self, name: str) -> str:
        return str(self._assets / name)

    def _environment(self) -> dict[str, str]:
        """Nothing of the user's own: no kubectl settings, no proxy, no feature gates."""
        return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.folder)}

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Adds the ends of the logs to a TimeoutError."""
        try:
            yield
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self._processes.tails()}") from error

    def _unready(self, path: str) -> str:
        self._processes.check()
        try:
            answer = self.call("GET", path)
        except urllib3.exceptions.HTTPError as error:
            return f"the API server does not answer: {error}"
        return "" if answer.status == 200 else f"{path}: {answer.status} {answer.body}"
