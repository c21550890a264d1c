"""The wire between the command and an API server, with everything that can go wrong on it."""
