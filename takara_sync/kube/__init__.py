"""The real cluster: credentials, requests, and the methods that a pass needs.

`kube.api` knows no Takara: other programs can use it for their own kinds.
"""
