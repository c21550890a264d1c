"""Label selectors, as far as a mistake in one can be seen before a server is asked.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

import re

_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_KEY = rf"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?{_NAME}"
_EQUAL = re.compile(rf"(?P<key>{_KEY})\s*==?\s*(?P<value>({_NAME})?)")
_OTHERS = (
    re.compile(rf"(?P<not>!\s*)?(?P<key>{_KEY})"),
    re.compile(rf"(?P<key>{_KEY})\s*!=\s*({_NAME})?"),
    re.compile(rf"(?P<key>{_KEY})\s+(not)?in\s*\([^()]*\)"),
)


def checked(selector: str) -> str:
    """The selector itself. Raises ValueError where it is none, or where nothing can ever match it."""
    equal: dict[str, str] = {}
    absent: set[str] = set()
    wanted: set[str] = set()
    for part in (part.strip() for part in re.split(r",(?![^(]*\))", selector)):
        if match := _EQUAL.fullmatch(part):
            key, value = match["key"], match["value"]
            if equal.setdefault(key, value) != value:
                raise ValueError(f"nothing has both {key}={equal[key]} and {key}={value}")
            wanted.add(key)
        elif match := next((found for each in _OTHERS if (found := each.fullmatch(part))), None):
            if "!=" not in part and " " not in part.lstrip("! "):
                (absent if part.startswith("!") else wanted).add(match["key"])
        else:
            raise ValueError(f"{part!r} is no requirement of a label selector")
    if both := sorted(wanted & absent):
        raise ValueError(f"nothing has {both[0]} and has it not")
    return selector
