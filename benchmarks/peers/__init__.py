"""The operators that are measured beside takara-sync, as the tutorials of their frameworks write them."""
