"""Texts that come from a cluster, made fit for a condition, a log line and a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.reasons import INVALID, NOT_OURS, Reason, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("plain", "plain"),
        (" \t around \n", "around"),
        ("one\ntwo\r\nthree\vfour\ffive\x85six\u2028seven\u2029eight", "one two three four five six seven eight"),
        ("a    b\t\tc", "a b c"),
        ("a\u00a0b\u3000c", "a b c"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("\x1b]0;title\x07", "]0;title"),
        ("\x9b2J", "2J"),
        ("nul\x00del\x7f", "nul del"),
        ("safe\u202eexe.txt\u202c", "safe exe.txt"),
        ("\u2066a\u2069\u200fb\u200e", "a b"),
        ("zero\u200bwidth\ufeff", "zero width"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("äöü 水 🐳", "äöü 水 🐳"),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize("char", ["x", "ä", "水", "🐳"])
def test_a_kibibyte_is_counted_in_bytes(char: str) -> None:
    fits = char * (1024 // len(char.encode()))
    assert one_line(fits) == fits
    cut = one_line(fits + char)
    assert cut.endswith(f"{char}...")
    assert 1024 - len(char.encode()) < len(cut.encode()) <= 1024


def test_blanks_do_not_count() -> None:
    assert one_line("x" + " \n" * 2000 + "y") == "x y"


@given(st.text(st.characters(), max_size=50).map(lambda text: text * 40))
def test_whatever_comes_is_one_printable_line_and_stays_so(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line.encode()) <= 1024
    assert one_line(line) == line


def test_reasons_are_words_that_the_api_takes() -> None:
    assert all(reason.isalpha() and reason[0].isupper() for reason in Reason)
    assert not INVALID & NOT_OURS
