"""Requests as the model looks at them: by what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from takara_sync.kube.response import Request

if TYPE_CHECKING:
    from takara_sync.kube.response import Response


class Place(NamedTuple):
    """What a path of the form .../namespaces/<namespace>/<plural>/<name>/<subresource> names."""

    plural: str = ""
    name: str = ""
    subresource: str = ""


class Sent(Request, frozen=True):
    """A request of the product, or of somebody else."""

    @classmethod
    def of(cls, request: Request) -> Sent:
        return cls(**structs.asdict(request))

    @property
    def place(self) -> Place:
        return Place(*self.path.partition("/namespaces/")[2].split("/")[1:4])

    @property
    def json(self) -> Any:
        """The body."""
        return self.body

    @property
    def plural(self) -> str:
        return self.place.plural

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def is_first_page(self) -> bool:
        return not self.name and "continue" not in dict(self.query)


def good(response: Response) -> bool:
    return response.status < 300
