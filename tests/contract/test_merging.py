"""What an apply leaves of others, takes away of its own, and merges by key."""

from __future__ import annotations

from tests.contract.talk import (
    OUR_FIELDS,
    Talk,
    containers,
    deployment,
    owned,
)


def test_without_force_the_same_value_is_shared(talk: Talk) -> None:
    talk.applied(deployment(), manager="first")
    both = talk.applied(deployment(), force=False)
    assert owned(both, "first") == owned(both) == OUR_FIELDS


def test_what_we_no_longer_apply_goes(talk: Talk) -> None:
    first = deployment()
    pod = first["spec"]["template"]["spec"]
    pod["containers"].append({"name": "second", "image": "busybox"})
    pod["nodeSelector"] = {"a": "b"}
    first["metadata"]["annotations"] = {"a": "b"}
    assert set(containers(talk.applied(first))) == {"takara", "second"}
    after = talk.applied(deployment())
    assert containers(after) == {"takara": "busybox"}
    assert "nodeSelector" not in after["spec"]["template"]["spec"]
    assert "a" not in after["metadata"].get("annotations", {})
    assert owned(after) == OUR_FIELDS


def test_what_others_own_too_stays(talk: Talk) -> None:
    first = deployment()
    first["spec"]["template"]["spec"]["containers"].append({"name": "second", "image": "busybox"})
    talk.applied(first)
    talk.applied(first, manager="other", force=False)
    assert set(containers(talk.applied(deployment()))) == {"takara", "second"}


def test_lists_merge_by_their_keys(talk: Talk) -> None:
    mine, other = deployment(), deployment()
    mine["spec"]["template"]["spec"]["containers"][0] |= {
        "env": [{"name": "A", "value": "1"}],
        "ports": [{"containerPort": 80}],
    }
    other["spec"]["template"]["spec"]["containers"][0] |= {
        "env": [{"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80, "protocol": "UDP"}],
    }
    talk.applied(mine)
    after = talk.applied(other, manager="other")
    container = after["spec"]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert [port["protocol"] for port in container["ports"]] == ["TCP", "UDP"]
    where = 'spec/template/spec/containers/k:{"name":"takara"}'
    extra = {
        f'{where}/env/k:{{"name":"A"}}',
        f'{where}/env/k:{{"name":"A"}}/name',
        f'{where}/env/k:{{"name":"A"}}/value',
        f'{where}/ports/k:{{"containerPort":80,"protocol":"TCP"}}',
        f'{where}/ports/k:{{"containerPort":80,"protocol":"TCP"}}/containerPort',
    }
    assert owned(after) == OUR_FIELDS | extra


def test_a_list_item_of_which_others_own_a_part_only_goes(talk: Talk) -> None:
    first = deployment()
    first["spec"]["template"]["spec"]["containers"].append({"name": "second", "image": "busybox"})
    talk.applied(first)
    second = {"name": "second", "image": "other"}
    talk.strategic({"spec": {"template": {"spec": {"containers": [second]}}}})
    assert containers(talk.applied(deployment())) == {"takara": "busybox"}
