"""Only the namespaces that are asked for are read; those that hold nothing, or do not exist, are named."""

from __future__ import annotations

from tests.commands.running import Commands
from tests.world import World, takara


def test_the_namespaces_that_are_asked_for(world: World) -> None:
    other, third, empty = (World(world.server, world.server.namespace()) for _ in range(3))
    for one in (world, other, third):
        one.create(takara("one", 1))
    commands = Commands(world.server)
    scope = [f"--namespace={name}" for name in (world.namespace, other.namespace, empty.namespace, "no-such-place")]

    done = commands.json("once", *scope)

    assert {request.namespace for request in done.requests} == {flag.partition("=")[2] for flag in scope}
    assert [line["namespace"] for line in done.report["takaras"]] == sorted([world.namespace, other.namespace])
    assert not third.has_deployment("one")
    nothing_in = sorted([empty.namespace, "no-such-place"])
    assert (done.code, done.report["emptyNamespaces"]) == (0, nothing_in)
    sentence = f"no Takaras in: {', '.join(nothing_in)}"
    assert sentence in done.log[-1]["message"]
    assert commands.run("once", *scope).stdout.splitlines()[-1] == sentence
    assert commands.json("once", scope[0]).report["emptyNamespaces"] == []
    assert commands.json("plan", *scope).code == 0
