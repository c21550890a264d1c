"""The pure core and the pass, without any server."""
