"""Mutation testing of the pure core: whether a test notices when the code says something else. See docs/mutation.md."""
