"""Load the rules under which `pytest --nbval notebooks` runs the lectures: tests/nbval/."""

import os
from importlib.util import find_spec

# pytest takes plugins from the conftest.py at the root alone; the unit tests need no nbval
wanted = find_spec("nbval") and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
pytest_plugins = ["tests.nbval.rules", "tests.nbval.status"] if wanted else []
