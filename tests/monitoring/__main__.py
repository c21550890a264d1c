"""`python -m tests.monitoring` fetches Prometheus and its companions."""

import sys

from tests.monitoring.programs import main

sys.exit(main())
