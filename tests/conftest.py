"""What every test gets: Hypothesis profiles, a place of its own, and no silent skip in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
IN_CI = bool(os.environ.get("CI"))
SHARED_DATA_HINT = (
    "needs the data set `shared/data`, which is not in this repository: "
    "put it beside the clone, or set ARGENTUM_SHARED to the folder that holds `data`."
)

# Examples differ much in size, so time says nothing about one of them.
hypothesis.settings.register_profile("quick", max_examples=30, deadline=None)
hypothesis.settings.register_profile("dev", max_examples=200, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=2000, deadline=None, print_blob=True)
hypothesis.settings.register_profile(
    "soak",
    max_examples=int(os.environ.get("SOAK_EXAMPLES", "100000")),
    deadline=None,
    print_blob=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if IN_CI else "dev"))


def shared_data_folder() -> Path | None:
    """Find the data set that comes with no clone, or None."""
    named = os.environ.get("ARGENTUM_SHARED")
    folder = (Path(named) if named else ROOT.parent / "shared") / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Give the folder of the shared data set, or skip with the reason."""
    folder = shared_data_folder()
    if folder is None:
        pytest.skip(SHARED_DATA_HINT)
    return folder


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty current folder and no store from the environment."""
    for name in [name for name in os.environ if name.startswith("ARGENTUM_")]:
        if name != "ARGENTUM_SHARED":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what can be told from a test itself, and leave out what was not asked for."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("law")
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
    left_out = [item for item in items if not is_wanted(item, config)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_wanted(item, config)]


def is_wanted(item: pytest.Item, config: pytest.Config) -> bool:
    """Tell whether a test runs; benchmarks and long tests do only when asked for."""
    if "benchmark" in getattr(item, "fixturenames", ()):
        return bool(config.getoption("benchmark_only"))
    if item.get_closest_marker("soak"):
        return "soak" in config.getoption("markexpr")
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Turn a skipped test into a failed one in CI, where nothing may be skipped."""
    report = yield
    fail_if_skipped(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Turn a file that skips itself into a failure in CI."""
    report = yield
    fail_if_skipped(report, collector.config)
    return report


def fail_if_skipped(
    report: pytest.TestReport | pytest.CollectReport, config: pytest.Config
) -> None:
    """Make a skip a failure in CI; an expected failure also counts as skipped and stays."""
    # `--benchmark-only` skips everything else by design.
    if not IN_CI or not report.skipped or hasattr(report, "wasxfail"):
        return
    if config.getoption("benchmark_only"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"Nothing may be skipped in CI. {reason}"


def pytest_report_header() -> str:
    """Say whether the shared data set was found."""
    folder = shared_data_folder()
    return f"shared data: {folder}" if folder else f"shared data: none; {SHARED_DATA_HINT}"
