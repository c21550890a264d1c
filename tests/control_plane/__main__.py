"""`python -m tests.control_plane` builds the control plane that the tests run on, and helm."""

import sys

from tests.control_plane import build, helm

sys.exit(build.main() or helm.main())
