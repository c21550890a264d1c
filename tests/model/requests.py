"""Requests as the model looks at them: by what they are about."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from takara_sync.kube.response import Request, Response


class Sent(Request, frozen=True):
    """A request of the product, or of somebody else."""

    @classmethod
    def of(cls, request: Request) -> Sent:
        return cls(**structs.asdict(request))

    @property
    def place(self) -> list[str]:
        """Plural, name and subresource of a path .../namespaces/<namespace>/<plural>/<name>/<subresource>."""
        return [*self.path.partition("/namespaces/")[2].split("/")[1:4], "", ""][:3]

    @property
    def json(self) -> Any:
        """The body."""
        return self.body

    @property
    def plural(self) -> str:
        return self.place[0]

    @property
    def name(self) -> str:
        return self.place[1]

    @property
    def subresource(self) -> str:
        return self.place[2]

    @property
    def is_first_page(self) -> bool:
        return not self.name and "continue" not in dict(self.query)


def good(response: Response) -> bool:
    return response.status < 300
