"""Certificates, addresses and proxies."""

from __future__ import annotations

from tests.kubectl.table import GONE, Row, rows

FAR = {"server": "https://@far:6443"}
HERE = {"server": "https://0.0.0.0:@port"}  # which is no loopback address for Go, and leads to this machine
PROXY = {"HTTPS_PROXY": "http://127.0.0.1:@port"}
NO_CA = {"certificate-authority-data": GONE}


def no_proxy(value: str, cluster: dict[str, str]) -> Row:
    return Row(f"NO_PROXY={value} for {cluster['server']}", cluster=cluster, env=PROXY | {"NO_PROXY": value})


ROWS = rows(
    Row("an authority in a file", cluster=NO_CA | {"certificate-authority": "ca.crt"}),
    Row(
        "an authority in a file beside empty data",
        cluster={"certificate-authority": "ca.crt", "certificate-authority-data": ""},
    ),
    Row(
        "an authority in a file beside null",
        cluster={"certificate-authority": "ca.crt", "certificate-authority-data": None},
    ),
    Row("an authority twice", cluster={"certificate-authority": "ca.crt"}),
    Row("an authority that is not there", cluster=NO_CA | {"certificate-authority": "absent"}),
    Row("an authority that is a key", cluster=NO_CA | {"certificate-authority": "client.key"}),
    Row("an authority that is empty", cluster=NO_CA | {"certificate-authority": "e"}, files={"e": ""}),
    Row(
        "an authority with comments",
        cluster=NO_CA | {"certificate-authority": "b"},
        prepare=lambda folder: (folder / "b").write_text("# ü\n" + (folder / "ca.crt").read_text() + "# end\n"),
    ),
    Row(
        "two authorities",
        cluster=NO_CA | {"certificate-authority": "b"},
        prepare=lambda folder: (folder / "b").write_text(
            (folder / "client.crt").read_text() + (folder / "ca.crt").read_text()
        ),
    ),
    Row("the authorities of the system", cluster=NO_CA),
    Row("no verification", cluster=NO_CA | {"insecure-skip-tls-verify": True}, server="stranger"),
    Row("no verification and an authority", cluster={"insecure-skip-tls-verify": True}),
    Row("no verification, false", cluster={"insecure-skip-tls-verify": False}),
    Row("no verification, a text", cluster=NO_CA | {"insecure-skip-tls-verify": "true"}),
    Row("no verification, for another name", cluster=NO_CA | {"insecure-skip-tls-verify": True}, server="elsewhere"),
    Row("another name, named", cluster={"tls-server-name": "elsewhere.example.invalid"}, server="elsewhere"),
    Row("another name, named wrongly", cluster={"tls-server-name": "x.example.invalid"}, server="elsewhere"),
    Row("another name, empty", cluster={"tls-server-name": ""}),
    Row("a wildcard", cluster={"tls-server-name": "a.example.invalid"}, server="wildcard"),
    Row("a wildcard, too deep", cluster={"tls-server-name": "a.b.example.invalid"}, server="wildcard"),
    *(
        Row(f"a server whose certificate is: {kind}", server=kind)
        for kind in (
            "expired",
            "elsewhere",
            "stranger",
            "common-name",
            "not-for-servers",
            "without-ids",
            "ca-not-critical",
            "ca-without-usage",
            "intermediate",
            "chain",
            "itself",
            "old-authority",
            "rsa",
            "sha1",
        )
    ),
    # ------------------------------------------------------------------ addresses
    Row("localhost", cluster={"server": "https://localhost:@port"}),
    Row("a path", cluster={"server": "@url/prefix"}),
    Row("a path with a slash at its end", cluster={"server": "@url/prefix/"}),
    Row("a slash", cluster={"server": "@url/"}),
    Row(
        "a name in the address",
        cluster={"server": "https://x:y@127.0.0.1:@port"},
        differs="kubectl sends that name in place of the token of its user; no API server takes passwords any more",
    ),
    Row(
        "no scheme",
        cluster={"server": "127.0.0.1:@port"},
        differs="on loopback a token is sent over plain http too; kubectl sends none",
    ),
    Row(
        "plain http",
        cluster={"server": "http://127.0.0.1:@port"},
        differs="on loopback a token is sent over plain http too; kubectl sends none",
    ),
    Row("plain http and nobody", {}, {"server": "http://127.0.0.1:@port"}),
    Row("plain http, not on loopback", cluster={"server": "http://0.0.0.0:@port"}),
    Row("plain http and a token file that is not there", {"tokenFile": "absent"}, {"server": "http://0.0.0.0:@port"}),
    Row("plain http through a proxy", cluster={"server": "http://@far:6443"}, env={"HTTP_PROXY": "127.0.0.1:@port"}),
    Row(
        "plain http and a certificate that is not there",
        cluster={
            "server": "http://0.0.0.0:@port",
            "certificate-authority": "absent",
            "certificate-authority-data": GONE,
        },
    ),
    Row("no server", cluster={"server": GONE}),
    Row("a server that is null", cluster={"server": None}),
    Row("a name only", cluster={"server": "@far"}),
    Row("another scheme", cluster={"server": "ftp://127.0.0.1:@port"}),
    Row("a port that is none", cluster={"server": "https://127.0.0.1:99999"}),
    Row("a port where nobody is", cluster={"server": "https://127.0.0.1:1"}),
    Row("a server that has an error", server="500"),
    Row("a server that forbids", server="403"),
    # ------------------------------------------------------------------ proxies
    Row("HTTPS_PROXY", cluster=FAR, env=PROXY),
    Row("https_proxy", cluster=FAR, env={"https_proxy": "http://127.0.0.1:@port"}),
    Row(
        "HTTPS_PROXY wins",
        cluster=FAR,
        env={"https_proxy": "http://127.0.0.1:@port", "HTTPS_PROXY": "http://127.0.0.1:1"},
    ),
    Row("HTTP_PROXY is for http", cluster=FAR, env={"HTTP_PROXY": "http://127.0.0.1:@port"}),
    Row("ALL_PROXY is nothing", cluster=FAR, env={"ALL_PROXY": "http://127.0.0.1:@port"}),
    Row("a proxy without a scheme", cluster=FAR, env={"HTTPS_PROXY": "127.0.0.1:@port"}),
    Row("a proxy with a slash", cluster=FAR, env={"HTTPS_PROXY": "http://127.0.0.1:@port/"}),
    Row(
        "a proxy that is none",
        cluster=FAR,
        env={"HTTPS_PROXY": "ftp://127.0.0.1:@port"},
        differs="kubectl speaks HTTP with it; as proxy-url it refuses it, and so does takara-sync both times",
    ),
    Row("a proxy where nobody is", cluster=FAR, env={"HTTPS_PROXY": "http://127.0.0.1:1"}),
    Row("an https proxy", cluster=FAR, env={"HTTPS_PROXY": "https://127.0.0.1:@port"}),
    Row(
        "an https proxy of a stranger",
        cluster=FAR | {"certificate-authority-data": "@ca"},
        server="expired",
        env={"HTTPS_PROXY": "https://127.0.0.1:@port"},
    ),
    Row(
        "a proxy that knows us",
        cluster={"server": "https://locked.@far:6443"},
        env={"HTTPS_PROXY": "http://proxy%20user:pass%2Fword@127.0.0.1:@port"},
    ),
    Row("a proxy that does not know us", cluster={"server": "https://locked.@far:6443"}, env=PROXY),
    Row(
        "a proxy with a wrong password",
        cluster={"server": "https://locked.@far:6443"},
        env={"HTTPS_PROXY": "http://proxy%20user:wrong@127.0.0.1:@port"},
    ),
    Row(
        "proxy-url that knows us",
        cluster={"server": "https://locked.@far:6443", "proxy-url": "http://proxy%20user:pass%2Fword@127.0.0.1:@port"},
    ),
    Row("proxy-url", cluster=FAR | {"proxy-url": "http://127.0.0.1:@port"}),
    Row("proxy-url for loopback", cluster={"proxy-url": "http://127.0.0.1:@port"}),
    Row("proxy-url and NO_PROXY", cluster=FAR | {"proxy-url": "http://127.0.0.1:@port"}, env={"NO_PROXY": "*"}),
    Row(
        "proxy-url before HTTPS_PROXY",
        cluster=FAR | {"proxy-url": "http://127.0.0.1:@port"},
        env={"HTTPS_PROXY": "http://127.0.0.1:1"},
    ),
    Row("proxy-url, empty", cluster={"proxy-url": ""}),
    Row("proxy-url without a scheme", cluster=FAR | {"proxy-url": "127.0.0.1:@port"}),
    Row("proxy-url of another scheme", cluster=FAR | {"proxy-url": "ftp://127.0.0.1:@port"}),
    Row("proxy-url where nobody is", cluster=FAR | {"proxy-url": "http://127.0.0.1:1"}),
    Row("proxy-url of socks5", cluster=FAR | {"proxy-url": "socks5://127.0.0.1:@port"}),
    Row("HTTPS_PROXY of socks5", cluster=FAR, env={"HTTPS_PROXY": "socks5://127.0.0.1:@port"}),
    Row("HTTPS_PROXY and loopback", env={"HTTPS_PROXY": "http://127.0.0.1:1"}),
    Row(
        "HTTPS_PROXY and localhost",
        cluster={"server": "https://localhost:@port"},
        env={"HTTPS_PROXY": "http://127.0.0.1:1"},
    ),
    Row("HTTPS_PROXY and an address", cluster=HERE, env=PROXY),
    *(
        no_proxy(value, HERE)
        for value in (
            "0.0.0.0",
            "0.0.0.0/8",
            "10.0.0.0/8",
            "0.0.0.0:@port",
            "0.0.0.0:1",
            "*",
            "a, 0.0.0.0 ,b",
            "0.0.0",
            "0.0.0.0/99",
            ".0.0.0",
        )
    ),
    *(
        no_proxy(value, FAR)
        for value in (
            "@far",
            "example.invalid",
            ".example.invalid",
            "*.example.invalid",
            "xample.invalid",
            "EXAMPLE.invalid",
            ".@far",
            "@far:6443",
            "@far:443",
            "invalid:6443",
            "*",
            "kube",
            "",
        )
    ),
)
