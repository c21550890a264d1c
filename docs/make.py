"""Write the documents that come from code: docs/options.md and docs/*.schema.json.

python docs/make.py            write them
python docs/make.py --check    exit 1 if one is not up to date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
from pydantic.fields import FieldInfo

from takara_sync.cli.adopt import AdoptDocument
from takara_sync.cli.check import CheckDocument
from takara_sync.cli.options import default_text, metavar_of
from takara_sync.cli.plan import PlanDocument
from takara_sync.cli.settings import about, option_fields
from takara_sync.cli.sources import ENV_PREFIX, flag_of
from takara_sync.report import ReportDocument

HERE = Path(__file__).parent
SCHEMAS = {
    "report": (ReportDocument, "The report of takara-sync once -o json, one line a pass"),
    "plan": (PlanDocument, "The output of takara-sync plan -o json"),
    "check": (CheckDocument, "The output of takara-sync check -o json"),
    "adopt": (AdoptDocument, "The output of takara-sync adopt -o json"),
}
HEAD = """\
# Options

`docs/make.py` writes this page from the settings model. A flag overrides a variable, a variable overrides a key of the
`--config` file (YAML; the key is the flag without `--`), and a key overrides the default. For a list, repeat the flag
or use commas. A duration is in seconds, or has a unit: `500ms`, `10s`, `2m`, `1h`. A misspelt variable or key is an
error, and so is a flag that the command does not use. `WATCH_NAMESPACE` means `--namespace`, as in the Go operator; an
empty value means all.
"""


def options() -> str:
    """docs/options.md."""
    groups: dict[str, list[str]] = {}
    for name, field in option_fields().items():
        groups.setdefault(about(field)["group"], []).append(_row(name, field))
    header = "| flag | variable | used by | meaning |\n|---|---|---|---|"
    parts = [f"## {group}\n\n{header}\n" + "\n".join(rows) + "\n" for group, rows in groups.items()]
    return "\n".join([HEAD, *parts])


def _row(name: str, field: FieldInfo) -> str:
    extra = about(field)
    short = f"`{extra['short']}`, " if extra["short"] else ""
    value = "" if field.annotation is bool else f"[={metavar_of(field)}]" if extra["bare"] else f" {metavar_of(field)}"
    text = f"{field.description}{default_text(field)}".replace("|", "\\|")
    flag = f"{short}`{flag_of(name)}{value}`".replace("|", "\\|")
    return f"| {flag} | `{ENV_PREFIX}{name.upper()}` | {', '.join(extra['commands'])} | {text} |"


def schema(kind: type, title: str) -> str:
    """One JSON schema."""
    found = msgspec.json.schema(kind)
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | found
    return json.dumps(made, indent=2) + "\n"


def documents() -> dict[str, str]:
    """Every document by its file name."""
    schemas = {f"{name}.schema.json": schema(kind, title) for name, (kind, title) in SCHEMAS.items()}
    return {"options.md": options()} | schemas


def main() -> int:
    """Write or check them."""
    stale = [name for name, text in documents().items() if not _is(HERE / name, text)]
    if "--check" in sys.argv:
        print(f"not up to date: {', '.join(stale)}; run python docs/make.py" if stale else "up to date")
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(documents()[name])
    return 0


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
