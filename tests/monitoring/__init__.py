"""Metrics in a real Prometheus; fetch it with `python -m tests.monitoring`."""
