"""Where the API server is and who we are: in-cluster, kubeconfig, context.

The order: an explicit kubeconfig or context, then $KUBECONFIG, then the ServiceAccount of the pod we run in,
then ~/.kube/config.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from takara_sync.cluster import Deadline
from takara_sync.errors import ConfigurationError

if TYPE_CHECKING:
    from kubernetes.client import ApiClient, Configuration

log = logging.getLogger("takara_sync")

T = TypeVar("T")

PLUGIN_SECONDS = 30.0
"""How long the credentials may take at the start; later, what the pass has left."""
_GLANCE_SECONDS = 0.05

_NEXT_STEP = "Try: kubectl get takaras -A, with the same kubeconfig and context."


def connector(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    connections: int = 16,
    user_agent: str = "takara-sync",
) -> Callable[[], ApiClient]:
    """A function that makes a client from what the credentials are at that moment; nothing is sent.

    Raises, when called:
        ConfigurationError: there are no usable credentials.
    """

    def connect() -> ApiClient:
        from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415 - costs 0.2 s and 44 MiB

        configuration = Configuration()
        configuration.retries = False  # urllib3 would sleep as long as any Retry-After says
        configuration.connection_pool_maxsize = connections
        _load(configuration, kubeconfig, context)
        client = _client(ApiClient, configuration)
        client.user_agent = user_agent
        return client

    return connect


def patiently(function: Callable[[], T], deadline: Deadline) -> T:
    """The result of `function`, which may wait for a credential plugin that waits for a person.

    It runs in a thread that is left behind where it does not end in time.

    Raises:
        ConfigurationError: the deadline passed.
        CutShort: somebody asked for the end.
    """
    box: Future[T] = Future()

    def work() -> None:
        try:
            box.set_result(function())
        except BaseException as error:  # noqa: BLE001 - carried over to who waits for it
            box.set_exception(error)

    threading.Thread(target=work, name="credentials", daemon=True).start()
    while not wait([box], timeout=_GLANCE_SECONDS).done:
        if deadline.left_for_requests() <= 0:
            what = f"The credentials could not be had within {deadline.seconds:g} s"
            raise ConfigurationError(what, "A plugin of the kubeconfig waits: run its command by hand.")
        deadline.check()
    return box.result()


def _client(kind: type[ApiClient], configuration: Configuration) -> ApiClient:
    """Raises ConfigurationError for a proxy that cannot be used; its URL may hold a password and is not shown."""
    hint = "Correct proxy-url in the kubeconfig, or HTTPS_PROXY."
    if (configuration.proxy or "").lower().startswith("socks"):
        raise ConfigurationError("SOCKS proxies are not supported", hint)
    try:
        return kind(configuration)
    except Exception as error:
        raise ConfigurationError(f"The proxy cannot be used: {type(error).__name__}", hint) from error


def _load(configuration: Configuration, kubeconfig: str | None, context: str | None) -> None:
    source = kubeconfig or os.environ.get("KUBECONFIG")
    if not source and context is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
        _from_pod(configuration)
    else:
        _from_kubeconfig(configuration, source or str(Path("~/.kube/config").expanduser()), context)


def _from_pod(configuration: Configuration) -> None:
    from kubernetes.config import ConfigException, load_incluster_config  # noqa: PLC0415

    try:
        load_incluster_config(configuration)
    except (ConfigException, OSError) as error:
        raise ConfigurationError(
            f"The ServiceAccount of this pod cannot be used: {error}",
            "Set automountServiceAccountToken, or give --kubeconfig.",
        ) from error
    log.info("using the ServiceAccount of this pod, at %s", _without_userinfo(configuration.host))


def _from_kubeconfig(configuration: Configuration, source: str, context: str | None) -> None:
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger  # noqa: PLC0415

    if not any(Path(path).expanduser().is_file() for path in source.split(os.pathsep) if path):
        raise ConfigurationError(
            f"There is no kubeconfig at {source}",
            "Give --kubeconfig, or set KUBECONFIG, or run in a pod with a ServiceAccount.",
        )
    try:
        loader: Any = KubeConfigLoader(KubeConfigMerger(source).config, active_context=context, config_base_path=None)
        loader.load_and_set(configuration)
    except Exception as error:
        raise ConfigurationError(f"The kubeconfig {source} cannot be used: {_safe(error)}", _NEXT_STEP) from error
    if "server" not in loader._cluster:
        raise ConfigurationError(f"The cluster of the context in {source} has no server", _NEXT_STEP)
    _must_have_credentials(loader._user, configuration, source)
    log.info("using the kubeconfig %s, at %s", source, _without_userinfo(configuration.host))


def _without_userinfo(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def _safe(error: Exception) -> str:
    """What a loader's error may show. YAML errors quote the file, and the file holds tokens."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f"no YAML at line {mark.line + 1}"
    if isinstance(error, OSError) and error.filename:
        return f"{error.strerror}: {error.filename}"
    return f"{type(error).__name__}" if not type(error).__module__.startswith("kubernetes") else str(error)


def _must_have_credentials(user: Any, configuration: Configuration, source: str) -> None:
    """A plugin that fails must not become an anonymous request."""
    ways = [way for way in ("exec", "auth-provider") if user is not None and way in user]
    if ways and not configuration.api_key and not configuration.cert_file:
        raise ConfigurationError(
            f"The {ways[0]} plugin of the user in {source} gave no credentials",
            "Run its command by hand to see why; kubectl uses the same.",
        )
