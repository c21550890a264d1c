"""`python -m tests.control_plane` builds the control plane that the tests run on."""

import sys

from tests.control_plane.build import main

sys.exit(main())
