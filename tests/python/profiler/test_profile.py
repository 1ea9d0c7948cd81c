"""facula.autograd.profiler: which operators, nodes and blocks a profile holds, and what of them."""

from __future__ import annotations

import gc
import json
import threading

import pytest

import facula
from facula import nn
from facula.autograd import profiler
from facula.autograd.profiler import profile, record_function
from facula.nn import functional as F


def names(prof):
    return [e.name for e in prof.function_events]


def counts(prof):
    return {e.key: e.count for e in prof.key_averages()}


def only(prof, name):
    (event,) = [e for e in prof.function_events if e.name == name]
    return event


def test_operators_are_counted():
    x = facula.ones(3, 4)
    with profile() as prof:
        for _ in range(5):
            y = x + x
        y.exp().relu_()
        facula.zeros(2)
    assert counts(prof) == {"aten::add": 5, "aten::exp": 1, "aten::relu_": 1, "aten::zeros": 1}
    assert all(e.time_range.end >= e.time_range.start >= 0 for e in prof.function_events)
    starts = [e.time_range.start for e in prof.function_events]
    assert starts == sorted(starts)


def test_nothing_is_recorded_before_and_after():
    x = facula.ones(3)
    x.exp()
    with profile() as prof:
        x.sin()
    x.cos()
    assert names(prof) == ["aten::sin"]
    assert not facula.autograd._profiler_enabled()


def test_results_are_those_of_a_run_without_a_profile():
    facula.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.GELU(), nn.Flatten())
    x = facula.randn(3, 2, 8)

    def run():
        model.zero_grad()
        facula.manual_seed(1)
        out = F.dropout(model(x), 0.5)
        out[:, ::2].square().mean().backward()
        return out.detach(), [p.grad.clone() for p in model.parameters()]

    expected = run()
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True):
        seen = run()
    assert facula.equal(seen[0], expected[0])
    assert all(facula.equal(a, b) for a, b in zip(seen[1], expected[1], strict=True))


def test_linear_is_called_as_pytorch_calls_it():
    x = facula.ones(2, 3)
    with profile(record_shapes=True) as prof:
        F.linear(x, facula.ones(4, 3), facula.ones(4))
    assert only(prof, "aten::addmm").input_shapes == [[4], [2, 3], [3, 4]]
    with profile() as prof:
        F.linear(x, facula.ones(4, 3), facula.ones(4))
        F.linear(x, facula.ones(4, 3))
    assert [n for n in names(prof) if n != "aten::ones"] == ["aten::addmm", "aten::mm"]


def test_self_times_add_up():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    with profile() as prof:
        model(facula.ones(4, 8)).sum().backward()
    events = prof.function_events
    top = [e for e in events if e.cpu_parent is None]
    assert len(top) < len(events)
    total = sum(e.cpu_time_total for e in top)
    assert prof.self_cpu_time_total == pytest.approx(total)
    assert sum(e.self_cpu_time_total for e in prof.key_averages()) == pytest.approx(total)
    for e in events:
        assert e.self_cpu_time_total >= -1e-6
        for child in e.cpu_children:
            assert child.cpu_parent is e
            assert e.time_range.start <= child.time_range.start
            assert child.time_range.end <= e.time_range.end


def test_backward_nodes():
    x = facula.ones(2, 3, requires_grad=True)
    with profile() as prof:
        (x * x).exp().sum().backward()
    seen = names(prof)
    nodes = [n for n in seen if n.startswith("autograd::engine::evaluate_function: ")]
    assert [n.rpartition(" ")[2] for n in nodes] == [
        "SumBackward0",
        "ExpBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
        "torch::autograd::AccumulateGrad",
    ]
    node = only(prof, "MulBackward0")
    assert node.scope == 1
    assert node.cpu_parent.name == "autograd::engine::evaluate_function: MulBackward0"
    first = next(e for e in prof.function_events if e.name == "aten::mul")
    assert first.sequence_nr == node.sequence_nr >= 0
    assert only(prof, "aten::exp").sequence_nr == only(prof, "ExpBackward0").sequence_nr


def test_operators_of_formulas_lie_inside_of_nodes():
    x, w = facula.ones(2, 3, requires_grad=True), facula.ones(3, 4, requires_grad=True)
    with profile() as prof:
        (x @ w).sum().backward()
    inside = [
        e for e in prof.function_events if e.cpu_parent and e.cpu_parent.name == "MmBackward0"
    ]
    assert [e.name for e in inside] and {e.name for e in inside} >= {"aten::mm"}


def test_blocks_hold_what_runs_in_them():
    x = facula.ones(3)

    @record_function("decorated")
    def work():
        return x.exp()

    with profile() as prof:
        with record_function("outer"):
            x.sin()
            with record_function("inner"):
                x.cos()
        work()
    outer, inner = only(prof, "outer"), only(prof, "inner")
    assert [c.name for c in outer.cpu_children] == ["aten::sin", "inner"]
    assert [c.name for c in inner.cpu_children] == ["aten::cos"]
    assert [c.name for c in only(prof, "decorated").cpu_children] == ["aten::exp"]
    assert outer.is_user_annotation and not inner.cpu_children[0].is_user_annotation
    assert [e.name for e in prof.function_events if e.cpu_parent is None] == ["outer", "decorated"]


def test_blocks_that_do_not_nest():
    a, b = record_function("a"), record_function("b")
    with profile() as prof:
        a.__enter__()
        b.__enter__()
        a.__exit__(None, None, None)
        facula.ones(1)
        b.__exit__(None, None, None)
    assert only(prof, "b").cpu_parent is None
    assert [c.name for c in only(prof, "b").cpu_children] == ["aten::ones"]


def test_blocks_outside_of_a_profile_do_nothing():
    with record_function("nothing"):
        pass
    open_before = record_function("before").__enter__()
    with profile() as prof:
        open_before.__exit__(None, None, None)
        left_open = record_function("left").__enter__()
    left_open.__exit__(None, None, None)
    assert names(prof) == ["left"]
    assert prof.function_events[0].cpu_time_total >= 0


def test_shapes():
    x = facula.ones(2, 3, dtype=facula.float64)
    with profile(record_shapes=True) as prof:
        facula.cat([x, x[:1]], 0)
        x.sum(1)
        facula.where(x > 1, x, x)
    cat = only(prof, "aten::cat")
    assert cat.input_shapes == [[], []]
    assert cat.structured_input_shapes == [[[2, 3], [1, 3]], []]
    assert cat.structured_input_strides == [[[3, 1], [3, 1]], []]
    assert cat.input_dtypes == ["TensorList", "Scalar"]
    assert cat.concrete_inputs == [None, 0]
    assert only(prof, "aten::where").input_dtypes == ["bool", "double", "double"]
    averages = prof.key_averages(group_by_input_shape=True)
    assert [e.input_shapes for e in averages if e.key == "aten::where"] == [[[2, 3]] * 3]
    with profile() as prof:
        x.sum(1)
    assert only(prof, "aten::sum").input_shapes == []


def test_averages_by_shape():
    with profile(record_shapes=True) as prof:
        for n in (2, 3, 2):
            facula.ones(n).exp()
    found = {
        str(e.input_shapes): e.count
        for e in prof.key_averages(group_by_input_shape=True)
        if e.key == "aten::exp"
    }
    assert found == {"[[2]]": 2, "[[3]]": 1}
    assert counts(prof)["aten::exp"] == 3


def test_operation_counts():
    x = facula.ones(2, 3, 8, 8)
    with profile(with_flops=True) as prof:
        facula.ones(4, 5) @ facula.ones(5, 6)
        F.linear(facula.ones(4, 5), facula.ones(6, 5), facula.ones(6))
        facula.bmm(facula.ones(2, 4, 5), facula.ones(2, 5, 6))
        F.conv2d(x, facula.ones(4, 3, 3, 3), padding=1)
        F.conv_transpose1d(facula.ones(1, 2, 5), facula.ones(2, 3, 4))
        x * x
    flops = {e.key: e.flops for e in prof.key_averages() if e.flops}
    assert flops == {
        "aten::mm": 2 * 4 * 5 * 6,
        "aten::addmm": 2 * 4 * 5 * 6,
        "aten::bmm": 2 * 2 * 4 * 5 * 6,
        "aten::convolution": 2 * (2 * 4 * 8 * 8) * (3 * 3 * 3) + 2 * (2 * 5) * (3 * 4),
        "aten::mul": 2 * 3 * 8 * 8,
    }
    assert "Total FLOPs" in prof.key_averages().table() or "KFLOPs" in prof.table()


def test_memory():
    with profile(profile_memory=True) as prof:
        big = facula.ones(250_000)
        big.exp()
        del big
        facula.ones(1).sin()
    ones = next(e for e in prof.function_events if e.name == "aten::ones")
    exp = only(prof, "aten::exp")
    for event in (ones, exp):
        assert 1_000_000 <= event.cpu_memory_usage < 1_010_000
        assert event.self_cpu_memory_usage <= event.cpu_memory_usage
    freed = [e for e in prof.function_events if e.name == "[memory]"]
    assert sum(e.cpu_memory_usage for e in freed) < -1_990_000
    assert "Self CPU Mem" in prof.key_averages().table()
    assert "Self CPU Mem" not in str(profile().key_averages())


def test_stacks():
    def inner(x):
        return x.exp()

    with profile(with_stack=True) as prof:
        with record_function("block"):
            inner(facula.ones(2, requires_grad=True)).sum().backward()
    exp = only(prof, "aten::exp")
    assert exp.stack[0].startswith(__file__) and exp.stack[0].endswith("): inner")
    assert exp.stack[1].endswith("): test_stacks")
    assert only(prof, "block").stack[0].endswith("): test_stacks")
    # A node has the stack of the call that recorded it.
    assert only(prof, "ExpBackward0").stack == exp.stack
    averages = prof.key_averages(group_by_stack_n=2)
    assert [e.stack for e in averages if e.key == "aten::exp"] == [exp.stack[:2]]
    assert "Source Location" in averages.table()
    with profile() as prof:
        facula.ones(2)
    assert prof.function_events[0].stack == []
    with pytest.raises(AssertionError, match="with_stack"):
        prof.export_stacks("nowhere")


def test_stacks_as_a_file(tmp_path):
    with profile(with_stack=True) as prof:
        for _ in range(3):
            facula.ones(300, 300).exp()
    path = tmp_path / "stacks.txt"
    prof.export_stacks(str(path))
    lines = path.read_text().splitlines()
    assert lines and all(int(line.rpartition(" ")[2]) > 0 for line in lines)
    assert "test_stacks_as_a_file" in lines[0].split(";")[-1]
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(path), "colour")


def test_trace_file(tmp_path):
    x = facula.ones(2, 3, requires_grad=True)
    with profile(record_shapes=True, profile_memory=True) as prof:
        with record_function('a "quoted" block'):
            x.exp().sum().backward()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(slices) == len([n for n in names(prof) if n != "[memory]"])
    exp = next(e for e in slices if e["name"] == "aten::exp")
    assert exp["cat"] == "cpu_op" and exp["args"]["Input Dims"] == [[2, 3]]
    assert exp["dur"] >= 0
    assert next(e for e in slices if "quoted" in e["name"])["cat"] == "user_annotation"
    arrows = [e for e in trace["traceEvents"] if e.get("cat") == "fwdbwd"]
    assert len(arrows) == 4 and {e["ph"] for e in arrows} == {"s", "f"}
    prof.function_events.export_chrome_trace(str(path))
    assert {e["name"] for e in json.loads(path.read_text())} >= {"aten::exp"}


def test_exceptions_inside():
    x = facula.ones(2)
    with pytest.raises(RuntimeError):
        with profile() as prof:
            with record_function("block"):
                x.exp()
                x @ facula.ones(3)
    assert "aten::exp" in names(prof) and "block" in names(prof)
    assert not facula.autograd._profiler_enabled()
    with profile() as prof:
        with pytest.raises(RuntimeError):
            x.view(3)
        x.sin()
    assert only(prof, "aten::sin").cpu_parent is None


def test_exceptions_in_backward():
    x = facula.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: (_ for _ in ()).throw(ValueError("no")))
    with profile() as prof:
        with pytest.raises(ValueError, match="no"):
            y.sum().backward()
        x.detach().sin()
    assert only(prof, "aten::sin").cpu_parent is None


def test_profiles_that_end_inside_of_a_pass():
    x = facula.ones(2, requires_grad=True)
    y = x.exp()
    first = profile().__enter__()
    y.register_hook(lambda g: first.__exit__(None, None, None) or g)
    y.sum().sin().backward()
    assert "aten::exp" not in names(first)
    for _ in range(2):
        with profile(profile_memory=True, with_stack=True) as second:
            x.detach().cos()
        event = only(second, "aten::cos")
        assert event.cpu_parent is None and event.stack


def test_profiles_nest():
    with profile() as outer:
        facula.ones(1)
        with record_function("block"):
            with profile(record_shapes=True, profile_memory=True, with_stack=True) as inner:
                facula.ones(2).exp()
            facula.ones(1).sin()
    assert names(inner) == ["aten::ones", "aten::exp"]
    assert only(inner, "aten::exp").input_shapes == [[2]]
    assert only(inner, "aten::exp").stack
    assert names(outer) == ["aten::ones", "block"] + ["aten::ones", "aten::exp"] + [
        "aten::ones",
        "aten::sin",
    ]
    exp = only(outer, "aten::exp")
    assert exp.input_shapes == [] and exp.stack == [] and exp.cpu_memory_usage == 0
    assert exp.cpu_parent.name == "block"


def test_profiles_that_overlap():
    first, second = profile(), profile()
    first.__enter__()
    facula.ones(1)
    second.__enter__()
    facula.ones(1).sin()
    first.__exit__(None, None, None)
    facula.ones(1).cos()
    second.__exit__(None, None, None)
    assert names(first) == ["aten::ones", "aten::ones", "aten::sin"]
    assert names(second) == ["aten::ones", "aten::sin", "aten::ones", "aten::cos"]
    assert not facula.autograd._profiler_enabled()


def test_profiles_are_entered_once():
    with profile() as prof:
        with pytest.raises(RuntimeError, match="not reentrant"):
            prof.__enter__()
    with pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()
    with pytest.raises(RuntimeError, match="not running in this thread"):
        prof.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="not running in this thread"):
        facula.autograd._disable_profiler()


def test_a_profile_that_is_off():
    with profile(enabled=False) as prof:
        facula.ones(1)
    assert prof is None


def test_profiles_after_one_another():
    for n in (1, 2):
        with profile() as prof:
            for _ in range(n):
                facula.ones(1)
        assert names(prof) == ["aten::ones"] * n


def test_other_threads_are_not_seen():
    seen = []

    def work():
        seen.append(facula.autograd._profiler_enabled())
        facula.ones(1).cos()
        with profile() as own:
            facula.ones(1).sin()
        seen.append(names(own))

    with profile() as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        facula.ones(1).exp()
    assert seen == [False, ["aten::ones", "aten::sin"]]
    assert names(prof) == ["aten::ones", "aten::exp"]


def test_a_thread_may_end_while_it_is_profiled():
    def work():
        profile(with_stack=True).__enter__()
        facula.ones(1).exp()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    gc.collect()


def test_collection_can_be_switched():
    class Activity:
        name = "CPU"

    with profile() as prof:
        facula.ones(1)
        prof.toggle_collection_dynamic(False, [Activity])
        facula.ones(1).exp()
        prof.toggle_collection_dynamic(True, [Activity])
        facula.ones(1).sin()
    assert names(prof) == ["aten::ones", "aten::ones", "aten::sin"]


def test_functions_of_users():
    class Twice(facula.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with profile() as prof:
        Twice.apply(facula.ones(2, requires_grad=True)).sum().backward()
    assert [c.name for c in only(prof, "Twice").cpu_children] == ["aten::mul"]
    assert [c.name for c in only(prof, "TwiceBackward").cpu_children] == ["aten::mul"]


def test_operators_of_users():
    @facula.library.custom_op("profiled::double", mutates_args=())
    def double(x: facula.Tensor) -> facula.Tensor:
        return x * 2

    with profile() as prof:
        double(facula.ones(2))
    assert [c.name for c in only(prof, "profiled::double").cpu_children] == ["aten::mul"]


def test_modes_and_transforms_inside():
    from facula.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = facula.ones(3)
    with profile() as prof:
        with Mode():
            x.exp()
        out = facula.func.vmap(lambda v: v.sin())(x)
    assert facula.equal(out, x.sin())
    assert [c.name for c in prof.function_events[0].cpu_children] == ["aten::exp"]
    assert "aten::sin" in names(prof)


def test_tables():
    with profile(record_shapes=True) as prof:
        with record_function("a_very_long_name" * 10):
            for _ in range(3):
                facula.ones(2, 3).exp()
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=2)
    lines = table.splitlines()
    assert [t.strip() for t in lines[1].split("  ") if t.strip()] == [
        "Name",
        "Self CPU %",
        "Self CPU",
        "CPU total %",
        "CPU total",
        "CPU time avg",
        "# of Calls",
    ]
    assert "a_very_long_name" in lines[3] and "..." in lines[3]
    assert len(lines) == 7 and lines[-1].startswith("Self CPU time total: ")
    assert len(prof.key_averages().table(row_limit=-1).splitlines()) == 5 + 3
    assert "Input Shapes" in prof.table()
    top = prof.table(top_level_events_only=True, header="Title")
    assert "Title" in top and "aten::exp" not in top
    assert "ms" in prof.key_averages().table(time_unit="ms")
    assert profiler.EventList().table() == ""


def test_totals():
    with profile() as prof:
        facula.ones(2).exp()
    total = prof.total_average()
    assert total.key == "Total" and total.count == 2
    assert total.cpu_time_total == pytest.approx(
        sum(e.cpu_time_total for e in prof.function_events)
    )


def test_events_of_several_uses_are_kept_on_request():
    prof = profile(acc_events=True)
    for _ in range(2):
        prof._start()
        facula.ones(1)
        prof.__exit__(None, None, None)
    assert names(prof) == ["aten::ones"] * 2
