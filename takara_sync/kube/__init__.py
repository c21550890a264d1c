"""The real cluster: credentials, one way to send, and what the pass asks for.

`kube.api` knows nothing of Takaras: it is the seam for people with a kind of their own.
"""
