"""A real Kubernetes control plane for the tests; build it with `python -m tests.control_plane`."""
