"""Where the API server is and who we are: in-cluster, kubeconfig, context.

The order: an explicit kubeconfig or context, then $KUBECONFIG, then the ServiceAccount of the pod we run in,
then ~/.kube/config.
"""

from __future__ import annotations

import binascii
import logging
import os
import re
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from takara_sync.cluster import Deadline
from takara_sync.errors import ConfigurationError
from takara_sync.kube.kubeconfig import NEXT_STEP, Chosen, chosen, there

if TYPE_CHECKING:
    from kubernetes.client import ApiClient, Configuration

log = logging.getLogger("takara_sync")

T = TypeVar("T")

PLUGIN_SECONDS = 30.0
"""How long the credentials may take at the start; later, what the pass has left."""
_GLANCE_SECONDS = 0.05


def connector(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    connections: int = 16,
    user_agent: str = "takara-sync",
) -> Callable[[], ApiClient]:
    """A function that makes a client from what the credentials are at that moment; nothing is sent.

    What a kubeconfig names as its current context at the first call stays the one to use as long as it has it: who
    switches the context of a shell does not move a running loop to another cluster.

    Raises, when called:
        ConfigurationError: there are no usable credentials.
    """
    settled: Chosen | None = None

    def connect() -> ApiClient:
        nonlocal settled
        from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415 - costs 0.2 s and 44 MiB

        configuration = Configuration()
        configuration.retries = False  # urllib3 would sleep as long as any Retry-After says
        configuration.connection_pool_maxsize = connections
        source = kubeconfig or os.environ.get("KUBECONFIG")
        if not source and context is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
            _from_pod(configuration)
        else:
            source = source or str(Path("~/.kube/config").expanduser())
            settled = _from_kubeconfig(configuration, source, context, settled and settled.context)
        client = _client(ApiClient, configuration)
        client.user_agent = user_agent
        if settled and settled.acts_as:
            client.set_default_header("Impersonate-User", settled.acts_as)
        return client

    return connect


def fingerprint(client: ApiClient) -> tuple[Any, ...]:
    """What tells one server or one user from another: read anew and found equal, they need no new connection."""
    used = client.configuration
    files = (used.ssl_ca_cert, used.cert_file, used.key_file)
    told = (used.host, used.proxy, used.verify_ssl, used.tls_server_name, used.username, used.password)
    acts_as = client.default_headers.get("Impersonate-User")
    return (*told, acts_as, dict(used.api_key), *(_content(path) for path in files))


def _content(path: str | None) -> bytes:
    try:
        return Path(path).read_bytes() if path else b""
    except OSError:  # it goes the way that the connection will go
        return b""


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


def _from_kubeconfig(configuration: Configuration, source: str, context: str | None, before: str | None) -> Chosen:
    """Gives what was chosen of it."""
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger  # noqa: PLC0415

    if not there(source):
        raise ConfigurationError(
            f"There is no kubeconfig at {source}",
            "Give --kubeconfig, or set KUBECONFIG, or run in a pod with a ServiceAccount.",
        )
    used = chosen(source, context, before)
    try:
        loader: Any = KubeConfigLoader(
            KubeConfigMerger(source).config, active_context=used.context, config_base_path=None
        )
        loader.load_and_set(configuration)
    except Exception as error:
        raise ConfigurationError(f"The kubeconfig {source} cannot be used: {_safe(error)}", NEXT_STEP) from error
    _must_have_credentials(loader._user, configuration, source)
    _must_be_certificates(configuration, source)
    who = f" as {used.acts_as}" if used.acts_as else ""
    where = _without_userinfo(configuration.host)
    log.info("using the kubeconfig %s, context %s%s, at %s", source, used.context, who, where)
    return used


def _without_userinfo(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def _safe(error: Exception) -> str:
    """What a loader's error may show: some quote the file, and the file holds tokens."""
    text = str(error)
    if isinstance(error, OSError) and error.filename:
        return f"{error.strerror}: {error.filename}"
    if isinstance(error, binascii.Error):
        return "what stands under a key that ends with -data is not base64"
    if isinstance(error, UnicodeError):
        return "a file that it names holds no text"
    return text if text.startswith("File does not exist") else type(error).__name__


def _must_be_certificates(configuration: Configuration, source: str) -> None:
    """What holds no certificate would fail at every connection, as if the server were at fault."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    what = "certificate-authority"
    try:
        if configuration.ssl_ca_cert:
            context.load_verify_locations(configuration.ssl_ca_cert)
        what = "client-certificate or client-key"
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, configuration.key_file, password="")
    except (ssl.SSLError, OSError, ValueError) as error:
        why = f"The kubeconfig {source} cannot be used: its {what} holds no such thing in PEM"
        raise ConfigurationError(why, NEXT_STEP) from error


def _must_have_credentials(user: Any, configuration: Configuration, source: str) -> None:
    """A plugin that fails must not become an anonymous request."""
    ways = [way for way in ("exec", "auth-provider") if user is not None and way in user]
    if ways and not configuration.api_key and not configuration.cert_file:
        raise ConfigurationError(
            f"The {ways[0]} plugin of the user in {source} gave no credentials",
            "Run its command by hand to see why; kubectl uses the same.",
        )
