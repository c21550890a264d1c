"""What only time brings: a day of the loop, hundreds of passes, a server and credentials that change meanwhile."""
