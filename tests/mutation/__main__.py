"""`python -m tests.mutation` tries every mutant, `--sample N --seed S` some; see `--help`."""

import sys

from tests.mutation.command import main

sys.exit(main(sys.argv[1:]))
