"""SIGTERM and SIGINT: end a wait at once, a pass after the requests in hand."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from takara_sync.deadline import Deadline

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """Whether a signal, or a caller of `ask`, asked the process to end.

    A signal handler runs in the middle of whatever the main thread does, and would deadlock on a lock that is held
    there. So the signal only writes a byte into a pipe, and a thread that reads it does the rest.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = threading.Event()
        self._deadline: Deadline | None = None
        self._name = ""

    def install(self) -> None:
        """From now on signals are requests to stop. To be called in the main thread, before anything slow."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._listen, args=(reader,), name="signals", daemon=True).start()

    def finish(self) -> None:
        """From now on signals change nothing: all is done, and the interpreter is about to end."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _listen(self, reader: int) -> None:
        while True:
            self.ask(signal.Signals(os.read(reader, 1)[0]).name)

    def ask(self, name: str) -> None:
        """Ask for the end; `name` is what the report gives as the reason."""
        with self._lock:
            self._name = self._name or name
            self._asked.set()
            if self._deadline is not None:
                self._deadline.stop(self._name)

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    def watch(self, deadline: Deadline) -> Deadline:
        """From now on a signal ends this pass; one that came before ends it at once. Returns the deadline."""
        with self._lock:
            self._deadline = deadline
            if self.asked:
                deadline.stop(self._name)
        return deadline

    def wait(self, seconds: float) -> None:
        """Sleep for so many seconds, at most threading.TIMEOUT_MAX, or until the end is asked for."""
        self._asked.wait(seconds)
