"""What a pass costs, counted: a change that makes it 20 % dearer fails here.

Counted are calls of Python and C functions and allocated bytes, which hardly depend on the machine. When one of these
tests fails on purpose, write down the new figure; `python -m benchmarks.maximal` shows it in seconds.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import tracemalloc
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.maximal import served
from takara_sync import KubeCluster, sync_once
from takara_sync.kube.cluster import PAGE

CALLS_OF_A_SETTLED_TAKARA = 420
CALLS_OF_A_REQUEST = 1745
BYTES_OF_A_SETTLED_TAKARA = 3165


def calls(function: Callable[[], Any]) -> int:
    """How many functions are called, in all threads."""
    counter = count()

    def count_calls(_frame: Any, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            next(counter)

    threading.setprofile(count_calls)
    sys.setprofile(count_calls)
    try:
        function()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return next(counter)


def allocated(function: Callable[[], Any]) -> int:
    """The largest number of bytes that are allocated at one time."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def of_each(measure: Callable[[Callable[[], Any]], int], folder: Path, few: int, *options: str) -> float:
    """The figure of one more Takara: the difference between a fleet of a few and one that is twice as large."""
    figures = []
    for takaras in (few, 2 * few):
        with served((f"--takaras={takaras}", *options)) as port:
            cluster = KubeCluster.connect(kubeconfig(folder, port))
            sync_once(cluster, workers=1)  # opens the connection and fills caches
            figures.append(measure(lambda cluster=cluster: sync_once(cluster, workers=1)))  # type: ignore[misc]
    return (figures[1] - figures[0]) / few


def kubeconfig(folder: Path, port: int) -> str:
    names = {"cluster": "c", "user": "u"}
    path = folder / f"kubeconfig-{port}"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": names}],
        "current-context": "x",
    }
    path.write_text(json.dumps(config))
    return str(path)


def test_calls_of_a_settled_takara(tmp_path: Path) -> None:
    assert of_each(calls, tmp_path, 50) <= 1.2 * CALLS_OF_A_SETTLED_TAKARA


def test_bytes_of_a_settled_takara(tmp_path: Path) -> None:
    """Of whole pages, so that the buffer of a page has the same size."""
    assert of_each(allocated, tmp_path, PAGE) <= 1.2 * BYTES_OF_A_SETTLED_TAKARA


def test_calls_of_a_request(tmp_path: Path) -> None:
    """A new Takara costs three: the apply, the status and the Event."""
    assert of_each(calls, tmp_path, 50, "--cold") / 3 <= 1.2 * CALLS_OF_A_REQUEST
