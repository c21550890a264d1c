"""No waiting between tries."""

from tests.support.backoff import no_backoff

__all__ = ["no_backoff"]
