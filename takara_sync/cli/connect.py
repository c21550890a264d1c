"""Makes the connection, the cluster and the policy from the settings."""

from __future__ import annotations

from functools import partial

from takara_sync import __version__
from takara_sync.cli.logs import announce
from takara_sync.cli.screen import screen
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.desired import deployment_for
from takara_sync.kube.api import Api
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.connection import PLUGIN_SECONDS
from takara_sync.kube.request_counts import RequestCounts
from takara_sync.plan import Policy


def api_of(settings: Settings, stop: Stop, before: str = "", counts: RequestCounts | None = None) -> Api:
    """A connection. before: the context of an earlier one; it is used again if the kubeconfig still has it.

    counts: what counts its requests.

    Raises:
        ConfigurationError: there are no usable credentials, or an exec plugin took too long.
        CutShort: a signal stopped the process while an exec plugin was running.
    """
    import kubernetes.client  # noqa: F401, PLC0415 - the time of its import must not count as time of an exec plugin

    api = Api.connect(
        settings.kubeconfig,
        settings.context,
        connections=settings.concurrency,
        request_timeout=settings.request_timeout,
        user_agent=f"takara-sync/{__version__}",
        before=before,
        deadline=stop.watch(Deadline(min(PLUGIN_SECONDS, settings.pass_timeout))),
    )
    if counts:
        api.transport = counts.around(api.transport)
    if not before:
        announce(f"using {api.source}")
    return api


def cluster_of(settings: Settings, api: Api, *, server_dry_run: bool = False) -> KubeCluster:
    """The cluster, as the options limit it. If every NAME has a namespace, no other namespace is read."""
    spaces = tuple(name.partition("/")[0] for name in settings.name if "/" in name)
    every = len(spaces) == len(settings.name)
    return KubeCluster(
        api,
        namespaces=settings.namespace or (spaces if every else ()),
        without=settings.exclude_namespace,
        selector=settings.selector or "",
        names=settings.name,
        progress=screen().progress,
        server_dry_run=server_dry_run,
    )


def policy_of(settings: Settings) -> Policy:
    return Policy(
        max_size=settings.max_size,
        max_changes=settings.max_changes,
        allow_templates=settings.allow_templates,
        desired=partial(deployment_for, image=settings.pod_image or "busybox", pull_policy=settings.pod_pull_policy),
        legacy_managers=settings.legacy_manager,
        accept_newer_format=settings.accept_newer_format,
    )
