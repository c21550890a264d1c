"""`python -m tests.monitoring [kube-state-metrics]` gets Prometheus and its companions."""

import sys

from tests.monitoring.programs import main

sys.exit(main(sys.argv[1:]))
