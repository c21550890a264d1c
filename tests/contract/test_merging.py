"""What an apply leaves of others, takes away of its own, and merges by key."""

from __future__ import annotations

from tests.contract.talk import (
    CONTAINER,
    OUR_FIELDS,
    POD,
    Talk,
    altered,
    containers,
    deployment,
    owned,
    with_second,
)

BOTH = {"takara": "busybox", "second": "busybox"}


def test_without_force_the_same_value_is_shared(talk: Talk) -> None:
    talk.applied(deployment(), manager="first")
    both = talk.applied(deployment(), force=False)
    assert owned(both, "first") == owned(both) == OUR_FIELDS


def test_what_we_no_longer_apply_goes(talk: Talk) -> None:
    first = altered(altered(with_second(), f"{POD}.nodeSelector", {"a": "b"}), "metadata.annotations", {"a": "b"})
    assert containers(talk.applied(first)) == BOTH
    after = talk.applied(deployment())
    assert containers(after) == {"takara": "busybox"}
    assert "nodeSelector" not in after["spec"]["template"]["spec"]
    assert "a" not in after["metadata"].get("annotations", {})
    assert owned(after) == OUR_FIELDS


def test_what_others_own_too_stays(talk: Talk) -> None:
    talk.applied(with_second())
    talk.applied(with_second(), manager="other", force=False)
    assert containers(talk.applied(deployment())) == BOTH


def test_lists_merge_by_their_keys(talk: Talk) -> None:
    mine = altered(deployment(), f"{CONTAINER}.env", [{"name": "A", "value": "1"}])
    mine = altered(mine, f"{CONTAINER}.ports", [{"containerPort": 80}])
    other = altered(deployment(), f"{CONTAINER}.env", [{"name": "B", "value": "2"}])
    other = altered(other, f"{CONTAINER}.ports", [{"containerPort": 80, "protocol": "UDP"}])
    talk.applied(mine)
    after = talk.applied(other, manager="other")
    container = after["spec"]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert [port["protocol"] for port in container["ports"]] == ["TCP", "UDP"]
    env, port = ('env/k:{"name":"A"}', 'ports/k:{"containerPort":80,"protocol":"TCP"}')
    extra = (env, f"{env}/name", f"{env}/value", port, f"{port}/containerPort")
    assert owned(after) == OUR_FIELDS | {f'spec/template/spec/containers/k:{{"name":"takara"}}/{one}' for one in extra}


def test_a_list_item_of_which_others_own_a_part_only_goes(talk: Talk) -> None:
    talk.applied(with_second())
    talk.strategic({"spec": {"template": {"spec": {"containers": [{"name": "second", "image": "other"}]}}}})
    assert containers(talk.applied(deployment())) == {"takara": "busybox"}


def test_the_metadata_of_the_server_stays_when_nobody_owns_a_label_any_more(talk: Talk) -> None:
    talk.applied(deployment())
    labels = {"metadata": {"name": "one", "labels": {"app": "theirs", "takara_cr": "theirs"}}}
    kind = {"apiVersion": "apps/v1", "kind": "Deployment"}
    before = talk.applied(kind | labels, manager="thief")
    after = talk.applied(kind | {"metadata": {"name": "one"}, "spec": {"replicas": 4}}, manager="thief")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert ("labels" in after["metadata"], after["spec"]["replicas"]) == (False, 4)
