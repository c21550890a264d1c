"""From settings to a cluster and a policy: what every command that speaks to a cluster needs."""

from __future__ import annotations

from takara_sync import __version__
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.kube.api import Api
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.connection import PLUGIN_SECONDS
from takara_sync.plan import Policy


def api_of(settings: Settings, stop: Stop, before: str = "") -> Api:
    """A connection. before: the context of an earlier one, to be used again while the kubeconfig has it.

    Raises:
        ConfigurationError: there are no usable credentials.
        CutShort: somebody asked for the end while a credential plugin was at work, or it took too long.
    """
    import kubernetes.client  # noqa: F401, PLC0415 - else its loading would pass for a plugin that waits

    return Api.connect(
        settings.kubeconfig,
        settings.context,
        connections=settings.concurrency,
        request_timeout=settings.request_timeout,
        user_agent=f"takara-sync/{__version__}",
        before=before,
        deadline=stop.watch(Deadline(min(PLUGIN_SECONDS, settings.pass_timeout))),
    )


def cluster_of(settings: Settings, api: Api, *, server_dry_run: bool = False) -> KubeCluster:
    return KubeCluster(
        api,
        namespaces=settings.namespace,
        selector=settings.selector or "",
        server_dry_run=server_dry_run,
    )


def policy_of(settings: Settings) -> Policy:
    return Policy(
        max_size=settings.max_size,
        max_changes=settings.max_changes,
        allow_templates=settings.allow_templates,
        legacy_managers=settings.legacy_manager,
        accept_newer_format=settings.accept_newer_format,
    )
