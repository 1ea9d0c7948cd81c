"""facula.profiler: schedules, steps, handlers and files."""

from __future__ import annotations

import gzip
import json
import warnings

import pytest

import facula
from facula.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)


def test_actions_of_a_schedule():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    letters = {
        ProfilerAction.NONE: "n",
        ProfilerAction.WARMUP: "w",
        ProfilerAction.RECORD: "r",
        ProfilerAction.RECORD_AND_SAVE: "s",
    }
    assert "".join(letters[plan(i)] for i in range(12)) == "nnwrsnwrsnnn"
    plan = schedule(wait=2, warmup=1, active=1, skip_first_wait=1)
    assert "".join(letters[plan(i)] for i in range(6)) == "wsnnws"
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(wait=0, warmup=0, active=0)
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)


def test_steps():
    seen = []

    def ready(prof):
        seen.append([e.name for e in prof.events() if e.name.startswith("aten")])
        seen.append({e.key: e.count for e in prof.key_averages()}["ProfilerStep*"])

    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    with profile(schedule=plan, on_trace_ready=ready) as prof:
        for step in range(6):
            facula.full((), step).exp()
            facula.ones(step)
            prof.step()
    assert seen == [["aten::full", "aten::exp", "aten::ones"] * 2, 2]
    assert prof.step_num == 6
    names = [e.trace_name for e in prof.events() if e.name == "ProfilerStep*"]
    assert names == ["ProfilerStep#2", "ProfilerStep#3"]


def test_cycles():
    ends = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = schedule(wait=0, warmup=0, active=2)
    with profile(schedule=plan, on_trace_ready=lambda p: ends.append(p.step_num)) as prof:
        for _ in range(5):
            facula.ones(1)
            prof.step()
    assert ends == [2, 4, 5]


def test_without_a_schedule():
    ready = []
    with profile(activities=[ProfilerActivity.CPU], on_trace_ready=ready.append) as prof:
        facula.ones(1)
        prof.step()
        facula.ones(1)
    assert ready == [prof]
    assert [e.name for e in prof.events()] == ["aten::ones"] * 2
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profile(activities=[])


def test_start_and_stop():
    prof = profile(record_shapes=True)
    with pytest.raises(AssertionError, match="must be initialized before"):
        prof.events()
    prof.start()
    with record_function("block"):
        facula.ones(2).exp()
    prof.stop()
    assert [e.name for e in prof.events()] == ["block", "aten::ones", "aten::exp"]
    assert prof.events()[2].input_shapes == [[2]]
    assert prof.get_trace_id()


def test_files(tmp_path):
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "logs"), "me")) as prof:
        facula.ones(1)
        prof.add_metadata("note", 'a "text"')
        prof.add_metadata_json("numbers", "[1, 2]")
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name.startswith("me.") and path.name.endswith(".pt.trace.json")
    trace = json.loads(path.read_text())
    assert trace["note"] == 'a "text"' and trace["numbers"] == [1, 2]
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert "traceEvents" in json.load(file)
    with pytest.raises(NotImplementedError):
        prof.export_memory_timeline("nowhere.html")
