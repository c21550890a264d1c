"""One suite for what the product relies on, run on a real API server and on the simulator."""
