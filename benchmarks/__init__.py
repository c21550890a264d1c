"""Measurements that are too noisy for tests: each is a command that prints its numbers and fails past its limit."""
