"""A real one-node Kubernetes for the tests marked `node`; run them on it with `python -m tests.node`.

Outside (packages, wheels, images: what needs the network): run, machine, images.
Inside (pid 1 of its own network, mount and process namespaces): inside, parts, credentials.
On any cluster: conftest, cluster and the tests.
"""
