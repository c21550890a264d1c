"""A create that the server refuses, while there is a Deployment of ours that the list did not hold."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.errors import ObjectError, Refused, Rejected, Unavailable
from takara_sync.objects import Key
from tests.unit.build import Json, deployment_json, owner, pod_json, takara_json
from tests.unit.fake import FakeCluster
from tests.unit.passing import result, run


def unlisted(**metadata: Any) -> Json:
    """A Deployment whose label `app` somebody took away, with a pod."""
    found = deployment_json(**metadata)
    found["metadata"]["labels"] = {}
    return found | {"status": {"replicas": 1, "readyReplicas": 1}}


def refusing(cluster: FakeCluster, errors: dict[str, ObjectError]) -> FakeCluster:
    def before(verb: str, _: Key) -> None:
        if verb in errors:
            raise errors[verb]

    cluster.before = before
    return cluster


@pytest.mark.parametrize("error", [Rejected("500"), Refused("422")], ids=["rejected", "refused"])
def test_its_status_tells_of_the_pods_that_run(error: ObjectError) -> None:
    everything = {"create": error, "apply": error}
    cluster = refusing(FakeCluster(takara_json(), unlisted(), pod_json("one", "p")), everything)
    assert result(run(cluster)) == "failed"
    assert cluster.status()["nodes"] == ["p"]
    assert cluster.status()["replicas"] == 1


def test_it_tells_of_them_too_where_a_second_look_had_found_them() -> None:
    cluster = refusing(FakeCluster(takara_json(), unlisted(), pod_json("one", "p")), {"apply": Refused("422")})
    assert result(run(cluster)) == "failed"
    assert cluster.status()["nodes"] == ["p"]


def test_a_stranger_behind_it_is_told_of() -> None:
    stranger = unlisted(ownerReferences=[owner(uid="another")])
    cluster = refusing(FakeCluster(takara_json(), stranger, pod_json("one", "p")), {"create": Refused("422")})
    assert result(run(cluster)) == "blocked"
    assert cluster.status()["nodes"] == []


def test_where_there_is_none_it_is_refused_once() -> None:
    cluster = refusing(FakeCluster(takara_json()), {"create": Refused("422")})
    assert result(run(cluster)) == "failed"
    assert [verb for verb, _ in cluster.requests].count("create") == 1
    assert cluster.status()["nodes"] == []


def test_nothing_is_told_where_it_cannot_be_seen() -> None:
    errors: dict[str, ObjectError] = {"create": Refused("422"), "get deployment": Unavailable("503")}
    cluster = refusing(FakeCluster(takara_json(), unlisted()), errors)
    assert result(run(cluster)) == "failed"
    assert "tell" not in {verb for verb, _ in cluster.requests}
