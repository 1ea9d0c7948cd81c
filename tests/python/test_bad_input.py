"""Wrong calls raise the type that PyTorch raises."""

import io
import zipfile
from pickle import UnpicklingError

import numpy
import pytest

import facula
from facula import nn, optim

PARAMETERS = [nn.Parameter(facula.ones(2))]
SPARSE = facula.tensor([1, 0, 2]).to_sparse()

WRONG = {
    "type of a string": (ValueError, lambda: facula.ones(2).type("foo")),
    "type of a class": (ValueError, lambda: facula.ones(2).type(float)),
    "type of an int": (TypeError, lambda: facula.ones(2).type(3)),
    "set_grad_enabled": (TypeError, lambda: facula.set_grad_enabled("a")),
    "detach": (TypeError, lambda: facula.detach(None)),
    "float alpha": (RuntimeError, lambda: facula.add(SPARSE, SPARSE, alpha=1.5)),
    "float alpha in place": (RuntimeError, lambda: SPARSE.clone().add_(SPARSE, alpha=1.5)),
    "bool alpha": (RuntimeError, lambda: facula.add(SPARSE, SPARSE, alpha=True)),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_type_of_the_exception(case):
    kind, call = WRONG[case]
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind and str(caught.value)
    assert facula.is_grad_enabled()


@pytest.mark.parametrize(
    "code, dtype", [("B", "uint8"), ("i", "int32"), ("d", "float64"), ("q", "int64")]
)
def test_asarray_reads_the_type_of_a_buffer(code, dtype):
    import array

    source = array.array(code, [1, 2, 3])
    t = facula.asarray(source)
    assert t.dtype == getattr(facula, dtype) and t.tolist() == [1, 2, 3]
    t[0] = 7
    assert source[0] == 7
    assert facula.asarray(memoryview(bytearray(b"abc"))).tolist() == [97, 98, 99]
    assert facula.asarray(bytearray(8), dtype=facula.float32).tolist() == [0, 0]
    with pytest.raises(ValueError):
        facula.asarray(bytearray(0))


LAYERS = {
    "no inputs": (ValueError, lambda: nn.LSTM(0, 2)),
    "negative inputs": (ValueError, lambda: nn.GRU(-1, 2)),
    "inputs of text": (TypeError, lambda: nn.RNN("a", 2)),
    "hidden of floats": (TypeError, lambda: nn.RNN(2, 1.5)),
    "softmax along text": (TypeError, lambda: nn.Softmax("a")),
    "softmax along a bool": (TypeError, lambda: nn.LogSoftmax(True)),
    "norm of 0": (ValueError, lambda: nn.LPPool1d(0, 2)),
    "pooling by the norm of 0": (
        ValueError,
        lambda: nn.functional.lp_pool2d(facula.ones(1, 1, 4, 4), 0, 2),
    ),
}


@pytest.mark.parametrize("case", LAYERS)
def test_layers_refuse_what_they_cannot_do(case):
    kind, make = LAYERS[case]
    with pytest.raises(kind) as caught:
        make()
    assert caught.type is kind and str(caught.value)
    assert nn.Softmax(None).dim is None and nn.LPPool1d(-1, 2).norm_type == -1


def checkpoint(**changes):
    """The bytes of a file of `save` with some records changed; None leaves one out."""
    saved, changed = io.BytesIO(), io.BytesIO()
    facula.save({"a": facula.ones(3)}, saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = changes.get(name.rsplit("/", 1)[-1].partition(".")[0], old.read(name))
            if data is not None:
                new.writestr(name, data)
    return io.BytesIO(changed.getvalue())


FILES = {
    "no version": (RuntimeError, lambda: facula.load(checkpoint(version=None))),
    "a version that is no number": (RuntimeError, lambda: facula.load(checkpoint(version=b"x"))),
    "a version of the future": (RuntimeError, lambda: facula.load(checkpoint(version=b"99"))),
    "half a pickle": (UnpicklingError, lambda: facula.load(checkpoint(data=b"\x80\x02X\x09"))),
    "an unknown option": (TypeError, lambda: facula.load(checkpoint(), foo=1)),
    "an array of dates": (TypeError, lambda: facula.asarray(numpy.zeros(2, "M8[s]"))),
}
OPTIMISERS = {
    "alpha": (ValueError, lambda: optim.ASGD(PARAMETERS, alpha=-1.0)),
    "lambd": (ValueError, lambda: optim.ASGD(PARAMETERS, lambd=float("nan"))),
    "cyclic": (TypeError, lambda: optim.lr_scheduler.CyclicLR(None, 0.1, 0.2)),
    "one cycle": (TypeError, lambda: optim.lr_scheduler.OneCycleLR([], 0.1, total_steps=5)),
}


@pytest.mark.parametrize("case", [*FILES, *OPTIMISERS])
def test_files_and_optimisers(case):
    kind, call = {**FILES, **OPTIMISERS}[case]
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind and str(caught.value)
    assert facula.load(checkpoint(), encoding="utf-8")["a"].tolist() == [1, 1, 1]
    assert optim.ASGD(PARAMETERS, alpha=0, lambd=0)
