"""
The demo: record a real run of four agents, then walk through it, each step with its command.

`make demo` runs this. The run stays in `.argentum/runs.db`, so every command can be tried again.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, "-m", "argentum"]
BOLD, DIM, PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def say(text: str) -> None:
    """Print a line of the guide."""
    print(f"\n{BOLD}{text}{PLAIN}", flush=True)


def argentum(*arguments: str) -> int:
    """Show a command, run it and give its exit code."""
    print(f"{DIM}$ argentum {shlex.join(arguments)}{PLAIN}\n", flush=True)
    return subprocess.run([*COMMAND, *arguments], check=False).returncode  # noqa: S603 - our own


def main() -> int:
    """Record and explain."""
    os.environ["PAGER"] = "cat"
    script = os.path.relpath(HERE / "research_team.py")
    say("1. Record a program as it is: four agents answer a question from Python's own manual.")
    code = argentum("run", "--name", "research_team", script)
    say(f"   The program ended with exit code {code}: its reviewer rejected the answer. Why?")
    say("2. What was recorded?")
    argentum("runs", "--limit", "5")
    say("3. Step by step: what each agent did, and what changed in its state.")
    argentum("log", "@")
    say("4. The reviewer's confidence collapsed. What changed for it?")
    argentum("diff", "@reviewer/received", "@reviewer/reviewed")
    say("5. Its missing fact had been found, though: the researcher had all four.")
    argentum("show", "@researcher/what if there is no exception", "facts")
    say("6. Did the writer get it? Between these two states it is gone: dropped at the handoff.")
    argentum(
        "diff", "@researcher/what if there is no exception", "@writer/received", "--path", "facts"
    )
    say("Try the commands yourself (.venv/bin/argentum --help). Next: record a program of yours.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
