"""What tests of several folders share: see tests/README.md."""
