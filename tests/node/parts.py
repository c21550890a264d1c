"""The command lines and configuration files of the node's parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.control_plane import commands

if TYPE_CHECKING:  # it imports this module
    from tests.node.credentials import Credentials

NODE = "node1"
NODE_ADDRESS = "10.0.1.1"
# The first address of the service range is where pods look for the API server. It listens there itself, so
# there is no kube-proxy.
API_ADDRESS = "10.0.0.1"
API_URL = f"https://{API_ADDRESS}"
REGISTRY = "127.0.0.1:5000"

_SERVICES = "10.0.0.0/24"
_PODS = "10.1.0.0/24"
_ETCD = "http://127.0.0.1:2379"
_ETCD_PEER = "http://127.0.0.1:2380"
_ISSUER = "https://kubernetes.default.svc"
_SOCKET = "/run/containerd/containerd.sock"

_CONTAINERD = """
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:node"
  restrict_oom_score_adj = true  # the machine may not let us lower it
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{folder}/registries"
"""
# Every image name of every registry is looked for in ours: unchanged manifests work, pull policy Always too.
_REGISTRIES = f"""
server = "http://{REGISTRY}"
[host."http://{REGISTRY}"]
  capabilities = ["pull", "resolve"]
"""


def etcd(folder: Path) -> list[str]:
    """A cluster of one."""
    return commands.etcd(folder, client=_ETCD, peer=_ETCD_PEER)


def api_server(who: Credentials) -> list[str]:
    """With what a node needs: ServiceAccount admission and the Node authorizer. PodSecurity is on by default."""
    return [
        f"--etcd-servers={_ETCD}",
        f"--bind-address={API_ADDRESS}",
        f"--advertise-address={API_ADDRESS}",
        "--secure-port=443",
        f"--service-cluster-ip-range={_SERVICES}",
        f"--tls-cert-file={who.keys.server}",
        f"--tls-private-key-file={who.keys.server_key}",
        f"--token-auth-file={who.users.token_file}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
        f"--service-account-issuer={_ISSUER}",
        f"--service-account-key-file={who.keys.service_account_key}",
        f"--service-account-signing-key-file={who.keys.service_account_key}",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def controller_manager(who: Credentials) -> list[str]:
    """All controllers."""
    return commands.controller_manager(who.keys, who.users)


def scheduler(who: Credentials) -> list[str]:
    """The default scheduler."""
    return [f"--kubeconfig={who.users.harness.kubeconfig}", "--leader-elect=false", "--secure-port=0"]


def containerd(folder: Path) -> list[str]:
    """With its network for the pods: a link to the node each, and nothing beyond it."""
    (folder / "containerd.toml").write_text(_CONTAINERD.format(folder=folder))
    (folder / "registries" / "_default").mkdir(parents=True)
    (folder / "registries" / "_default" / "hosts.toml").write_text(_REGISTRIES)
    addresses = {"type": "host-local", "ranges": [[{"subnet": _PODS}]], "routes": [{"dst": "0.0.0.0/0"}]}
    plugin = {"type": "ptp", "ipMasq": False, "ipam": addresses}
    _write(folder / "cni" / "10-ptp.conflist", {"cniVersion": "0.4.0", "name": "pods", "plugins": [plugin]})
    return ["containerd", "--config", str(folder / "containerd.toml")]


def registry(folder: Path) -> list[str]:
    """An image registry in the folder."""
    config = {
        "version": 0.1,
        "log": {"level": "warn", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": REGISTRY},
    }
    _write(folder / "registry.json", config)
    return ["docker-registry", "serve", str(folder / "registry.json")]


def kubelet(folder: Path, who: Credentials, cgroup: str) -> list[str]:
    """One that evicts nothing, enforces nothing beyond the pods' own limits and lets the API server read logs."""
    never = ("imagefs.available", "memory.available", "nodefs.available", "nodefs.inodesFree")
    config = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": NODE_ADDRESS,
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},  # nobody else is in this network
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "clusterDNS": ["10.0.0.10"],  # nobody answers there; without it the kubelet warns about every pod
        "containerRuntimeEndpoint": f"unix://{_SOCKET}",
        "enforceNodeAllocatable": [],
        "evictionHard": dict.fromkeys(never, "0%"),
        "failCgroupV1": False,
        "failSwapOn": False,
        "imageGCHighThresholdPercent": 100,
        "registryPullQPS": 0,  # the samples are 13 pods with pull policy Always
        "resolvConf": "",
        "serializeImagePulls": False,
    }
    _write(folder / "kubelet.json", config)
    who_and_how = [f"--kubeconfig={who.kubelet}", f"--config={folder / 'kubelet.json'}"]
    return [*who_and_how, f"--hostname-override={NODE}", f"--node-ip={NODE_ADDRESS}"]


def _write(path: Path, config: dict[str, Any]) -> None:
    """JSON is YAML."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(config, indent=1))
