"""`python -m tests.node [pytest's arguments]` runs the tests marked `node` on a node made for them."""

import sys

from tests.node.run import main

sys.exit(main(sys.argv[1:]))
