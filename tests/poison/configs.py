"""Files that should say where the cluster is, or how a pass is made, and do not."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.poison.values import NASTY, WRONG, Json, paths, put
from tests.wire.command import TOKEN

_INSERTED: tuple[bytes, ...] = (
    b"\t",
    b": ",
    b"- ",
    b"*a ",
    b"&a ",
    b"!!int ",
    b"!!bool ",
    b"!!timestamp ",
    b"'",
    b'"',
    b"{",
    b"[",
    b"\x00",
)
_INSERTED += (b"\xff", b"#", b"|\n", b"? ", b"\x1b[31m", b"%", b"@", b"`", b"<<: ", b"\xe2\x80\xae")
_EDITS = (1, 1, 2, 5, 20)


def laughs(alias: str = "a") -> str:
    """A billion laughs: ten aliases of ten aliases, nine times over."""
    lines = [f"{alias}0: &{alias}0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{alias}{level}: &{alias}{level} [{', '.join([f'*{alias}{level - 1}'] * 10)}]" for level in range(1, 10)]
    return "\n".join(lines) + "\n"


def texts(good: str) -> dict[str, bytes]:
    """Whole files that are wrong; `good` would be right."""
    found: dict[str, str | bytes] = {
        "a text": TOKEN,
        "a list": f"- {TOKEN}",
        "a number": "5",
        "tabs": good.replace("  ", "\t").replace(": ", ":\t\t", 1) + "\n\t- x",
        "a python object": f"!!python/object/apply:os.system ['echo {TOKEN}']\n",
        "a cycle": "&a {contexts: *a, namespace: *a}\n",
        "a cycle of lists": "contexts: &a [*a]\nnamespace: &b [*b]\n",
        "laughs": laughs() + good,
        "an alias of nobody": "*x",
        "two documents": f"{good}---\n{good}",
        "UTF-16 with an odd end": good.encode("utf-16") + b"\xd8",
        "binary": bytes(range(256)),
        "a NUL": good.encode() + b"\x00",
        "an escape": f"\x1b[31m{good}",
        "half a character": f'{good}\n"\\ud800": "\\udc00"\n',
        "nested in lists": "[" * 1500,
        "nested in mappings": "{a: " * 1500,
        "a block of lists": "- " * 3000,
        "a directive": f"%YAML 9.9\n---\n{good}",
        "a key that is a list": f"? [{TOKEN}]\n: b\n",
        "a key that is a secret": f"{TOKEN}-that-has-no-colon-and-is-far-too-long-to-be-a-key: 5\n",
        "a key that is nasty": yaml.safe_dump({NASTY: 1}),
        "another tag": f"namespace: !!int {TOKEN}\ncontexts: !!bool {TOKEN}\n",
        "a day that is none": "namespace: 2001-99-99\ncurrent-context: 2001-99-99\n",
        "an integer of 5,000 digits": f"max-size: {'7' * 5000}\ncontexts: {'7' * 5000}\n",
    }
    return {
        what: text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for what, text in found.items()
    }


def typed(good: Json) -> Iterator[tuple[str, bytes]]:
    """Every wrong value at every path, in JSON, which YAML reads."""
    for path in paths(good):
        for what, raw in WRONG.items():
            yield f"{'.'.join(map(str, path))} is {what}", put(good, path, raw)


def mutated(good: bytes, seed: int, times: int) -> Iterator[bytes]:
    """Bytes flipped, cut and put in."""
    draw = random.Random(seed)  # noqa: S311 - trials, no secrets
    for _ in range(times):
        text = bytearray(good[: draw.randrange(len(good))] if draw.random() < 0.1 else good)
        for _ in range(draw.choice(_EDITS)):
            place = draw.randrange(len(text) + 1)
            edit = draw.randrange(3)
            if edit == 0:
                text[place : place + 1] = bytes([draw.randrange(256)])
            elif edit == 1:
                del text[place : place + draw.randrange(1, 30)]
            else:
                text[place:place] = draw.choice(_INSERTED)
        yield bytes(text)


def places(folder: Path) -> dict[str, Path]:
    """Paths at which there is no file with anything in it that could be read."""
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to(folder / "loop")
    return {
        "a folder": folder,
        "a FIFO": folder / "fifo",
        "a device": folder / "/dev/zero",
        "a link to itself": folder / "loop",
        "nothing": folder / "absent",
        "a path that is too long": folder / ("x" * 5000),
    }
