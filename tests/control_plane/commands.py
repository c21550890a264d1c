"""The command lines of etcd, the API server and the controller manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.control_plane.certificates import Certificates
    from tests.control_plane.users import Users

_ISSUER = "https://kubernetes.default.svc"


def etcd(folder: Path, *, client: str, peer: str) -> list[str]:
    """A cluster of one, its data never forced to the disk."""
    return [
        "--name=tests",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=tests={peer}",
        "--socket-reuse-port",  # see Ports
        "--unsafe-no-fsync",
        # A cluster of one elects itself after an election timeout: make that short.
        "--heartbeat-interval=10",
        "--election-timeout=50",
        "--log-level=warn",
    ]


def api_server(port: int, etcd_url: str, keys: Certificates, users: Users, more: Sequence[str]) -> list[str]:
    """RBAC on, tokens from a file; a flag in `more` wins."""
    return [
        f"--etcd-servers={etcd_url}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",  # it would look for a default route
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--secure-port={port}",
        "--permit-port-sharing",  # see Ports
        f"--tls-cert-file={keys.server}",
        f"--tls-private-key-file={keys.server_key}",
        f"--token-auth-file={users.token_file}",
        "--authorization-mode=RBAC",
        f"--service-account-issuer={_ISSUER}",
        f"--service-account-key-file={keys.service_account_key}",
        f"--service-account-signing-key-file={keys.service_account_key}",
        # Without nodes nobody would mount a token; with it on, pods wait for their ServiceAccount.
        "--disable-admission-plugins=ServiceAccount",
        # Continue tokens would outlive a compaction of etcd by up to 15 s in snapshots of the watch cache.
        "--feature-gates=ListFromCacheSnapshot=false",
        "--endpoint-reconciler-type=none",  # nobody looks for the service "kubernetes" in here
        *more,
    ]


def controller_manager(keys: Certificates, users: Users) -> list[str]:
    """All controllers, under one user, unhurried by client-side rate limits."""
    return [
        f"--kubeconfig={users.controller_manager.kubeconfig}",
        f"--root-ca-file={keys.authority}",
        f"--service-account-private-key-file={keys.service_account_key}",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
        "--secure-port=0",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]
