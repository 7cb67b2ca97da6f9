"""The `argentum` command."""


def main() -> None:
    """Run the command line; nothing of it is loaded before."""
    from argentum.cli.app import run_app  # noqa: PLC0415 - rich and typer load only here

    run_app()
