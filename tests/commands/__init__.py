"""The whole command: what it says is what it does."""
