"""Every option by flag, variable and file, in this order; each mistake named with where it was made."""

from __future__ import annotations

from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import pytest
import yaml
from pydantic import HttpUrl, Secret

from takara_sync.cli.settings import Settings, about
from takara_sync.cli.sources import ENV_PREFIX, flag_of
from takara_sync.errors import ConfigurationError
from tests.support.command import loaded

NEEDS = {"duration": {"TAKARA_SYNC_INTERVAL": "20"}}  # an option that makes sense only beside another
QUANTITIES = {"request": ("1", "2"), "limit": ("1", "2")}
FIELDS = [name for name in Settings.model_fields if name != "config"]


class Samples(NamedTuple):
    """Two values as text and as they are meant, neither the default at first, and one that is nonsense."""

    first: str
    is_first: Any
    second: str
    is_second: Any
    wrong: str


TEXTS = {
    "schedule": Samples("@one", "@one", "@two", "@two", ""),
    "last_pass": Samples("a/one", "a/one", "a/two", "a/two", ""),
    "metrics_address": Samples("9090", "127.0.0.1:9090", "[::]:1", "[::]:1", "here"),
}


def core(annotation: Any) -> Any:
    """The type without Annotated and None around it; of several, the first."""
    if get_origin(annotation) is Annotated:
        return core(get_args(annotation)[0])
    inner = [one for one in get_args(annotation) if one is not type(None)]
    return core(inner[0]) if get_origin(annotation) in (Union, UnionType) else annotation


def samples(name: str) -> Samples:
    field = Settings.model_fields[name]
    kind = core(field.annotation)
    if kind is bool:
        first = not field.default
        return Samples(str(first).lower(), first, str(not first).lower(), not first, "perhaps")
    if get_origin(kind) is Literal:
        first, second = [one for one in get_args(kind) if one != field.default][:2]
        return Samples(first, first, second, second, "nonsense")
    if get_origin(kind) is tuple:
        names = get_args(core(get_args(kind)[0])) or ("one", "two")
        return Samples(names[0], (names[0],), names[-1], (names[-1],), "a,,b")  # there may be only one
    if kind is Secret[HttpUrl]:
        one, two = "https://one.invalid/a", "https://two.invalid/b"
        return Samples(one, kind(HttpUrl(one)), two, kind(HttpUrl(two)), "s3cr3t")
    if kind in (int, float) or name == "yes":
        return Samples("21", 21, "22", 22, "many")
    assert kind is str, f"{name}: teach this test the type {kind}"
    one, two = QUANTITIES.get(name.rpartition("_")[2], ("one", "two"))
    return TEXTS.get(name, Samples(one, one, two, two, ""))


class Sources:
    """Says one option in one place or another."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path, self.name = folder / "config.yaml", name
        self.variable = ENV_PREFIX + name.upper()

    def file(self, text: str) -> list[str]:
        self.path.write_text(yaml.safe_dump({self.name.replace("_", "-"): text}))
        return ["--config", str(self.path)]

    def flag(self, text: str) -> list[str]:
        if core(Settings.model_fields[self.name].annotation) is bool:
            return [flag_of(self.name) if text == "true" else flag_of(f"no_{self.name}")]
        if about(Settings.model_fields[self.name])["bare"]:
            return [f"{flag_of(self.name)}={text}"]
        return ["once", text] if self.name == "name" else [flag_of(self.name), text]

    def load(self, argv: list[str], variable: str | None = None) -> Any:
        environ = NEEDS.get(self.name, {}) | ({} if variable is None else {self.variable: variable})
        return getattr(loaded(argv, environ)[1], self.name)


@pytest.mark.parametrize("name", FIELDS)
def test_flag_before_variable_before_file_before_default(tmp_path: Path, name: str) -> None:
    said, sample = Sources(tmp_path, name), samples(name)
    file = said.file(sample.first)
    assert said.load([]) == Settings.model_fields[name].default
    assert said.load(file) == sample.is_first
    assert said.load(file, sample.second) == sample.is_second
    assert said.load([*file, *said.flag(sample.first)], sample.second) == sample.is_first


@pytest.mark.parametrize("name", FIELDS)
def test_a_mistake_is_named_with_its_source(tmp_path: Path, name: str) -> None:
    said, wrong = Sources(tmp_path, name), samples(name).wrong
    places = {f"{said.path}: {name.replace('_', '-')}": (said.file(wrong), None), said.variable: ([], wrong)}
    if wrong != "perhaps":  # a flag without a value
        places["NAME" if name == "name" else flag_of(name)] = (said.flag(wrong), None)
    for source, (argv, variable) in places.items():
        with pytest.raises(ConfigurationError) as raised:
            said.load(argv, variable)
        secret = core(Settings.model_fields[name].annotation) is Secret[HttpUrl]
        shown = "used" if secret else repr(wrong)
        assert raised.value.message.startswith(f"{source} cannot be {shown}: ")
        assert not (secret and wrong in str(raised.value))
        assert raised.value.exit_code == 2


@pytest.mark.parametrize(("name", "empty"), [*((name, "") for name in (*FIELDS, "config")), ("selector", " ")])
def test_an_empty_variable_is_a_mistake_and_no_default(tmp_path: Path, name: str, empty: str) -> None:
    """A filter fails closed: an empty TAKARA_SYNC_NAMESPACE or _SELECTOR does not mean everything."""
    with pytest.raises(ConfigurationError, match=ENV_PREFIX + name.upper()):
        Sources(tmp_path, name).load([], empty)


@pytest.mark.parametrize("name", [*FIELDS, "config"])
def test_no_setting_has_a_name_that_a_service_link_can_have(name: str) -> None:
    words = name.upper().split("_")
    assert "PORT" not in words
    assert "SERVICE" not in words


# ------------------------------------------------------------------ variables


SERVICE = ("PORT", "SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_80_TCP", "PORT_80_TCP_ADDR")
OTHERS = [{f"{ENV_PREFIX}{service}{name}": "tcp://10.0.0.1:80" for name in SERVICE} for service in ("", "METRICS_")]
OTHERS += [{f"{ENV_PREFIX}MAX_SIZE_{name}": "tcp://10.0.0.1:80" for name in SERVICE}]
OTHERS += [{"TAKARA": "1", "MAX_SIZE": "2", "XTAKARA_SYNC_MAX_SIZE": "3"}]


@pytest.mark.parametrize("environ", OTHERS)
def test_the_variables_of_services_and_of_others_are_none_of_ours(environ: dict[str, str]) -> None:
    assert loaded(["once"], environ)[1].model_dump() == Settings().model_dump()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TAKARA_SYNC_MAXSIZE", "TAKARA_SYNC_MAX_SIZE?"),
        ("TAKARA_SYNC_NAMESPACES", "TAKARA_SYNC_NAMESPACE?"),
        ("takara_sync_dryrun", "TAKARA_SYNC_DRY_RUN?"),
        ("TAKARA_SYNC_XYZZY", ""),
    ],
)
def test_a_misspelt_variable(name: str, meant: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} is not a setting") as raised:
        loaded(["once"], {name: "1"})
    assert meant in raised.value.message


@pytest.mark.parametrize(
    ("environ", "argv", "namespaces"),
    [
        ({"WATCH_NAMESPACE": "a"}, [], ("a",)),
        ({"WATCH_NAMESPACE": "a,b"}, [], ("a", "b")),
        ({"WATCH_NAMESPACE": ""}, [], ()),
        ({"WATCH_NAMESPACE": "a", "TAKARA_SYNC_NAMESPACE": "b"}, [], ("b",)),
        ({"WATCH_NAMESPACE": "a"}, ["-n", "c"], ("c",)),
    ],
)
def test_watch_namespace_is_honoured_as_the_go_operator_did(
    environ: dict[str, str], argv: list[str], namespaces: tuple[str, ...]
) -> None:
    assert loaded(["once", *argv], environ)[1].namespace == namespaces


def test_a_mistake_in_watch_namespace_is_named_as_such() -> None:
    with pytest.raises(ConfigurationError, match=r"^WATCH_NAMESPACE cannot be 'A B'"):
        loaded(["once"], {"WATCH_NAMESPACE": "A B"})


# ------------------------------------------------------------------ the file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max-sizes: 3", "max-sizes is not a setting, did you mean"),
        ("config: other.yaml", "config is not a setting"),
        ("1: 2", "1 is not a setting"),
        ("- max-size", "does not hold a mapping"),
        ("max-size: [1\nx", "cannot be used: not valid YAML at line 2"),
        ("max-size: true", "max-size cannot be True"),
        ("max-size: 1.5", "max-size cannot be 1.5"),
        ("max_size: 1", "max_size is not a setting, did you mean max-size?"),
        ("namespace: [a, 1]", "namespace cannot be 1: "),
        ("namespace: []", "namespace cannot be"),
        ("selector: ' '", "selector cannot be ' '"),
    ],
)
def test_a_mistake_in_the_file(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        loaded(["once", "--config", str(path)])
    assert str(path) in raised.value.message
    assert words in raised.value.message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "absent", tmp_path, binary):
        with pytest.raises(ConfigurationError, match=str(path)):
            loaded(["once"], {"TAKARA_SYNC_CONFIG": str(path)})


def test_the_values_of_a_file_have_their_own_types(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("{namespace: [a, b], dry-run: true, max-size: 7, interval: 1m, selector: null}")
    command, settings = loaded(["--config", str(path)])
    assert command == "loop"
    assert (settings.namespace, settings.dry_run, settings.max_size) == (("a", "b"), True, 7)
    assert (settings.interval, settings.selector) == (60.0, None)
    path.write_text("")
    assert loaded(["once", "--config", str(path)])[1] == Settings(config=str(path))
