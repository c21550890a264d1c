"""SIGTERM and SIGINT end a wait at once, and a pass after its running requests."""

from __future__ import annotations

import os
import signal
import threading

from takara_sync.deadline import Deadline

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """Whether a signal, or a caller of `ask`, asked the process to end.

    A signal handler interrupts the main thread anywhere, also where it holds a lock, and would wait for this lock for
    ever. So a signal only writes a byte to a pipe, and a thread that reads the pipe does the rest.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._deadline = Deadline()
        self._name = ""

    def install(self) -> None:
        """Turn signals into requests to stop. Call this in the main thread, before anything slow."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._listen, args=(reader,), name="signals", daemon=True).start()

    def finish(self) -> None:
        """Ignore signals from now on, because the interpreter is about to end."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _listen(self, reader: int) -> None:
        while True:
            self.ask(signal.Signals(os.read(reader, 1)[0]).name)

    def ask(self, name: str) -> None:
        """Ask the process to end. name: the reason for the report; the first one counts."""
        self._name = self._name or name
        self._asked.set()
        self._deadline.stop(self._name)

    @property
    def name(self) -> str:
        """The reason: the name of the signal; empty if nobody asked."""
        return self._name

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    def watch(self, deadline: Deadline) -> Deadline:
        """Let a signal stop this deadline; it is stopped at once if a signal came before. Returns the deadline."""
        self._deadline = deadline  # before the next line: `ask` in another thread does these two steps in reverse
        if self.asked:
            deadline.stop(self._name)
        return deadline

    def wait(self, seconds: float) -> None:
        """Sleep for so many seconds, at most threading.TIMEOUT_MAX, or until somebody asks for the end."""
        self._asked.wait(seconds)
