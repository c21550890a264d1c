"""A server in a process of its own that serves a generated fleet, so that a client's own cost can be measured."""
