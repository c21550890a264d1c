"""The command: reads the facts, and shows them as lines or as one document."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from msgspec import Struct

from takara_sync import __version__
from takara_sync.cli import check
from takara_sync.cli.connect import api_of, cluster_of
from takara_sync.cli.render import fitted, show
from takara_sync.cli.settings import Settings
from takara_sync.cli.status import detail, installed, overview
from takara_sync.cli.status.reads import Reader, UncheckedDocument
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.desired import selector_text
from takara_sync.errors import ConfigurationError, TakaraSyncError
from takara_sync.report import ErrorDocument, Exit, error_document
from takara_sync.sync import utcnow
from takara_sync.text import one_line, rfc3339

log = logging.getLogger("takara_sync")


class StatusDocument(Struct, frozen=True, rename="camel"):
    """The status. `exit` is the exit code. `using`: the kubeconfig, the context and the address. `version`: of this
    takara-sync. `unchecked`: what the caller may not read, or what the server does not serve. Either `overview` or
    `takara` is not null, unless there is an error."""

    schema: Literal["takara-sync/status/v1"]
    exit: int
    error: ErrorDocument | None
    time: str
    using: str
    server: str
    version: str
    unchecked: tuple[UncheckedDocument, ...]
    overview: overview.OverviewDocument | None
    takara: detail.DetailDocument | None


def run(settings: Settings, stop: Stop) -> Exit:
    """Print the status; 0 if the server could be read, whatever it says, and 1 if there is no such Takara.

    Raises:
        ConfigurationError: there are no usable credentials, or more than one NAME.
    """
    if len(settings.name) > 1:
        raise ConfigurationError("status shows one Takara", "Give one NAME, or none for all of it.")
    api = api_of(settings, stop)
    reader, now = Reader(api, stop.watch(Deadline(settings.pass_timeout))), utcnow()
    server, whole, one, error = "", None, None, None
    try:
        server = check.server_version(api, reader.deadline)
        if settings.name:
            one = _detail(reader, settings)
        else:
            whole = _overview(reader, settings, now)
    except TakaraSyncError as failed:
        error = failed
        log.error("the status could not be read: %s", error)  # noqa: TRY400 - an expected error needs no traceback
    code = Exit(error.exit_code) if error else Exit.OK
    document = StatusDocument(
        "takara-sync/status/v1",
        int(code),
        error_document(error),
        rfc3339(now),
        one_line(api.source),
        one_line(server),
        __version__,
        tuple(reader.unchecked),
        whole,
        one,
    )
    show(document, settings.output, _lines(document, now), error)
    return code


def _overview(reader: Reader, settings: Settings, now: datetime) -> overview.OverviewDocument:
    cluster = cluster_of(settings, reader.api)
    copies = installed.copies(reader, settings.namespace, now)
    listed = reader.attempt("Takaras", lambda: cluster.takaras(reader.deadline))
    takaras = None if listed is None else overview.takaras_document(listed.items)
    rights = tuple(_rights(reader, settings, copies or ()))
    policies = installed.policies(reader)
    steps = tuple(overview.next_steps(copies, takaras))
    return overview.OverviewDocument(copies, takaras, rights, policies, steps)


def _rights(
    reader: Reader, settings: Settings, copies: Sequence[installed.CopyDocument]
) -> Iterator[overview.RightsDocument]:
    """The rights of the account of each copy, and those of the caller, as `check` asks for them."""
    for copy in copies:
        account, needed = (
            (copy.namespace, copy.account),
            check.rights_of(copy.watches, f"{copy.namespace}/{copy.account}"),
        )
        name = "/".join(account)
        found = _checked(reader, f"the rights of ServiceAccount {name}", needed, settings, account)
        yield from [] if found is None else [overview.RightsDocument(name, found)]
    found = _checked(reader, "your rights", check.rights_of(settings.namespace, None), settings, None)
    yield from [] if found is None else [overview.RightsDocument("", found)]


def _checked(
    reader: Reader,
    what: str,
    rights: Sequence[tuple[check.Right, str]],
    settings: Settings,
    account: tuple[str, str] | None,
) -> tuple[check.CheckedDocument, ...] | None:
    return reader.attempt(
        what, lambda: check.check_rights(reader.api, reader.deadline, rights, settings.concurrency, account)
    )


def _detail(reader: Reader, settings: Settings) -> detail.DetailDocument:
    """Raises PassStopped: there is no such Takara, or Takaras cannot be listed."""
    cluster = cluster_of(settings, reader.api)
    (takara,) = cluster.takaras(reader.deadline).items
    key = takara.key
    space = quote(key.namespace, safe="")
    deployments = reader.attempt("the Deployment", lambda: (cluster.deployment(key, reader.deadline),))
    pods = reader.attempt(
        "pods",
        lambda: reader.items(
            f"/api/v1/namespaces/{space}/pods", detail.PodAndStatus, labelSelector=selector_text(key.name)
        ),
    )
    events = reader.attempt(
        "events",
        lambda: reader.items(
            f"/apis/events.k8s.io/v1/namespaces/{space}/events",
            detail.Event,
            fieldSelector=f"regarding.uid={takara.uid}",
        ),
    )
    deployment = deployments[0] if deployments else None
    return detail.document(takara, deployment, pods, events, checked=deployments is not None)


def _lines(document: StatusDocument, now: datetime) -> Iterator[str]:
    yield fitted(f"using    {document.using}", indent=9)
    yield fitted(f"server   {document.server or 'not reached'}, at {document.time}", indent=9)
    part = document.overview or document.takara
    if isinstance(part, overview.OverviewDocument):
        yield from overview.lines(part, now)
    elif part is not None:
        yield from detail.lines(part, now)
    if document.unchecked:
        yield ""
        yield "Not checked"
        yield from (fitted(f"  {each.what}: {each.why}", indent=4) for each in document.unchecked)
    if part is not None:
        yield ""
        yield "Next"
        yield from (fitted(f"  {step}", indent=4) for step in part.next or ("Nothing to do.",))
