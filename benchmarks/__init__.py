"""Measurements that are too noisy for tests: each is a command that prints its numbers.

`python -m benchmarks` measures takara-sync beside its peers. `python -m benchmarks.deadline` measures by how much a
pass exceeds its deadline.
"""
