"""The terminal: options, the loop, logs, reports."""
