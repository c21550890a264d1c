"""The closed list of reasons in a Takara's conditions. Pure.

docs/conditions.md gives each its meaning and the way out; a test holds the two together.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

_MESSAGE_BYTES = 1024


class Reason(StrEnum):
    # Ready
    READY = "Ready"
    PROGRESSING = "Progressing"
    PAUSED = "Paused"
    REPLICAS_CONTESTED = "ReplicasContested"
    DEPLOYMENT_DELETING = "DeploymentDeleting"
    # Stalled: the Takara's spec
    INVALID_SIZE = "InvalidSize"
    SIZE_TOO_LARGE = "SizeTooLarge"
    INVALID_TEMPLATE = "InvalidTemplate"
    TEMPLATES_NOT_ALLOWED = "TemplatesNotAllowed"
    INVALID_SPEC = "InvalidSpec"
    # Stalled: the Deployment of that name
    NO_CONTROLLER = "DeploymentWithoutController"
    OTHER_CONTROLLER = "DeploymentOfAnotherController"
    PREDECESSOR = "DeploymentOfPredecessor"
    NEWER_FORMAT = "NewerFormat"
    # Stalled: what the server said
    APPLY_FAILED = "ApplyFailed"
    APPLY_REJECTED = "ApplyRejected"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    # Stalled=False
    NOT_STALLED = "NotStalled"


NOT_OURS = frozenset({Reason.NO_CONTROLLER, Reason.OTHER_CONTROLLER, Reason.PREDECESSOR})
"""There is a Deployment of that name and it is not this Takara's."""


INVALID = frozenset(
    {
        Reason.INVALID_SIZE,
        Reason.SIZE_TOO_LARGE,
        Reason.INVALID_SPEC,
        Reason.INVALID_TEMPLATE,
        Reason.TEMPLATES_NOT_ALLOWED,
    }
)
"""The Takara's spec cannot be used."""


class Verdict(Struct, frozen=True):
    """Why a Takara is not simply what its Deployment's status says. `stalled`: a person has to act."""

    reason: Reason
    message: str
    stalled: bool = True


def one_line(text: str) -> str:
    """`text` as a condition's message or a line of a terminal: printable, one line, at most 1 KiB.

    What comes from a cluster can hold line breaks, terminal escapes and characters that turn the direction
    of a text: everything that is not printable becomes a space.
    """
    printable = "".join(char if char.isprintable() else " " for char in text)
    line = re.sub(r"\s+", " ", printable).strip()
    if len(line.encode()) <= _MESSAGE_BYTES:
        return line
    return line.encode()[: _MESSAGE_BYTES - 3].decode(errors="ignore") + "..."
