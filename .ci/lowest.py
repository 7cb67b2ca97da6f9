"""Print the lowest version that pyproject.toml allows of each library that a user gets."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in [
    *project["dependencies"],
    *extras["lint"],
    *extras["conditions"],
    *extras["sign"],
]:
    found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if not found:
        sys.exit(f"{requirement!r} is no plain lower bound (`name>=version`).")
    print(f"{found[1]}=={found[2]}")
