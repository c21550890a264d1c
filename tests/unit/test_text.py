"""Texts, moments, names and reasons as conditions, log lines and terminals take them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.conditions import INVALID, NOT_OURS, REJECTED, REPORT_ONLY, Reason
from takara_sync.errors import ObjectError
from takara_sync.kube.response import Expired
from takara_sync.objects import Key
from takara_sync.text import canonical, digest, one_line, rfc3339, shortened, some
from tests.unit.build import NOW, UNHURRIED


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


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("one two", "one two"),
        ("one two three", "one two..."),
        ("one twos three", "one..."),
        ("onetwothree", "onetwot..."),
    ],
)
def test_a_text_is_cut_between_two_words(text: str, short: str) -> None:
    assert shortened(text, 10) == short


def test_blanks_do_not_count() -> None:
    assert one_line("x" + " \n" * 2000 + "y") == "x y"


@UNHURRIED
@given(st.text(st.characters(), max_size=50).map(lambda text: text * 40))
def test_whatever_comes_is_one_printable_line_and_stays_so(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line.encode()) <= 1024
    assert one_line(line) == line


def test_the_digest_is_of_the_canonical_json() -> None:
    assert canonical({"b": [1, None], "a": {"d": True, "c": "ä"}}) == '{"a":{"c":"ä","d":true},"b":[1,null]}'.encode()
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1}) != digest({"a": 1, "b": 2})


def test_a_list_of_names_is_bounded() -> None:
    assert some("abc") == "a, b, c"
    assert some(range(20)) == ", ".join(map(str, range(20)))
    assert some(range(22)) == f"{some(range(20))} and 2 more"
    assert some((Key("ns", name) for name in "abc"), most=1) == "ns/a and 2 more"
    assert some([]) == ""


# ------------------------------------------------------------------ moments


@pytest.fixture
def _far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "EAST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_far_east")
def test_moments_are_written_as_kubernetes_writes_them_wherever_the_machine_is() -> None:
    assert rfc3339(NOW + timedelta(microseconds=999_999)) == "2026-01-01T12:00:00Z"
    assert rfc3339(NOW.astimezone(timezone(timedelta(hours=2)))) == "2026-01-01T12:00:00Z"


# ------------------------------------------------------------------ reasons


def test_reasons_are_words_that_the_api_takes() -> None:
    assert all(reason.isalpha() and reason[0].isupper() for reason in Reason)
    assert not INVALID & NOT_OURS
    assert not REPORT_ONLY & (INVALID | NOT_OURS | REJECTED | {Reason.READY})


def test_every_error_about_an_object_has_a_reason_of_the_list() -> None:
    for kind in _below(ObjectError):
        assert kind is Expired or Reason(kind("words").reason), "of Expired no report speaks: the list starts again"


def _below(kind: type[ObjectError]) -> Iterator[type[ObjectError]]:
    yield kind
    for error in kind.__subclasses__():
        yield from _below(error)
