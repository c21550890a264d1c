"""What a cluster or a person can give that nobody expects: it costs itself, and nothing of it reaches a terminal."""
