"""Any character in a template arrives, and a Takara stays small in every list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.support.takaras import takara

if TYPE_CHECKING:
    from tests.tool import Tool
    from tests.world import World

BYTES_MAX = 1200
ODD = "\U0001f600 \x7f\x85\x9f \u2028 \ufeff \uffff \\u0041 \t\"'"


def test_every_character_of_a_template_arrives(tool: Tool, world: World) -> None:
    """The API server reads an apply as YAML, which has no surrogate pairs and fewer printable characters than JSON."""
    container = {"name": "odd", "image": "busybox", "env": [{"name": "ODD", "value": ODD}]}
    world.create(takara("odd", 0, template={"spec": {"containers": [container]}}))
    assert tool.once("--allow-templates").code == 0
    assert world.deployment("odd")["spec"]["template"]["spec"]["containers"][0]["env"] == container["env"]


@pytest.mark.parametrize("server", ["real"], indirect=True)
def test_a_takara_is_small_in_a_list(tool: Tool, world: World) -> None:
    """Every pass downloads all of them. The one here is longer than a ready one, whose message is shorter."""
    world.create(takara("twelve-chars", 3))
    tool.converge()
    world.settle()
    tool.converge()
    made = world.takara("twelve-chars")
    made["metadata"]["namespace"] = "default"
    assert len(made["status"]["nodes"]) == 3
    assert len(msgspec.json.encode(made)) <= BYTES_MAX
