"""`python -m takara_sync`: the command."""

import sys

from takara_sync.cli.main import main

sys.exit(main())
