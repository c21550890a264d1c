"""Every error of takara-sync, named for what the caller does next.

Two families matter to a pass. A `PassStopped` ends it: nothing further is started. An `ObjectError`
costs the one object it happened to. Each class knows the exit code it leads to (design: README, "Exit codes")
and carries a hint: the sentence that says what to do next.
"""

from __future__ import annotations

from typing import ClassVar


class TakaraSyncError(Exception):
    """The root. `str(error)` is one line: what happened, then what to do next."""

    exit_code: ClassVar[int] = 70
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        end = "" if self.message.endswith((".", "?")) else "."
        return f"{self.message}{end} {self.hint}"


class ConfigurationError(TakaraSyncError):
    """The settings or the credentials cannot be used; the cluster was not contacted."""

    exit_code = 2
    default_hint = "See takara-sync --help."


# ------------------------------------------------------------------ what ends a pass


class PassStopped(TakaraSyncError):
    """The pass cannot go on; the report says what had been written."""


class Unreadable(PassStopped):
    """The cluster could not be read, so nothing is decided."""

    exit_code = 3
    default_hint = "Nothing is decided on a part of the truth; the next pass reads everything again."


class Unauthorized(Unreadable):
    """401: the credentials are not accepted, also not after reading them again."""

    default_hint = "Check the user of the kubeconfig context, or the ServiceAccount, and whether its token has expired."


class Untrusted(Unreadable):
    """The certificate of the API server is not trusted, also not with the certificate authority read anew."""

    default_hint = "Check the certificate-authority of the kubeconfig, and the clock."


class CutShort(PassStopped):
    """The pass deadline passed, or somebody asked the process to end."""

    exit_code = 4
    default_hint = "The next pass goes on from there; raise --pass-timeout if this happens again and again."


class TooManyChanges(PassStopped):
    """The plan holds more changes than allowed; nothing was written."""

    exit_code = 5
    default_hint = "Look at them with takara-sync plan, then raise --max-changes."


# ------------------------------------------------------------------ what one object can meet


class ObjectError(TakaraSyncError):
    """One request about one object failed; the others go on."""

    exit_code = 1


class Changed(ObjectError):
    """Somebody changed the object since it was read: read it again, decide again.

    perhaps_by_us: an earlier try of this very write may have been done, and only its answer was lost.
    """

    default_hint = "Something else keeps writing this object; see its managedFields."
    perhaps_by_us = False


class Vanished(ObjectError):
    """The object, or its namespace, is gone or going: skip it."""


class Refused(ObjectError):
    """The server understood and said no; asking again gives the same answer. Told in the status."""

    default_hint = "The next pass tries again, but a person has to change something first."


class Rejected(Refused):
    """The apply failed inside the server, as a malformed pod template does (500 without a reason)."""

    default_hint = "Correct the field that the message names, in the Takara's template."


class Unavailable(ObjectError):
    """The server did not answer in time or said to come back later, also after retries. Nothing is told."""

    default_hint = "The next pass tries again."
