"""The Helm chart k8s/chart, made from the objects that `takara-sync manifests` prints.

Each option of `manifests` is a value of the chart: `--max-size` is `maxSize`. The templates are the printed objects
with every option given, and with markers instead of values. What an object lacks without one option stands in an `if`.
docs/make.py writes the files; tests/manifests/test_chart.py renders them with helm and compares both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import yaml

from takara_sync import __version__
from takara_sync.cli.manifests import PASSED_ON, Json, manifests
from takara_sync.cli.settings import Settings, about

MODES = ("cronjob", "loop", "once")
OF_HELM = ("config", "install_namespace", "replaces")  # helm has its own: -f, --namespace, and upgrade
FIELDS = Settings.model_fields
OPTIONS = [name for name in FIELDS if "manifests" in about(FIELDS[name])["commands"] and name not in OF_HELM]
ALWAYS = {name for name in OPTIONS if name not in PASSED_ON and isinstance(FIELDS[name].default, str)} - {"mode"}
"""Options that have a value in every install."""
OPTIONAL = frozenset(OPTIONS) - ALWAYS - {"mode", "name_prefix"}

MADE_BY = "Made by docs/make.py from k8s/ and the options of takara-sync manifests."
CHART = f"""\
# {MADE_BY}
apiVersion: v2
name: takara-sync
description: Keeps Kubernetes workloads at their declared size, in single passes
type: application
version: {__version__}
appVersion: {__version__}
"""
VALUES_HEAD = f"""\
# {MADE_BY}
#
# A value is the option of the same name: maxSize is --max-size (docs/options.md). null, [] and false mean its default.
# helm's --namespace is the install namespace, and the release name is the name prefix.
"""
PREFIX = '«include·"takara-sync.prefix"·$»'
# A marker stands for an expression of the template. YAML breaks lines at spaces, so it has · instead.
_SECONDS = 7_000_000  # a marker for a number that manifests() calculates with


def files() -> dict[str, str]:
    """The generated files by their path in k8s/chart."""
    made = {"Chart.yaml": CHART, "values.yaml": values(), "values.schema.json": schema()}
    templates: dict[str, dict[str, str]] = {}
    for mode in MODES:
        for name, text in _templates(mode):
            templates.setdefault(name, {})[mode] = text
    for name, by_mode in templates.items():
        if len(by_mode) == len(MODES) and len(set(by_mode.values())) == 1:
            made[f"templates/{name}.yaml"] = f"{{{{/* {MADE_BY} */ -}}}}\n{by_mode[MODES[0]]}"
            continue
        for mode, text in by_mode.items():
            only = "".join(_between(f'if eq $.Values.mode "{mode}"', [text]))
            made[f"templates/{name}-{mode}.yaml"] = f"{{{{/* {MADE_BY} */ -}}}}\n{only}"
    return made


# ------------------------------------------------------------------ values


def value_of(option: str) -> str:
    """`max_size` as `maxSize`."""
    first, *rest = option.split("_")
    return first + "".join(map(str.capitalize, rest))


def values() -> str:
    """values.yaml: each option with its help text."""
    lines = [VALUES_HEAD]
    for name in OPTIONS:
        field = FIELDS[name]
        default = field.default if name in ALWAYS | {"mode"} or field.default is False else None
        lines.append(f"# {field.description}\n{value_of(name)}: {json.dumps(default)}\n")
    return "\n".join(lines)


@cache
def schema() -> str:
    """values.schema.json: the types of the options."""
    found = Settings.model_json_schema()["properties"]
    properties = {value_of(name): _property(name, found[name]) for name in OPTIONS}
    made = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The values of the chart takara-sync",
        "type": "object",
        "additionalProperties": False,
        "properties": properties | {"global": {"type": "object"}},  # helm adds it
    }
    return json.dumps(made, indent=2) + "\n"


def _property(name: str, found: Json) -> Json:
    """The type of a value. pydantic writes limits behind a validator under its own names."""
    limits = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    hidden = {"title", "default", "description", *about(FIELDS[name])}
    kinds = found.get("anyOf", [found])
    kept = [{limits.get(key, key): part for key, part in kind.items() if key not in hidden} for kind in kinds]
    if name not in ALWAYS | {"mode"} and FIELDS[name].default is not False and {"type": "null"} not in kept:
        kept.append({"type": "null"})
    return {"description": FIELDS[name].description} | ({"anyOf": kept} if len(kept) > 1 else kept[0])


# ------------------------------------------------------------------ templates


def _templates(mode: str) -> Iterator[tuple[str, str]]:
    """The template of each object, by the name of its file."""
    of_loop = {name for name in PASSED_ON if "once" not in about(FIELDS[name])["commands"]}
    given = OPTIONAL - (of_loop if mode == "once" else set())
    lacking = {option: _rendered(mode, given - {option}) for option in sorted(given)}
    with_all = _rendered(mode, given)
    for name in dict.fromkeys(name for found in (*lacking.values(), with_all) for name in found):
        removed_by = [option for option in lacking if name not in with_all and name in lacking[option]]
        lines = _lines(mode, name, given - set(removed_by))
        for option in removed_by:
            lines = _between(f"if not ({_condition(option)})", lines)
        yield name, "".join(lines)


def _lines(mode: str, name: str, given: frozenset[str]) -> list[str]:
    """An object with these options; what one option adds, changes or removes is in an `if`."""
    lines = _rendered(mode, given)[name]
    before: dict[int, list[str]] = {}  # what comes before a line
    instead: dict[int, list[str]] = {}  # what comes instead of it
    around: list[str] = []
    for option in sorted(given):
        without = _rendered(mode, given - {option}).get(name)
        if without is None:
            around.append(option)
            continue
        for what, start, end, first, last in SequenceMatcher(None, lines, without, autojunk=False).get_opcodes():
            if what == "insert":
                before[start] = _between(f"if not ({_condition(option)})", without[first:last])
            elif what != "equal":
                assert instead.keys().isdisjoint(range(start, end)), f"two options change {lines[start]}"
                otherwise = ["{{- else }}\n", *without[first:last]] if what == "replace" else []
                instead |= {number: [] for number in range(start, end)}
                instead[start] = _between(f"if {_condition(option)}", [*lines[start:end], *otherwise])
    merged = [part for n, line in enumerate(lines) for part in (*before.get(n, ()), *instead.get(n, (line,)))]
    for option in around:
        if option == "watch_namespace":
            merged = _between("range $namespace := $.Values.watchNamespace", ["---\n", *merged])
        else:
            merged = _between(f"if {_condition(option)}", merged)
    return merged


def _between(opening: str, lines: list[str]) -> list[str]:
    return [f"{{{{- {opening} }}}}\n", *lines, "{{- end }}\n"]


def _condition(option: str) -> str:
    """Whether the value is given. 0 is a number that is given."""
    value = f"$.Values.{value_of(option)}"
    return f'not (kindIs "invalid" {value})' if _is_number(option) else value


def _is_number(option: str) -> bool:
    return any(kind.get("type") in ("integer", "number") for kind in _kinds(option))


@cache
def _kinds(option: str) -> list[Json]:
    made = json.loads(schema())["properties"][value_of(option)]
    return list(made.get("anyOf", [made]))


@cache
def _rendered(mode: str, given: frozenset[str]) -> dict[str, list[str]]:
    """The lines of each object with these options, by the name of its file."""
    markers: dict[str, Any] = {name: _marker(name) for name in given | ALWAYS}
    home = "«$.Release.Namespace»"
    found = manifests(Settings.model_construct(mode=mode, install_namespace=home, name_prefix=PREFIX, **markers))
    return {_file_of(each): _lines_of(each) for each in found if each["kind"] != "Namespace"}  # helm makes it


def _marker(option: str) -> Any:
    """What stands for the value of an option, in the type that `manifests` expects."""
    value = f"$.Values.{value_of(option)}"
    special: dict[str, Any] = {
        "pass_timeout": _SECONDS,
        "watch_namespace": ("«$namespace»",),
        "image_pull_secret": ("«.»",),
        "may_be_added": (f"«join·\"',·'\"·{value}»",),
    }
    if option in special or FIELDS[option].default is False:
        return special.get(option, True)
    if any(kind.get("type") == "array" for kind in _kinds(option)):
        return f'«join·","·{value}»'
    return _number(value) if _is_number(option) else f"«{value}»"


def _number(value: str) -> str:
    """A number as JSON has it: a template would print 1e+06. A percentage is a text."""
    return f'«{value}·|·toJson·|·trimAll·"\\""»'


def _file_of(one: Json) -> str:
    if one["kind"] in ("CronJob", "Deployment"):
        return "workload"
    return f"{one['kind']}-{one['metadata']['name'].removeprefix(PREFIX).partition('.')[0]}".lower()


def _lines_of(one: Json) -> list[str]:
    """The YAML of an object, with expressions of the template instead of markers."""
    text = yaml.dump(one, Dumper=yaml.CSafeDumper, sort_keys=False, width=120, allow_unicode=True).replace(
        "{{", '{{ "{{" }}'
    )
    for pattern, expression in (
        ("--namespace=«[^»]+»", '--namespace=«join·","·$.Values.watchNamespace»'),
        (f"={_SECONDS}$", f"={_number('$.Values.passTimeout')}"),
        (r"^( *- )(--.*»)$", r"\1'\2'"),
        (r": «([^«»]+)»$", r": «\1·|·quote»"),
        (r"^( *- name: «\..*\n)", r"{{- range $.Values.imagePullSecret }}\n\1{{- end }}\n"),
        (rf"{str(_SECONDS)[:4]}(\d{{3}})$", r"«add·(ceil·$.Values.passTimeout)·\1»"),
    ):
        text = re.sub(pattern, expression, text, flags=re.MULTILINE)
    return re.sub("«([^«»]+)»", lambda found: f"{{{{ {found[1].replace('·', ' ')} }}}}", text).splitlines(keepends=True)
