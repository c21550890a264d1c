"""Label selectors, as far as a mistake in one can be seen before a server is asked.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

import re

_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_KEY = rf"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?{_NAME}"
_REQUIREMENT = re.compile(
    rf"""
    (?P<absent> ! \s* (?= [^\s=!]+ $ ) )?       # `!key` and nothing behind it
    (?P<key> {_KEY} )
    ( \s* ==? \s* (?P<value> ({_NAME})? )
    | (?P<other> \s* != \s* ({_NAME})? | \s+ (not)?in \s* \([^()]*\) )
    )?
    """,
    re.VERBOSE,
)


def checked(selector: str) -> str:
    """The selector itself. Raises ValueError if it is invalid, or if nothing can ever match it."""
    equal: dict[str, str] = {}
    present, absent = set[str](), set[str]()
    for part in map(str.strip, re.split(r",(?![^(]*\))", selector)):
        match = _REQUIREMENT.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is no requirement of a label selector")
        key, value = match["key"], match["value"]
        if value is not None and equal.setdefault(key, value) != value:
            raise ValueError(f"nothing has both {key}={equal[key]} and {key}={value}")
        if match["other"] is None:
            (absent if match["absent"] else present).add(key)
    if both := sorted(present & absent):
        raise ValueError(f"nothing has {both[0]} and has it not")
    return selector
