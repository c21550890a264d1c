"""Does takara-sync reach the server as kubectl does: the same kubeconfig, environment and server, side by side.

`rows_*.py` is the table. Adding a row is adding a `Row` to it. `python -m tests.kubectl` runs all of it on Python 3.11
and 3.13; every test run takes a part of it.
"""
