"""The process is stopped at each call that it makes; the next pass finds the cluster and puts everything right."""

import pytest

pytest.register_assert_rewrite("tests.crash.survival", "tests.crash.transient")
