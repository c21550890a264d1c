"""Bugs that clients have, seeded into the command: what holds.py and truth.py look for has to see each of them."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from takara_sync.errors import ObjectError, Unavailable, Unreadable, Vanished
from takara_sync.kube import answers, api, decode, exchange
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.watchdog import Watchdog
from takara_sync.objects import Deployment, Listing, ObjectMeta
from tests.wire.forked import hasty


def _seed(where: Any, name: str, bug: Any) -> None:
    hasty()
    setattr(where, name, bug)


def retries_for_ever() -> None:
    again = answers.Again.__init__

    def never_enough(self: answers.Again, *args: Any, **options: Any) -> None:
        again(self, *args, **options)
        self.tries = 10**9

    _seed(answers.Again, "__init__", never_enough)


def takes_a_failed_list_for_an_empty_one() -> None:
    whole = KubeCluster._lists

    def lists(*args: Any, **options: Any) -> Any:
        try:
            return whole(*args, **options)
        except Unreadable:
            return Listing((), {})

    _seed(KubeCluster, "_lists", lists)


def takes_the_first_page_for_all() -> None:
    page = decode.page
    _seed(decode, "page", lambda body, kinds: (page(body, kinds)[0], ""))


def reports_success_for_a_lost_answer() -> None:
    patched = KubeCluster._patch_deployment

    def patch(self: KubeCluster, key: Any, body: Any, *args: Any) -> Any:
        try:
            return patched(self, key, body, *args)
        except Unavailable:
            spec = msgspec.Raw(msgspec.json.encode(body["spec"]))
            return Deployment(ObjectMeta(key.name, key.namespace, body["metadata"].get("uid", "uid"), "9999"), spec)

    _seed(KubeCluster, "_patch_deployment", patch)


def takes_any_answer_to_a_status_for_a_success() -> None:
    single = decode.single

    def lenient(body: bytes, kind: Any, key: Any) -> Any:
        return single(body, kind, key) if kind is Deployment or body[:1] == b"{" else None

    _seed(decode, "single", lenient)


def believes_a_404_of_a_proxy() -> None:
    _seed(answers, "NotServed", Vanished)


def tells_nobody_of_a_failure() -> None:
    judged = answers.judge

    def optimistic(request: Any, answer: Any) -> bytes:
        try:
            return judged(request, answer)
        except ObjectError:
            raise Vanished("It will be all right") from None

    _seed(api, "judge", optimistic)


def prints_the_headers() -> None:
    cleaned = exchange._with_clean_token

    def shown(headers: Any) -> Any:
        logging.getLogger("takara_sync").debug("%s", headers)
        return cleaned(headers)

    _seed(exchange, "_with_clean_token", shown)


def prints_to_the_log_as_it_likes() -> None:
    tell = api._told_retry

    def noisy(state: Any) -> None:
        tell(state)
        logging.getLogger().handlers[0].stream.write("retrying...\n")  # type: ignore[attr-defined]

    _seed(api, "_told_retry", noisy)


def ends_in_a_traceback() -> None:
    _seed(KubeCluster, "_get", lambda *_: int("no number"))


def waits_for_ever() -> None:
    _seed(Watchdog, "_bite", lambda _: None)
