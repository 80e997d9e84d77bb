"""scripts/website is no installed package: `scripts/site` finds it beside itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
