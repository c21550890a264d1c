"""What the node asks of the machine: Debian packages, namespaces, cgroups; and what may be left there after it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PACKAGES = (
    "buildah",
    "busybox-static",
    "containerd",
    "containernetworking-plugins",
    "docker-registry",
    "iproute2",
    "iptables",
    "mmdebstrap",
    "openssl",
    "runc",
    "util-linux",
)
_CGROUPS = Path("/sys/fs/cgroup")
# What pid 1 does first; an overlay on a tmpfs is what containerd will put the containers on.
_PROBE = """set -e
mount --make-rshared /
mount -t tmpfs tmpfs /run
mkdir /run/lower /run/upper /run/work /run/merged
mount -t overlay -o lowerdir=/run/lower,upperdir=/run/upper,workdir=/run/work overlay /run/merged
ip link set lo up
echo 1 > /proc/sys/net/ipv4/ip_forward
"""


class CannotRunError(Exception):
    """This machine cannot run containers; the message says what is missing."""


class PreparationError(Exception):
    """A command that prepares the node failed; the message has what it said."""


def namespaces(*, network: bool) -> list[str]:
    """The command before a command that is to be pid 1 of its own mount and process namespaces.

    When that command ends, or the process that started it, or when it is killed, the kernel ends
    everything that was started and mounted in there. With network=True it has its own network as well:
    one without a way out.
    """
    own = ["--mount", "--pid", *(["--net"] if network else [])]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *own, "--fork", "--kill-child", "--mount-proc", "--"]


def install_packages() -> None:
    """Installs the Debian packages that are missing. Raises CannotRunError where that is not for us to do."""
    if os.geteuid() != 0:
        raise CannotRunError("a node takes root")
    missing = [name for name in PACKAGES if not _installed(name)]
    if not missing:
        return
    if shutil.which("apt-get") is None:
        raise CannotRunError(f"there is no apt-get to install {', '.join(missing)}")
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
    run(*apt, "update")
    run(
        *apt, "install", "--yes", "--no-install-recommends", *missing, environment={"DEBIAN_FRONTEND": "noninteractive"}
    )


def check() -> None:
    """Raises CannotRunError where the kernel, or the container that we are in, lets no containers run."""
    probe = subprocess.run([*namespaces(network=True), "sh", "-c", _PROBE], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        raise CannotRunError(f"no namespaces, mounts and links of our own: {probe.stderr.strip()}")
    name = f"takara-sync-probe-{os.getpid()}"
    try:
        make_cgroups(name)
    except OSError as error:
        raise CannotRunError(f"no cgroups of our own: {error}") from error
    finally:
        remove_cgroups(name)


def overlays(folder: Path) -> bool:
    """Whether the folder's file system can be part of an overlay; that of a container often cannot."""
    probe = folder / "overlay"
    for name in ("lower", "upper", "work", "merged"):
        (probe / name).mkdir(parents=True)
    options = f"lowerdir={probe}/lower,upperdir={probe}/upper,workdir={probe}/work"
    command = ["mount", "-t", "overlay", "-o", options, "overlay", str(probe / "merged")]
    done = subprocess.run([*namespaces(network=False), *command], capture_output=True, check=False)
    return done.returncode == 0


def make_cgroups(name: str) -> None:
    """A folder of this name in every hierarchy, as the kubelet wants it; one hierarchy with cgroup v2."""
    for hierarchy in _hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)


def remove_cgroups(name: str) -> None:
    """Removes them, when their processes have ended. Raises OSError (busy) when one has not."""
    for top in _cgroups(name):
        for folder, _, _ in os.walk(top, topdown=False):
            Path(folder).rmdir()  # the files in it are the kernel's


def left_behind(name: str, namespaces: Sequence[str], before: Sequence[str]) -> list[str]:
    """What a run has left: processes in its namespaces or cgroups, cgroups, and what was not there before."""
    processes = [f"process {pid}" for pid in _processes_of(name, namespaces)]
    cgroups = [f"cgroup {folder}" for folder in _cgroups(name)]
    return [*processes, *cgroups, *sorted(set(inventory()) - set(before))]


def inventory() -> list[str]:
    """The machine's mounts, network links, packet filter rules and forwarding, one a line."""
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    links = [path.name for path in Path("/sys/class/net").iterdir()]
    rules = subprocess.run(["iptables-save"], capture_output=True, text=True, check=False).stdout.splitlines()
    forwarding = Path("/proc/sys/net/ipv4/ip_forward").read_text().strip()
    return [
        *(f"mount {path}" for path in mounts),
        *(f"link {name}" for name in links),
        *(f"rule {rule}" for rule in rules if rule.startswith("-A")),
        f"forwarding {forwarding}",
    ]


def own_namespaces() -> list[str]:
    """The identities of the namespaces that this process is in."""
    return [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("mnt", "net", "pid")]


def _processes_of(name: str, namespaces: Sequence[str]) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = {str((process / "ns" / kind).readlink()) for kind in ("mnt", "net", "pid")}
            if links & set(namespaces) or name in (process / "cgroup").read_text():
                yield process.name
        except OSError:  # it has just ended
            continue


def _hierarchies() -> list[Path]:
    if (_CGROUPS / "cgroup.controllers").exists():
        return [_CGROUPS]
    return [folder for folder in _CGROUPS.iterdir() if folder.is_dir() and not folder.is_symlink()]


def _cgroups(name: str) -> list[Path]:
    return [hierarchy / name for hierarchy in _hierarchies() if (hierarchy / name).exists()]


def _installed(package: str) -> bool:
    asked = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout == "installed"
    except FileNotFoundError:
        return False


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Runs a command and returns what it said. Raises PreparationError, with that in it, when it fails."""
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PreparationError(f"{' '.join(map(str, command))} ended with code {done.returncode}\n{done.stdout}")
    return done.stdout
