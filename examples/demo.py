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
    found_all = "what if there is no exception"
    say("1. Record a program as it is: four agents answer a question from Python's own manual.")
    code = argentum("run", "--name", "bad", script)
    say(f"   The program ended with exit code {code}: its reviewer rejected the answer. Why?")
    say("2. What was recorded?")
    argentum("runs", "--limit", "5")
    say("3. Step by step: what each agent did, and what changed in its state.")
    argentum("log", "bad")
    say("4. A condition that should have held, checked on every state: where did it first break?")
    argentum("watch", "bad", "--where", "confidence >= previous.confidence - 0.2")
    say("5. The reviewer's confidence collapsed. What changed for it? An answer is missing.")
    argentum("diff", "bad@reviewer/received", "bad@reviewer/reviewed")
    say("6. Was that answer ever found? Yes: halving finds the first state that has it.")
    found = 'facts.exists(f, f.answers == "what happens on an exception")'
    argentum("bisect", "bad", "--agent", "researcher", "--where", found)
    say("7. Who found it, and where did it come from? A model, which read it in the manual.")
    argentum("blame", "bad", "facts[1].claim", "--agent", "researcher")
    say("8. Did the writer get it? Between these two states it is gone: dropped at the handoff.")
    argentum("diff", f"bad@researcher/{found_all}", "bad@writer/received", "--path", "facts")
    say("9. Would passing on all facts be the cure? Try it from the step before the fault.")
    argentum(
        "fork", f"bad@researcher/{found_all}", "--name", "cure", "--", script, "--pass-on", "4"
    )
    say("10. It is. A whole run with the cure, beside the bad one: the first step that differs.")
    argentum("run", "--quiet", "--name", "good", script, "--pass-on", "4")
    argentum("compare", "bad", "good")
    say("11. And what each agent's confidence was, over time.")
    argentum("history", "bad", "confidence", "--agent", "researcher")
    say("Try the commands yourself (.venv/bin/argentum --help). Next: record a program of yours.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
