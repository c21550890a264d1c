"""Write the files that come from code: docs/options.md, docs/*.schema.json, two of k8s/monitoring, and k8s/chart.

python docs/make.py            write them
python docs/make.py --check    exit 1 if one is not up to date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chart
import msgspec
from dashboard import dashboard
from pydantic.fields import FieldInfo

from takara_sync.cli.adopt import AdoptDocument
from takara_sync.cli.check import CheckDocument
from takara_sync.cli.options import default_text, metavar_of
from takara_sync.cli.plan import PlanDocument
from takara_sync.cli.settings import Settings, about
from takara_sync.cli.sources import ENV_PREFIX, flag_of
from takara_sync.cli.status.command import StatusDocument
from takara_sync.report import ReportDocument

HERE = Path(__file__).parent
CHART = HERE.parent / "k8s" / "chart"
MONITORING = HERE.parent / "k8s" / "monitoring"
SCHEMAS = {
    "report": (ReportDocument, "The report of takara-sync once -o json, one line a pass"),
    "plan": (PlanDocument, "The output of takara-sync plan -o json"),
    "check": (CheckDocument, "The output of takara-sync check -o json"),
    "status": (StatusDocument, "The output of takara-sync status -o json"),
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
    for name, field in Settings.model_fields.items():
        groups.setdefault(about(field)["group"], []).append(_row(name, field))
    header = "| flag | variable | used by | meaning |\n|---|---|---|---|"
    parts = [f"## {group}\n\n{header}\n" + "\n".join(rows) + "\n" for group, rows in groups.items()]
    return "\n".join([HEAD, *parts])


def _row(name: str, field: FieldInfo) -> str:
    extra = about(field)
    short = f"`{extra['short']}`, " if extra["short"] else ""
    value = "" if field.annotation is bool else f"[={metavar_of(field)}]" if extra["bare"] else f" {metavar_of(field)}"
    text = f"{field.description}{default_text(field)}".replace("|", "\\|")
    flag = f"{short}`{flag_of(name)}{value}`".replace("|", "\\|") if not extra["words"] else f"`{metavar_of(field)}`"
    return f"| {flag} | `{ENV_PREFIX}{name.upper()}` | {', '.join(extra['commands'])} | {text} |"


def schema(kind: type, title: str) -> str:
    """One JSON schema."""
    found = msgspec.json.schema(kind)
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | found
    return json.dumps(made, indent=2) + "\n"


def argocd() -> str:
    """k8s/monitoring/argocd-cm.yaml: the health check in the form in which Argo CD reads it."""
    check = (MONITORING / "health.lua").read_text().rstrip("\n")
    head = "# docs/make.py writes this patch of Argo CD's settings from health.lua.\n"
    metadata = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n"
    lines = "\n".join(f"    {line}".rstrip() for line in check.splitlines())
    return f"{head}{metadata}  resource.customizations.health.maho.takara.org_Takara: |\n{lines}\n"


def documents() -> dict[Path, str]:
    """Every file with its content."""
    schemas = {HERE / f"{name}.schema.json": schema(kind, title) for name, (kind, title) in SCHEMAS.items()}
    monitoring = {
        MONITORING / "dashboard.json": json.dumps(dashboard(), indent=2) + "\n",
        MONITORING / "argocd-cm.yaml": argocd(),
    }
    of_chart = {CHART / name: text for name, text in chart.files().items()}
    return {HERE / "options.md": options()} | schemas | monitoring | of_chart


def main() -> int:
    """Write or check them."""
    made = documents()
    stale = [path for path, text in made.items() if not _is(path, text)]
    left = [path for path in CHART.rglob("*.yaml") if path not in made and chart.MADE_BY in path.read_text()]
    if "--check" in sys.argv:
        names = ", ".join(path.name for path in (*stale, *left))
        print(f"not up to date: {names}; run python docs/make.py" if names else "up to date")
        return 1 if names else 0
    for path in stale:
        path.write_text(made[path])
    for path in left:
        path.unlink()
    return 0


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
