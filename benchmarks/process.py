"""The processes of the contestants: a command that ends, or a resident process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

LAUNCHER = Path(__file__).with_name("launch.py")
_MIB = 1024 * 1024
_SAMPLE = 0.1  # seconds
_QUIET = 1.5  # seconds: a process that uses almost no CPU for so long has nothing left to do
_QUIET_SHARE = 0.05  # of one CPU
_STOP_SECONDS = 20.0


class ContestantFailedError(Exception):
    """A contestant ended by itself, failed, or was not done in time; the message has the end of its log."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended. began: seconds since 1970. peak_mib: its largest resident memory."""

    began: float
    wall_s: float
    cpu_s: float
    peak_mib: float
    output: str


def environment(kubeconfig: Path) -> dict[str, str]:
    """Nothing of the user's own settings."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(kubeconfig.parent),
        "KUBECONFIG": str(kubeconfig),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }


def run(command: Sequence[str], kubeconfig: Path) -> Ended:
    """Run a command to its end. Raises ContestantFailedError if its exit code is not 0."""
    results, log = kubeconfig.with_suffix(".result"), kubeconfig.with_suffix(".log")
    with log.open("wb") as errors:
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(results), *command]
        done = subprocess.run(  # noqa: S603 - the commands of this folder
            launcher, env=environment(kubeconfig), stdout=subprocess.PIPE, stderr=errors, text=True, check=False
        )
    if done.returncode != 0:
        raise ContestantFailedError(f"{command} ended with {done.returncode}\n{done.stdout[-1000:]}{_tail(log)}")
    return Ended(output=done.stdout, **json.loads(results.read_text()))


class Resident:
    """A process that stays until the end of the `with` statement."""

    def __init__(self, command: Sequence[str], kubeconfig: Path) -> None:
        self._command, self._log = command, kubeconfig.with_suffix(".log")
        with self._log.open("wb") as log:
            self.began = time.time()
            self._process = subprocess.Popen(  # noqa: S603 - the commands of this folder
                command, env=environment(kubeconfig), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._counters = psutil.Process(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def cpu_s(self) -> float:
        """The CPU time that it has used so far, in seconds."""
        used = self._counters.cpu_times()
        return float(used.user + used.system)

    @property
    def resident_mib(self) -> float:
        """Its resident memory now."""
        return float(self._counters.memory_info().rss / _MIB)

    @property
    def peak_mib(self) -> float:
        """Its largest resident memory so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def check(self) -> None:
        """Raises ContestantFailedError if it has ended."""
        if self._process.poll() is not None:
            raise ContestantFailedError(f"{self._command} ended with {self._process.returncode}\n{_tail(self._log)}")

    def busy_s(self, within: float) -> float:
        """Wait until it has nothing left to do; the seconds from its start until then, to a tenth of a second.

        Raises ContestantFailedError if it is still busy `within` seconds after its start.
        """
        samples = [(time.time(), 0.0)]
        while time.time() - self.began < within:
            time.sleep(_SAMPLE)
            self.check()
            samples.append((time.time(), self.cpu_s))
            window = [sample for sample in samples if sample[0] >= samples[-1][0] - _QUIET]
            (first, before), (last, after) = window[0], window[-1]
            long_enough = last - first > _QUIET - 2 * _SAMPLE
            if before > 0 and long_enough and after - before < _QUIET_SHARE * (last - first):
                return first - self.began
        raise ContestantFailedError(f"{self._command} was busy for more than {within:g} s\n{_tail(self._log)}")


def cpu_of(pid: int) -> float:
    """The CPU time that a process has used so far, in seconds."""
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]
