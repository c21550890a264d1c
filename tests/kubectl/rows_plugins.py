"""Exec plugins and auth-providers."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from tests.kubectl.recorder import GOOD
from tests.kubectl.table import Json, Row, rows

GROUP = "client.authentication.k8s.io"
V1 = f"{GROUP}/v1"
TOKEN = {"token": f"{GOOD}plugin"}


def answering(status: Any, version: str = V1, kind: str = "ExecCredential") -> str:
    """A shell script that prints this status."""
    return f"#!/bin/sh\ncat <<'END'\n{json.dumps({'apiVersion': version, 'kind': kind, 'status': status})}\nEND\n"


def plugin(name: str, script: str = answering(TOKEN), differs: str = "", **more: Any) -> Row:
    """A row whose user has a plugin in the folder; more: what else its `exec` says."""
    user = {"exec": {"apiVersion": V1, "command": "./plugin", "interactiveMode": "Never"} | more}
    return Row(f"a plugin {name}", user, files={"plugin": script}, differs=differs)


def beside(name: str, user: Json) -> Row:
    made = plugin(name)
    return Row(made.name, (made.user or {}) | user, files=made.files)


def id_token(seconds: float) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": time.time() + seconds}).encode()).decode().rstrip("=")
    return f"{GOOD}x.{claims}.sig"


def provider(name: str, of: str, differs: str = "", **config: str) -> Row:
    needed = {"idp-issuer-url": "https://127.0.0.1:1", "client-id": "x"}
    return Row(f"auth-provider {name}", {"auth-provider": {"name": of, "config": needed | config}}, differs=differs)


PAIR = {"clientCertificateData": "@pem-cert", "clientKeyData": "@pem-key"}
NAMED = '#!/bin/sh\ncat <<END\n{"apiVersion": "%s", "kind": "ExecCredential", "status": {"token": "good-%s"}}\nEND\n'
SAYS = NAMED % (V1, "$(%s)")

# Its token is what it was told, so that a difference is another user.
READS = f"""#!@python
import json, os
told = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
said = "".join(c for c in json.dumps(told, sort_keys=True).replace("null", "") if c.isalnum())
print(json.dumps({{"apiVersion": "{V1}", "kind": "ExecCredential", "status": {{"token": "{GOOD}" + said}}}}))
"""

ROWS = rows(
    plugin("with a token"),
    plugin("of v1beta1", answering(TOKEN, f"{GROUP}/v1beta1"), apiVersion=f"{GROUP}/v1beta1"),
    plugin(
        "of v1beta1 without a mode",
        answering(TOKEN, f"{GROUP}/v1beta1"),
        apiVersion=f"{GROUP}/v1beta1",
        interactiveMode=None,
    ),
    plugin("of v1alpha1", answering(TOKEN, f"{GROUP}/v1alpha1"), apiVersion=f"{GROUP}/v1alpha1"),
    plugin("of v1 without a mode", interactiveMode=None),
    plugin("of no version", apiVersion=None),
    plugin("that answers with another version", answering(TOKEN, f"{GROUP}/v1beta1")),
    plugin("that answers with another kind", answering(TOKEN, V1, "Secret")),
    plugin("if a terminal is available", interactiveMode="IfAvailable"),
    plugin("that always needs a terminal", interactiveMode="Always"),
    plugin("of a mode that is none", interactiveMode="Sometimes"),
    plugin("with arguments", NAMED % (V1, "$1-$2"), args=["a", "b c"]),
    plugin("with variables", NAMED % (V1, "$WHO"), env=[{"name": "WHO", "value": "env"}]),
    plugin("with a variable without a value", NAMED % (V1, "x$WHO"), env=[{"name": "WHO"}]),
    plugin("with null", args=None, env=None),
    plugin("that sees HOME", NAMED % (V1, "$(basename $HOME | tr -cd a-z)")),
    plugin("that reads what it is", READS),
    plugin("that reads the cluster", READS, provideClusterInfo=True),
    plugin("that reads nothing", SAYS % "cat | wc -c"),
    plugin("without an answer", "#!/bin/sh\n"),
    plugin("that prints no JSON", "#!/bin/sh\necho hello\n"),
    plugin("that prints a list", "#!/bin/sh\necho '[]'\n"),
    plugin("that fails", "#!/bin/sh\necho please log in >&2\nexit 3\n"),
    plugin("that fails after an answer", answering(TOKEN) + "exit 1\n"),
    plugin("that is killed", "#!/bin/sh\nkill -9 $$\n"),
    plugin("that says something as well", "#!/bin/sh\necho hello >&2\n" + answering(TOKEN).removeprefix("#!/bin/sh\n")),
    plugin("without a status", answering(None)),
    plugin("with an empty status", answering({})),
    plugin("with an empty token", answering({"token": ""})),
    plugin("with a token that is a number", answering({"token": 5})),
    plugin("with an unknown token", answering({"token": "bad"})),
    plugin("with more than it should", answering(TOKEN | {"future": 1})),
    plugin("with an end", answering(TOKEN | {"expirationTimestamp": "2999-01-01T00:00:00Z"})),
    plugin("with an end that is over", answering(TOKEN | {"expirationTimestamp": "2001-01-01T00:00:00Z"})),
    plugin("with an end that is null", answering(TOKEN | {"expirationTimestamp": None})),
    plugin("with an end that is none", answering(TOKEN | {"expirationTimestamp": "soon"})),
    plugin("with a certificate", answering(PAIR)),
    plugin("with a certificate and an empty token", answering(PAIR | {"token": ""})),
    plugin("with a certificate and a token", answering(PAIR | TOKEN)),
    plugin("with a certificate without a key", answering({"clientCertificateData": "@pem-cert"})),
    plugin("with a certificate without a key and a token", answering(TOKEN | {"clientCertificateData": "@pem-cert"})),
    plugin("with a certificate that is none", answering({"clientCertificateData": "x", "clientKeyData": "x"})),
    plugin("that is missing", command="./absent", installHint="get it from nowhere"),
    plugin("that is missing in PATH", command="absent-plugin"),
    plugin("that is empty", command=""),
    plugin("that is a folder", command="./"),
    plugin("without a shebang and a format", "\x00\x01"),
    plugin("in an absolute path", command="@folder/plugin"),
    plugin("beside the kubeconfig only in name", command="plugin"),
    Row(
        "a plugin beside the file that names it",
        files={
            "a/one": "clusters: [{name: c, cluster: {server: '@url', certificate-authority-data: '@ca'}}]\n"
            "current-context: here\ncontexts: [{name: here, context: {cluster: c, user: u}}]\n",
            "b/two": "users:\n- name: u\n  user:\n"
            f"    exec: {{command: ./bin/p, apiVersion: {V1}, interactiveMode: Never}}\n",
            "b/bin/p": answering(TOKEN),
        },
        env={"KUBECONFIG": "@folder/a/one:@folder/b/two"},
    ),
    Row(
        "a plugin in PATH",
        {"exec": {"apiVersion": V1, "command": "the-plugin", "interactiveMode": "Never"}},
        files={"bin/the-plugin": answering(TOKEN)},
        env={"PATH": "@folder/bin:/usr/bin:/bin"},
    ),
    beside("and a token", {"token": f"{GOOD}tom"}),
    beside("and a name", {"username": f"{GOOD}uma", "password": "p"}),
    beside("and a certificate", {"client-certificate": "client.crt", "client-key": "client.key"}),
    beside("and somebody to act as", {"as": "jane", "as-groups": ["g"]}),
    beside("and a provider", {"auth-provider": {"name": "oidc", "config": {}}}),
    Row(
        "a plugin for plain http",
        plugin("").user,
        {"server": "http://0.0.0.0:@port"},
        files={"plugin": answering(TOKEN)},
    ),
    provider("oidc", "oidc", **{"id-token": id_token(3600)}),
    provider("oidc, expired", "oidc", **{"id-token": id_token(-10)}),
    provider("oidc, without a token", "oidc"),
    provider("oidc, no JWT", "oidc", **{"id-token": "x"}),
    provider("oidc, expired, with a refresh token", "oidc", **{"id-token": id_token(-10), "refresh-token": "x"}),
    provider("gcp", "gcp", **{"access-token": f"{GOOD}x"}),
    provider("azure", "azure", **{"access-token": f"{GOOD}x"}),
    provider("of nobody", "nobody"),
    beside("and nothing else", {}),
)

EXTENSION = [{"name": f"{GROUP}/exec", "extension": {"audience": "x"}}]
ROWS.append(
    Row(
        "a plugin that reads all of the cluster",
        plugin("", provideClusterInfo=True).user,
        {"extensions": EXTENSION, "tls-server-name": "localhost", "proxy-url": "http://127.0.0.1:@port"},
        files={"plugin": READS},
    )
)
