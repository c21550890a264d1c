"""Files, contexts, users: what a kubeconfig can say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tests.kubectl.recorder import GOOD
from tests.kubectl.table import Json, Row, rows

if TYPE_CHECKING:
    from pathlib import Path

CERTIFICATE = {"client-certificate-data": "@cert", "client-key-data": "@key"}
FILES = {"client-certificate": "client.crt", "client-key": "client.key"}


def without(*keys: str) -> Any:
    def edit(config: Json) -> Json:
        return {key: value for key, value in config.items() if key not in keys}

    return edit


def replaced(**values: Any) -> Any:
    return lambda config: config | {key.replace("_", "-"): value for key, value in values.items()}


def link(name: str, target: str) -> Any:
    def prepare(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(folder / target)

    return prepare


def folders(*names: str) -> Any:
    """The files of the client's certificate, there as well."""

    def prepare(folder: Path) -> None:
        for name in names:
            (folder / name).mkdir(parents=True, exist_ok=True)
            for file in ("ca.crt", "client.crt", "client.key"):
                (folder / name / file).write_bytes((folder / file).read_bytes())

    return prepare


def closed(folder: Path) -> None:
    (folder / "config").chmod(0)


def moved(place: str) -> Any:
    def prepare(folder: Path) -> None:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / "config").rename(folder / place)

    return prepare


CLUSTER_ONLY = "clusters: [{name: c, cluster: {server: '@url', certificate-authority-data: '@ca'}}]\n"
USER_ONLY = "users: [{name: u, user: {client-certificate: certs/client.crt, client-key: certs/client.key}}]\n"
CONTEXT_ONLY = "current-context: here\ncontexts: [{name: here, context: {cluster: c, user: u}}]\n"
TWO = {"KUBECONFIG": "@folder/a/one:@folder/b/two"}
ANOTHER = {"name": "other", "user": {"token": f"{GOOD}other"}}

ROWS = rows(
    Row("a token"),
    Row("a token that the server does not know", {"token": "bad"}),
    Row("a token in a file", {"tokenFile": "token"}, files={"token": f"{GOOD}file"}),
    Row("a token file that ends with a newline", {"tokenFile": "token"}, files={"token": f"{GOOD}file\n"}),
    Row("a token file wins over a token", {"token": "stale", "tokenFile": "token"}, files={"token": f"{GOOD}file"}),
    Row("a token file beside an empty token", {"token": "", "tokenFile": "token"}, files={"token": f"{GOOD}file"}),
    Row("an empty token file", {"tokenFile": "token"}, files={"token": ""}),
    Row("an empty token file beside a token", {"token": f"{GOOD}x", "tokenFile": "token"}, files={"token": ""}),
    Row("no token file", {"tokenFile": "absent"}),
    Row("no token file beside a token", {"token": f"{GOOD}x", "tokenFile": "absent"}),
    Row("a token file that is a link", {"tokenFile": "link"}, files={"t": f"{GOOD}l"}, prepare=link("link", "t")),
    Row("an empty token", {"token": ""}),
    Row("a token that is null", {"token": None}),
    Row("a token that is a number", {"token": 123456}),
    Row(
        "a token with spaces around it",
        {"token": f" {GOOD}tom "},
        differs="no token has spaces; the API server refuses the header that kubectl makes of it",
    ),
    Row(
        "a token with a newline",
        {"token": f"{GOOD}tom\n"},
        differs="pasted with its newline, which is no part of it; kubectl says that the header is invalid",
    ),
    Row("a token with a newline within", {"token": f"{GOOD}to\nm"}),
    Row("name and password", {"username": f"{GOOD}uma", "password": "p:w/d"}),
    Row("name and password that are not ASCII", {"username": f"{GOOD}ümä", "password": "pässwörd"}),
    Row("a name without a password", {"username": f"{GOOD}uma"}),
    Row("a password without a name", {"password": f"{GOOD}pw"}),
    Row("a token and a password", {"token": f"{GOOD}tom", "username": f"{GOOD}uma", "password": "pw"}),
    Row("a token file and a name", {"tokenFile": "t", "username": f"{GOOD}uma"}, files={"t": f"{GOOD}l"}),
    Row("nobody", {}),
    Row("a user that is null", edit=replaced(users=[{"name": "u", "user": None}])),
    Row("a user that is a list", edit=replaced(users=[{"name": "u", "user": []}])),
    # ------------------------------------------------------------------ client certificates
    Row("a certificate in the file", CERTIFICATE),
    Row("a certificate in files", FILES),
    Row("a certificate in absolute files", {key: f"@folder/{name}" for key, name in FILES.items()}),
    Row("a certificate and a token", CERTIFICATE | {"token": f"{GOOD}tom"}),
    Row("a certificate and a password", CERTIFICATE | {"username": f"{GOOD}uma", "password": "pw"}),
    Row("a certificate without a key", {"client-certificate": "client.crt"}),
    Row("a key without a certificate", {"client-key": "client.key"}),
    Row("a key without a certificate beside a token", {"client-key": "client.key", "token": f"{GOOD}tom"}),
    Row("a certificate with the key in the file", {"client-certificate": "client.crt", "client-key-data": "@key"}),
    Row("a certificate twice", FILES | CERTIFICATE),
    Row("a certificate file beside empty data", FILES | {"client-certificate-data": "", "client-key-data": ""}),
    Row("a certificate file beside null data", FILES | {"client-certificate-data": None, "client-key-data": None}),
    Row("certificate data beside empty files", CERTIFICATE | {"client-certificate": "", "client-key": ""}),
    Row("a certificate that is none", {"client-certificate-data": "bm9uZQ==", "client-key-data": "@key"}),
    Row("a certificate with the key of another", FILES | {"client-key": "ca.key"}, prepare=folders()),
    Row("no base64", {"client-certificate-data": "!", "client-key-data": "@key"}),
    Row("a missing certificate file", {"client-certificate": "absent", "client-key": "client.key"}),
    Row("an expired certificate of nobody", {"client-certificate": "ca.crt", "client-key": "client.key"}),
    # ------------------------------------------------------------------ acting as somebody else
    Row("as", {"token": f"{GOOD}tom", "as": "jane"}),
    Row("as with groups", {"token": f"{GOOD}tom", "as": "jane", "as-groups": ["a", "b c"]}),
    Row("as with a uid", {"token": f"{GOOD}tom", "as": "jane", "as-uid": "42"}),
    Row("as with more", {"token": f"{GOOD}tom", "as": "jane", "as-user-extra": {"a/b": ["1", "2"], "Scopes": ["x"]}}),
    Row(
        "as with everything",
        CERTIFICATE | {"as": "j", "as-uid": "1", "as-groups": ["g"], "as-user-extra": {"k": ["v"]}},
    ),
    Row("as in UTF-8", {"token": f"{GOOD}tom", "as": "jörg", "as-groups": ["größe"]}),
    Row("an empty as", {"token": f"{GOOD}tom", "as": ""}),
    Row("an empty as with groups", {"token": f"{GOOD}tom", "as": "", "as-groups": ["g"]}),
    Row("groups without as", {"token": f"{GOOD}tom", "as-groups": ["g"]}),
    Row("a uid without as", {"token": f"{GOOD}tom", "as-uid": "1"}),
    Row("as and nobody", {"as": "jane"}),
    Row("groups that are a text", {"token": f"{GOOD}tom", "as": "jane", "as-groups": "g"}),
    # ------------------------------------------------------------------ contexts
    Row(
        "another context",
        argv=("--context", "there"),
        edit=lambda config: (
            config["contexts"].append({"name": "there", "context": {"cluster": "c", "user": "other"}})
            or config["users"].append(ANOTHER)
        ),
    ),
    Row("a context that is not there", argv=("--context", "absent")),
    Row("no current context", edit=without("current-context")),
    Row("a current context that is not there", edit=replaced(current_context="absent")),
    Row("an empty current context", edit=replaced(current_context="")),
    Row("a current context that is a number", edit=replaced(current_context=5)),
    Row("a context without a user", context={"user": None}),
    Row("a context with a user that is not there", context={"user": "absent"}),
    Row("a context without a cluster", context={"cluster": None}),
    Row("a context with a cluster that is not there", context={"cluster": "absent"}),
    Row("a context with its namespace", context={"namespace": "mine"}),
    Row("a context with extensions", context={"extensions": [{"name": "x", "extension": {"a": [1]}}]}),
    Row("two users of one name", edit=lambda config: config["users"].append({"name": "u", "user": {"token": "x"}})),
    Row("another user that is wrong", edit=lambda config: config["users"].append({"name": "v", "user": {"token": 5}})),
    Row("keys that nobody knows", {"token": f"{GOOD}tom", "future": {"a": 1}}, {"future": True}, {"future": []}),
    Row("preferences", edit=replaced(preferences={"colors": True})),
    # ------------------------------------------------------------------ files
    Row("in the home folder", env={"KUBECONFIG": "@gone"}, prepare=moved(".kube/config")),
    Row("in the home folder, with an empty variable", env={"KUBECONFIG": ""}, prepare=moved(".kube/config")),
    Row("by flag", env={"KUBECONFIG": "/absent"}, argv=("--kubeconfig", "@folder/config")),
    Row("by flag, relative", env={"KUBECONFIG": "@gone"}, argv=("--kubeconfig", "config")),
    Row("by flag, relative, with relative files", FILES, env={"KUBECONFIG": "@gone"}, argv=("--kubeconfig", "config")),
    Row("by flag, absent", argv=("--kubeconfig", "absent")),
    Row("by flag, two", argv=("--kubeconfig", "@folder/config:@folder/config")),
    Row("by flag, a folder", argv=("--kubeconfig", "@folder")),
    Row("two of which one is absent", env={"KUBECONFIG": "/absent:@folder/config"}),
    Row("two of which one is empty", files={"empty": ""}, env={"KUBECONFIG": "@folder/empty:@folder/config"}),
    Row("two of which one is a comment", files={"empty": "# x\n"}, env={"KUBECONFIG": "@folder/empty:@folder/config"}),
    Row("two of which one is null", files={"empty": "null\n"}, env={"KUBECONFIG": "@folder/empty:@folder/config"}),
    Row("two of which one is a text", files={"text": "text"}, env={"KUBECONFIG": "@folder/text:@folder/config"}),
    Row("two of which one is a folder", env={"KUBECONFIG": "@folder:@folder/config"}),
    Row("empty names among them", env={"KUBECONFIG": ":@folder/config:"}),
    Row("the same twice", env={"KUBECONFIG": "@folder/config:@folder/config"}),
    Row("all absent", env={"KUBECONFIG": "/absent:/gone"}),
    Row(
        "split over two files",
        files={"a/one": CLUSTER_ONLY + CONTEXT_ONLY, "b/two": USER_ONLY},
        env=TWO,
        prepare=folders("b/certs"),
    ),
    Row(
        "split over two files, files beside the wrong one",
        files={"a/one": CLUSTER_ONLY, "b/two": USER_ONLY + CONTEXT_ONLY},
        env=TWO,
        prepare=folders("a/certs"),
    ),
    Row(
        "the first of two wins",
        files={"a/one": "users: [{name: u, user: {token: good-first}}]"},
        env={"KUBECONFIG": "@folder/a/one:@folder/config"},
    ),
    Row(
        "the first of two wins, also with nothing",
        files={"a/one": "users: [{name: u, user: {}}]"},
        env={"KUBECONFIG": "@folder/a/one:@folder/config"},
    ),
    Row(
        "the first current context wins",
        files={"a/one": "current-context: absent"},
        env={"KUBECONFIG": "@folder/a/one:@folder/config"},
    ),
    Row(
        "a link to it, with relative files",
        FILES,
        env={"KUBECONFIG": "@folder/far/config"},
        prepare=lambda folder: (folders("far")(folder), link("far/config", "config")(folder)),
    ),
    Row(
        "a link to it, with files beside the target",
        FILES,
        env={"KUBECONFIG": "@folder/far/config"},
        prepare=link("far/config", "config"),
    ),
    Row("a link to nothing", env={"KUBECONFIG": "@folder/l"}, prepare=link("l", "absent")),
    Row("a path through a file", env={"KUBECONFIG": "@folder/config/x"}),
    Row("a name with a NUL in a file", {"tokenFile": "a\0b"}),
    Row("YAML", files={"config": CLUSTER_ONLY + CONTEXT_ONLY + "users:\n- name: u\n  user:\n    token: good-yaml\n"}),
    Row(
        "YAML with an alias",
        files={"config": CLUSTER_ONLY + CONTEXT_ONLY + "t: &t good-a\nusers: [{name: u, user: {token: *t}}]\n"},
    ),
    Row("YAML with tabs", files={"config": "\tclusters: []\n"}),
    Row("no YAML", files={"config": "clusters: [\n"}),
    Row(
        "two documents",
        files={"config": CLUSTER_ONLY + CONTEXT_ONLY + "users: [{name: u, user: {token: good-y}}]\n---\na: 1\n"},
        differs="everything behind the line is lost on kubectl, silently; nobody writes that on purpose",
    ),
    Row(
        "a name like a day",
        files={
            "config": CLUSTER_ONLY + "current-context: 2024-01-01\nusers: [{name: u, user: {token: good-d}}]\n"
            "contexts: [{name: 2024-01-01, context: {cluster: c, user: u}}]\n"
        },
        differs="it is a day by the rules of YAML 1.1, which PyYAML keeps; in quotes it is a name for both",
    ),
    Row("base64 over several lines", {"client-certificate-data": "@cert\n", "client-key-data": "\n@key"}),
    Row("a list", files={"config": "- a\n"}),
    Row("another kind", edit=replaced(kind="Secret")),
    Row("another version", edit=replaced(apiVersion="v2")),
    Row("neither kind nor version", edit=without("kind", "apiVersion")),
    Row(
        "a byte order mark",
        files={"config": "\ufeff" + CLUSTER_ONLY + CONTEXT_ONLY + "users: [{name: u, user: {token: good-b}}]\n"},
    ),
)
if os.geteuid() != 0:
    ROWS.append(Row("a file that may not be read", prepare=closed))
