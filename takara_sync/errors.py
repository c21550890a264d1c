"""Every error of takara-sync. Its name says what the caller does next.

A pass knows two families. A `PassStopped` ends the pass: no further request starts. An `ObjectError` affects one Takara
only. Each class has an exit code (README, "Exit codes") and a hint: the sentence that says what to do next. Each
`ObjectError` also has a reason for the report.
"""

from __future__ import annotations

import re
from typing import ClassVar

_REQUEST = re.compile(r"^[A-Z]+ /\S* (failed: )?")


class TakaraSyncError(Exception):
    """The base class. `str(error)` is one line: what happened, then what to do next."""

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
    """The settings or the credentials cannot be used; no request was sent to the cluster."""

    exit_code = 2
    default_hint = "See takara-sync --help."


# ------------------------------------------------------------------ what ends a pass


class PassStopped(TakaraSyncError):
    """The pass cannot continue; the report lists what it has written."""


class Unreadable(PassStopped):
    """The cluster could not be read, so the pass cannot decide."""

    exit_code = 3
    default_hint = "A pass decides only on complete lists; the next pass reads everything again."


class Unauthorized(Unreadable):
    """401: the API server does not accept the credentials."""

    default_hint = "Check the user of the kubeconfig context, or the ServiceAccount, and whether its token has expired."


class Untrusted(Unreadable):
    """The certificate of the API server is not trusted."""

    default_hint = "Check the certificate-authority of the kubeconfig."


class WrongName(PassStopped):
    """A name on the command line means no Takara, or more than one. Nothing was written."""

    exit_code = 1
    default_hint = "See kubectl get takaras -A."


class CutShort(PassStopped):
    """The deadline of the pass is over, or somebody stopped the process."""

    exit_code = 4
    default_hint = "The next pass goes on from there; raise --pass-timeout if this happens in each pass."


class TooManyChanges(PassStopped):
    """The pass would change more than --max-changes allows."""

    exit_code = 5
    default_hint = "Check the changes with takara-sync plan, then raise --max-changes."


# ------------------------------------------------------------------ errors of one object


class ObjectError(TakaraSyncError):
    """One request for one object failed; the pass continues with the others."""

    exit_code = 1

    reason: ClassVar[str] = "Unread"
    """The reason in the report, a value of `conditions.Reason`."""


class Conflict(ObjectError):
    """Conflict: the object changed since it was read. Re-read it and decide again."""

    default_hint = "Another program keeps changing this object; its managedFields name the program."
    reason = "Conflict"


class NotFound(ObjectError):
    """Not found: the object or its namespace does not exist, or the namespace is terminating."""

    reason = "NotFound"


class Rejected(ObjectError):
    """The API server rejected the write, and would reject it again. The status of the Takara says so."""

    default_hint = "A person has to change something first; see the message."
    reason = "ApplyFailed"


class DeniedOnAdmission(Rejected):
    """403 of an admission policy or webhook: no right is missing."""

    default_hint = "Admission denies this, no right is missing: the message names the policy or webhook to change."


class TemplateRejected(Rejected):
    """The API server could not process the `spec.template` of the Takara (500 without a reason)."""

    default_hint = "Correct the field that the message names, in spec.template of the Takara."
    reason = "ApplyRejected"


class Retryable(ObjectError):
    """A transient failure: the same request may succeed later. It is not written to the status.

    kind: the message without the request, such as `connection refused`; the same for many requests. retry_after: the
    seconds of the Retry-After header. executed: whether the server may have executed the request. refused: whether the
    connection was refused; every other request would be refused too. timed_out: whether no complete response came in
    time.
    """

    default_hint = "The next pass tries again."
    reason = "Unavailable"

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        retry_after: float = 0.0,
        executed: bool = True,
        refused: bool = False,
        timed_out: bool = False,
    ) -> None:
        super().__init__(message, hint)
        self.kind = _REQUEST.sub("", message).partition(";")[0]
        self.retry_after = retry_after
        self.executed = executed
        self.refused = refused
        self.timed_out = timed_out


class InternalError(Retryable):
    """500 without a reason. The cause is a malformed pod template, or an error of etcd (`leader changed`)."""


class ApiNotServed(ObjectError):
    """404 without a Status object: the API server does not serve the kind, or a proxy does not know the path.

    It does not mean that the object does not exist.
    """

    reason = "ApiNotServed"
