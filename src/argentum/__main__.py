"""`python -m argentum` is the `argentum` command."""

from argentum.cli import main

main()
