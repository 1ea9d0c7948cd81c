"""The ledger of compile times: what it reads from Ninja's log, and when it fails."""

import subprocess
import sys
from pathlib import Path

LEDGER = Path(__file__).resolve().parents[2] / "tools" / "ledger"


def run(log: Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(LEDGER), "--log", str(log), *options]
    return subprocess.run(command, capture_output=True, text=True)


def write_log(folder: Path, *rows: tuple) -> Path:
    log = folder / "log"
    lines = ["# ninja log v5", *("\t".join(map(str, row)) for row in rows)]
    log.write_text("\n".join(lines) + "\n")
    return log


def test_the_dearest_come_first(tmp_path):
    log = write_log(tmp_path, (0, 2000, 1, "a.o", "c1"), (0, 9000, 1, "b.o", "c2"))
    result = run(log)
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("11 s in 2 steps")
    assert [line.split()[-1] for line in lines[1:]] == ["b.o", "a.o"]


def test_only_the_latest_run_of_a_step_counts(tmp_path):
    log = write_log(tmp_path, (0, 50_000, 1, "a.o", "c"), (0, 1000, 1, "a.o", "c"))
    assert run(log).stdout.startswith("1 s in 1 steps")


def test_a_step_with_two_outputs_counts_once(tmp_path):
    log = write_log(tmp_path, (0, 4000, 1, "x.h", "c"), (0, 4000, 1, "x.cpp", "c"))
    assert run(log).stdout.startswith("4 s in 1 steps")


def test_over_budget_fails(tmp_path):
    log = write_log(tmp_path, (0, 30_000, 1, "a.o", "c1"), (0, 30_000, 1, "b.o", "c2"))
    assert run(log, "--budget", "61").returncode == 0
    over = run(log, "--budget", "50")
    assert over.returncode == 1
    assert "over budget by 10 s" in over.stdout
    slow = run(log, "--step-budget", "20")
    assert slow.returncode == 1
    assert "over 20 s: a.o" in slow.stdout


def test_without_a_log_it_says_so(tmp_path):
    result = run(tmp_path / "none")
    assert result.returncode == 1
    assert "build first" in result.stdout
