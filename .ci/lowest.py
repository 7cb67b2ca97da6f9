"""Print the lowest version that pyproject.toml allows of each library that a user gets."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"] + project["optional-dependencies"]["lint"]:
    found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if not found:
        sys.exit(f"{requirement!r} is no plain lower bound (`name>=version`).")
    print(f"{found[1]}=={found[2]}")
