"""Wrong values in JSON as it goes over the wire, and how each is put in the place of a part of an object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]
Path = tuple[str | int, ...]


def nested(depth: int) -> bytes:
    return b"[" * depth + b"1" + b"]" * depth


WRONG: dict[str, bytes] = {
    "null": b"null",
    "true": b"true",
    "0": b"0",
    "-1": b"-1",
    "1.5": b"1.5",
    "1e400": b"1e400",
    "-0.0": b"-0.0",
    "2^31": b"2147483648",
    "2^63": b"9223372036854775808",
    "an integer of 4,000 digits": b"7" * 4000,
    "an integer of 5,000 digits": b"7" * 5000,
    "an empty text": b'""',
    "a text": b'"A text"',  # which is no name
    "an empty list": b"[]",
    "an empty object": b"{}",
    "a list of wrong things": b'[null, 1, "x", {}, [], true]',
    "an object of wrong things": b'{"x": null, "name": ["x"], "type": {}, "": 1}',
    "a list of a list": b"[[]]",
    "nested 60 times": nested(60),
    "nested 600 times": nested(600),
    "bytes that are no UTF-8": b'"\xff\xfe"',
}
TOO_DEEP = {"nested 5,000 times": nested(5000)}  # the whole page takes another way, so it is not tried everywhere

CLIPBOARD = "\x1b]52;c;cG9pc29u\x07"
LINK = "\x1b]8;;http://poison.invalid\x1b\\here\x1b]8;;\x1b\\"
C1 = "\x9b36mp\x9d52;c;p\x07\x85\xad"
NASTY = f"a\x00b\r\nc\td{CLIPBOARD}{LINK}\x1b[36mpoison\x1b[2J{C1}\x7f\u202eevil\u2066\u2028\u2029z\ufeff"


class Poison(NamedTuple):
    """One part of one object, served otherwise than it is stored."""

    plural: str
    what: str
    change: Callable[[Json], bytes]

    @property
    def is_identity(self) -> bool:
        """Whether a single object with it was not the one that was asked for, which stops a pass with reason."""
        return self.what.startswith(("the whole ", "kind ", "metadata.name ", "metadata.namespace "))

    @property
    def is_huge(self) -> bool:
        """Whether it takes seconds to store."""
        return "2,000" in self.what

    def __str__(self) -> str:
        return f"{self.plural}: {self.what}"


_HOLE = "@@hole@@"


def put(value: Json, path: Path, raw: bytes) -> bytes:
    """The JSON of `value` with `raw` at `path`. An object that has no such part any more is served as it is."""
    holder = json.loads(json.dumps({"": value}))
    branch = holder
    steps: Path = ("", *path)
    try:
        for step in steps[:-1]:
            branch = branch[step]
        branch[steps[-1]] = _HOLE
    except (KeyError, IndexError, TypeError):
        return json.dumps(value).encode()
    return json.dumps(holder[""]).encode().replace(json.dumps(_HOLE).encode(), raw)


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every node, the whole first."""
    yield path
    if isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(part, (*path, step))


def at(plural: str, path: Path, what: str, raw: bytes) -> Poison:
    return Poison(plural, f"{'.'.join(map(str, path)) or 'the whole'} is {what}", lambda live: put(live, path, raw))


def everywhere(plural: str, full: Json) -> list[Poison]:
    """Every wrong value at every node of this object."""
    found = [at(plural, path, what, raw) for path in paths(full) for what, raw in WRONG.items()]
    return found + [at(plural, path, what, raw) for path in _OF_EACH_KIND[plural] for what, raw in TOO_DEEP.items()]


_OF_EACH_KIND: dict[str, tuple[Path, ...]] = {
    "takaras": (("spec",), ("status",), ("metadata", "labels"), ("metadata", "name")),
    "deployments": (("spec",), ("status",), ("metadata", "managedFields", 0, "fieldsV1"), ("metadata",)),
    "pods": (("metadata", "ownerReferences"),),
}
