"""The credentials of a user in a kubeconfig, and how long they are valid."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from base64 import b64encode, urlsafe_b64decode
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec

from takara_sync.errors import ConfigurationError
from takara_sync.kube.kubeconfig import Chosen, Exec, unusable
from takara_sync.text import one_line

_FILE_SECONDS = 60.0  # client-go re-reads a token file after this time
_EARLY_SECONDS = 10.0
_V1, _V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
_EXTENSION = "client.authentication.k8s.io/exec"
_MODES = ("Never", "IfAvailable", "Always")
_BY_HAND = "Run its command by hand to see why; kubectl uses the same."
_INSTEAD = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin (Azure)", "oidc": "kubectl oidc-login (kubelogin)"}
_Status = TypedDict(
    "_Status",
    {
        "token": str | None,
        "clientCertificateData": str | None,
        "clientKeyData": str | None,
        "expirationTimestamp": Annotated[datetime, msgspec.Meta(tz=True)] | None,
    },
    total=False,
)
_ExecCredential = TypedDict(
    "_ExecCredential", {"apiVersion": str, "kind": Literal["ExecCredential"], "status": _Status}
)


class Credentials(NamedTuple):
    """authorization: the value of the header. certificate: certificate and key in PEM.

    renew_at: when to get new credentials. expires_at: when these expire. Both are seconds since the epoch.
    """

    authorization: str = ""
    certificate: tuple[bytes, bytes] | None = None
    renew_at: float = float("inf")
    expires_at: float = float("inf")

    def until(self, end: float, now: float) -> Credentials:
        """The same credentials, valid until `end`. Renew 10 s earlier, or after three quarters of a short validity."""
        early = max(1.0, end - now - min(_EARLY_SECONDS, (end - now) / 4))
        return self._replace(renew_at=now + early, expires_at=max(end, now + 1.0))


def credentials(chosen: Chosen, now: float) -> Credentials | None:
    """The current credentials of this user, by the precedence of kubectl, or None. An exec plugin has no time limit.

    now: seconds since the epoch.

    Raises:
        ConfigurationError: a file cannot be read, the exec plugin failed, or the credentials are not usable.
    """
    user, pair = chosen.user, (chosen.pem("client-certificate"), chosen.pem("client-key"))
    authorization, token = "", user.get("token") or ""
    if user.get("tokenFile"):
        try:
            token = chosen.pem("tokenFile").decode(errors="replace").strip() or token
        except ConfigurationError:
            if not token:
                raise
    if token or user.get("tokenFile"):
        authorization = _bearer(chosen, token)
    elif name := user.get("username"):
        secret = f"{name}:{user.get('password') or ''}".encode()
        authorization = f"Basic {b64encode(secret).decode()}"
    if authorization or all(pair):
        again = now + _FILE_SECONDS if user.get("tokenFile") else float("inf")
        return Credentials(authorization, pair if all(pair) else None, again)
    if provider := user.get("auth-provider"):
        return _id_token(chosen, provider, now)
    plugin = user.get("exec")
    return _from_plugin(chosen, plugin, now) if plugin else None


def _bearer(chosen: Chosen, token: str) -> str:
    if not (token := token.strip()) or not (token.isascii() and token.isprintable()):
        raise unusable(chosen.source, "the token of its user is empty, or holds what no HTTP header can carry")
    return f"Bearer {token}"


def _id_token(chosen: Chosen, provider: dict[str, Any], now: float) -> Credentials:
    """The id-token of `auth-provider: oidc`, if it is still valid.

    We never refresh it: that would send the refresh token and the client secret to a URL that the issuer gives.
    """
    name = str(provider.get("name"))
    try:
        token = provider["config"]["id-token"]
        end = float(msgspec.json.decode(urlsafe_b64decode(token.split(".")[1] + "=="))["exp"])
    except (ValueError, LookupError, TypeError, AttributeError):
        token, end = "", 0.0
    if name != "oidc" or end - now <= _EARLY_SECONDS:
        what = "its id-token has expired, and is never refreshed" if name == "oidc" else "it is not supported"
        hint = f"Use an exec plugin instead: {_INSTEAD.get(name, 'that of your provider')}."
        raise unusable(chosen.source, f"auth-provider {one_line(name)}: {what}", hint)
    return Credentials(_bearer(chosen, token), renew_at=end, expires_at=end)


# -------------------------------------------------------------- exec plugins
# https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins


def _from_plugin(chosen: Chosen, plugin: Exec, now: float) -> Credentials:
    version = plugin.get("apiVersion") or ""
    mode = plugin.get("interactiveMode") or ("IfAvailable" if version == _V1BETA1 else "")
    interactive = mode in _MODES[1:] and sys.stdin is not None and sys.stdin.isatty()
    for wrong, what in (
        (version not in (_V1, _V1BETA1), f"has an apiVersion other than {_V1}"),
        (mode not in _MODES, f"needs an interactiveMode of {', '.join(_MODES)}"),
        (mode == "Always" and not interactive, "needs a terminal"),
    ):
        if wrong:
            raise unusable(chosen.source, f"the exec plugin of its user {what}", _BY_HAND)
    more = {"cluster": _cluster_info(chosen)} if plugin.get("provideClusterInfo") else {}
    info = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": interactive} | more}
    answer = _output(chosen, plugin, msgspec.json.encode(info).decode(), interactive)
    try:
        answered = msgspec.json.decode(answer, type=_ExecCredential)
    except (ValueError, RecursionError):
        answered = _ExecCredential(apiVersion="", kind="ExecCredential", status={})
    token, end = answered["status"].get("token") or "", answered["status"].get("expirationTimestamp")
    pair = tuple(str(answered["status"].get(f"client{part}Data") or "").encode() for part in ("Certificate", "Key"))
    if answered["apiVersion"] != version or any(pair) != all(pair) or not (token or all(pair)):
        what = "gave no credentials: it has to print an ExecCredential with a token, or with a certificate and its key"
        raise unusable(chosen.source, f"the exec plugin of its user {what}", _BY_HAND)
    given = Credentials(_bearer(chosen, token) if token else "", (pair[0], pair[1]) if all(pair) else None)
    return given.until(end.timestamp(), now) if end else given


def _cluster_info(chosen: Chosen) -> dict[str, Any]:
    """`Cluster` of https://kubernetes.io/docs/reference/config-api/client-authentication.v1/."""
    keys = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    configs = [
        each.get("extension") for each in chosen.cluster.get("extensions") or () if each.get("name") == _EXTENSION
    ]
    said = {**chosen.cluster, "certificate-authority-data": chosen.pem("certificate-authority")}
    more = {key: value for key, value in said.items() if value and key in keys}
    return more | {"config": next(iter(configs), None)}


def _output(chosen: Chosen, plugin: Exec, info: str, interactive: bool) -> bytes:
    """The stdout of the command. Its stderr goes to the terminal; without a terminal its last line is in the error."""
    command = plugin.get("command") or ""
    variables = {each.get("name") or "": each.get("value") or "" for each in plugin.get("env") or ()}
    try:
        done = subprocess.run(  # noqa: S603 - the command is from the kubeconfig
            [shutil.which(command) or command, *(plugin.get("args") or ())],
            env=os.environ | variables | {"KUBERNETES_EXEC_INFO": info},
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if sys.stderr is not None and sys.stderr.isatty() else subprocess.PIPE,
            check=False,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it has no usable command"
        hint = one_line(plugin.get("installHint") or "") or _BY_HAND
        raise unusable(chosen.source, f"the exec plugin of its user cannot be started: {why.lower()}", hint) from error
    if done.returncode != 0:
        last = one_line((done.stderr or b"").decode(errors="replace").strip().rpartition("\n")[2])
        raise unusable(
            chosen.source, f"the exec plugin of its user ended with code {done.returncode} {last}".strip(), _BY_HAND
        )
    return done.stdout
