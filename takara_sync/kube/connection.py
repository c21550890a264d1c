"""The address of the API server, and our user there.

The order is the same as in kubectl: the given kubeconfig, else the files in $KUBECONFIG, else ~/.kube/config. Without a
current context: the ServiceAccount of our pod.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError, Unauthorized
from takara_sync.kube.credentials import Credentials, credentials
from takara_sync.kube.kubeconfig import Chosen, Cluster, User, choose, is_loopback, paths, unusable

if TYPE_CHECKING:
    from takara_sync.kube.client import Client

log = logging.getLogger("takara_sync")

PLUGIN_SECONDS = 30.0
"""How long the credentials may take at the start. Later the limit is the deadline of the pass."""
_RETRY_SECONDS = 10.0
_GLANCE_SECONDS = 0.05


class Connection:
    """One API server and one user. The credentials are renewed before they expire. Threads may share it.

    chosen: the context, with its namespace, cluster and user. source: the same as text for messages.
    current: the client after the last renewal.
    """

    def __init__(
        self,
        kubeconfig: str | None = None,
        context: str | None = None,
        *,
        before: str = "",
        connections: int = 16,
        user_agent: str = "takara-sync",
        deadline: Deadline | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read the current credentials, and run the exec plugin if there is one. This sends no request.

        before: the context of an earlier Connection. It is used again if the kubeconfig still has it, so that a change
            of the current context does not move a running loop to another cluster.
        connections: the maximum number of open connections. clock: seconds since the epoch.

        Raises:
            ConfigurationError: there are no usable credentials, or they took too long.
            CutShort: somebody stopped the process.
        """
        self._clock, self._connections, self._user_agent = clock, connections, user_agent
        self._lock = threading.Lock()
        self._renewal = _in_background(lambda: self._begin(kubeconfig, context, before))
        _patiently(self._renewal, deadline or Deadline(PLUGIN_SECONDS))
        log.info("using %s", self.source)

    def client(self, deadline: Deadline | None = None) -> Client:
        """The client with valid credentials. Call this before each request, outside of the request timeout.

        One thread renews credentials that expire soon; all other threads wait for it, at most until `deadline`.

        Raises:
            Unauthorized: the credentials have expired and could not be renewed.
            CutShort: somebody stopped the process.
        """
        with self._lock:
            if self._renewal.done() and self._clock() >= self._credentials.renew_at:
                self._renewal = _in_background(self._renew)
            renewal = self._renewal
        try:
            _patiently(renewal, deadline or Deadline())
        except ConfigurationError as error:
            raise Unauthorized(error.message, error.hint) from error
        return self.current

    def close(self) -> None:
        """Close idle connections."""
        self.current.close()

    def _begin(self, kubeconfig: str | None, context: str | None, before: str) -> None:
        sources = paths(kubeconfig)
        self.chosen = choose(sources, context, before) or _in_pod(sources)
        self.source = f"{_source(self.chosen)}, at {_url(self.chosen)}"
        found = self._current()
        self.current = self._new_client(found)
        self._take(found)

    def _current(self) -> Credentials:
        """The credentials at this time."""
        url = urlsplit(_url(self.chosen))
        if url.scheme == "http" and (not is_loopback(url.hostname) or self.chosen.cluster.get("proxy-url")):
            log.warning("no credentials are sent, because everybody on the way can read plain http; use https")
            return Credentials()
        found = credentials(self.chosen, self._clock())
        if found is None and url.scheme == "https":
            raise unusable(self.chosen.source, "its user has no credentials")
        return found or Credentials()

    def _renew(self) -> None:
        client, known, now = self.current, self._credentials, self._clock()
        try:
            found = self._current()
        except ConfigurationError as error:
            if now >= known.expires_at:
                raise
            log.warning("the credentials could not be renewed: %s", error)
            found = known._replace(renew_at=min(now + _RETRY_SECONDS, known.expires_at))
        if found.certificate != known.certificate:
            self.current = self._new_client(found)
            client.close()  # closes idle connections only; running requests continue
        self._take(found)

    def _take(self, found: Credentials) -> None:
        self.current.authorization = found.authorization
        self._credentials = found

    def _new_client(self, credentials: Credentials) -> Client:
        from takara_sync.kube.client import new_client  # noqa: PLC0415 - it is heavy

        return new_client(_url(self.chosen), self.chosen, credentials.certificate, self._connections, self._user_agent)


def _in_pod(sources: list[str]) -> Chosen:
    """The ServiceAccount of our pod."""
    if not os.environ.get("KUBERNETES_SERVICE_HOST"):
        names = os.pathsep.join(sources)
        there = any(map(os.path.exists, sources))
        what = f"The kubeconfig {names} names no current-context" if there else f"There is no kubeconfig at {names}"
        raise ConfigurationError(what, "Give --kubeconfig or --context, set KUBECONFIG, or run in a pod.")
    from kubernetes.client import Configuration  # noqa: PLC0415 - it is heavy
    from kubernetes.config import ConfigException, incluster_config  # noqa: PLC0415

    loaded = Configuration()
    try:
        incluster_config.load_incluster_config(loaded)
    except (ConfigException, OSError) as error:
        what = f"The ServiceAccount of this pod cannot be used: {error}"
        raise ConfigurationError(what, "Set automountServiceAccountToken, or give --kubeconfig.") from error
    # In a cluster the network is fast: to compress costs the API server and us more time than it saves.
    cluster: Cluster = {
        "server": loaded.host,
        "certificate-authority": loaded.ssl_ca_cert,
        "disable-compression": True,
    }
    user: User = {"tokenFile": incluster_config.SERVICE_TOKEN_FILENAME}
    return Chosen("ServiceAccount of this pod", "", "", cluster, user)


def _source(chosen: Chosen) -> str:
    said = {"context": chosen.context, "namespace": chosen.namespace, "as": chosen.user.get("as")}
    return ", ".join([f"the {chosen.source}", *(f"{key} {value}" for key, value in said.items() if value)])


def _url(chosen: Chosen) -> str:
    """The address of the server. Without a scheme it is plain http, as for kubectl."""
    server, name = chosen.cluster.get("server") or "", chosen.cluster.get("tls-server-name") or ""
    try:
        url = urlsplit(server if "://" in server else f"http://{server}" if ":" in server else "")
        usable = url.scheme in ("http", "https") and url.hostname and url.port != 0 and name.isprintable()
    except ValueError:
        usable = False
    if not usable:
        part = "server of its cluster is not an http or https URL with a usable port"
        part = part if name.isprintable() else "tls-server-name of its cluster is not a host name"
        raise unusable(chosen.source, f"the {part}")
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}"


def _in_background(function: Callable[[], object]) -> Future[object]:
    """Call `function` in a daemon thread, because a plugin may wait for a person for ever."""
    box: Future[object] = Future()

    def work() -> None:
        try:
            box.set_result(function())
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            box.set_exception(error)

    threading.Thread(target=work, name="credentials", daemon=True).start()
    return box


def _patiently(box: Future[object], deadline: Deadline) -> None:
    """Wait. Raises CutShort after a stop, ConfigurationError after the deadline."""
    while not box.done() and not wait([box], timeout=_GLANCE_SECONDS).done:
        if deadline.left_for_requests() <= 0:
            what = f"The credentials could not be read within {deadline.seconds:g} s"
            raise ConfigurationError(what, "The exec plugin of the kubeconfig did not finish: run its command by hand.")
        deadline.check()
    box.result()
