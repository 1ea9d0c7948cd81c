"""Extensions: sources become modules, errors are told, results are kept."""

import subprocess
import sys

import pytest

import facula
from facula.utils import cpp_extension

SOURCE = """
torch::Tensor d_sigmoid(torch::Tensor z) {
  auto s = torch::sigmoid(z);
  return (1 - s) * s;
}
std::vector<torch::Tensor> gates(torch::Tensor input, torch::Tensor weight, torch::Tensor bias) {
  auto parts = torch::addmm(bias, torch::cat({input, input}, 1), weight.t()).chunk(2, 1);
  return {torch::sigmoid(parts[0]), parts[1].tanh()};
}
double total(torch::Tensor x, double scale, bool twice, std::vector<int64_t> more) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix, got ", x.dim(), " dimensions");
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "total", ([&] {
    auto a = x.accessor<scalar_t, 2>();
    for (int64_t i = 0; i < x.size(0); ++i) {
      for (int64_t j = 0; j < x.size(1); ++j) sum += a[i][j];
    }
  }));
  return sum * scale * (twice ? 2 : 1) + more.size();
}
std::tuple<torch::Tensor, std::string> named(torch::Tensor x, std::optional<std::string> name) {
  return {x + 1, name.value_or("none")};
}
void fill(torch::Tensor x, int64_t value) { x.fill_(value); }
std::tuple<int64_t, torch::Tensor> signs(torch::Tensor x, torch::Tensor y) {
  auto inside = (x > 0) & (2 >= x) & !(x == y);
  y[0] += 10;
  y *= x < y;
  return {inside.sum().item<int64_t>(), (x != y).to(torch::kLong) + facula::eq(x, 1)};
}
void write_parts(torch::Tensor x, torch::Tensor y) {
  x[0] = y;
  x[1] = 7;
  x[2] = y + 1;
  torch::Tensor other = x[1];
  other = y;  // another handle: x stays
}
double first(torch::Tensor x) { return x.data_ptr<double>()[0]; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("d_sigmoid", &d_sigmoid, "The derivative of sigmoid");
  m.def("gates", &gates);
  m.def("total", &total, py::arg("x"), py::arg("scale") = 1.0, py::arg("twice") = false,
        py::arg("more") = std::vector<int64_t>());
  m.def("named", &named, py::arg("x"), py::arg("name") = std::nullopt);
  m.def("fill", &fill);
  m.def("signs", &signs);
  m.def("first", &first);
  m.def("write_parts", &write_parts);
  m.def("thrice", [](torch::Tensor x) -> torch::Tensor { return x * 3; });
  m.attr("version", int64_t{3});
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("extensions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_EXTENSIONS_DIR", str(path))
        yield path


@pytest.fixture(scope="module")
def module(folder):
    return cpp_extension.load_inline("inline_one", SOURCE)


def test_functions_take_and_give_tensors_with_gradients(module):
    x = facula.tensor([0.5, -1.0], requires_grad=True)
    out = module.d_sigmoid(x)
    s = facula.sigmoid(x)
    facula.testing.assert_close(out, s * (1 - s))
    out.sum().backward()
    facula.testing.assert_close(x.grad, (s * (1 - s) * (1 - 2 * s)).detach())
    assert module.d_sigmoid.__doc__ == "The derivative of sigmoid"
    inputs = facula.rand(3, 2), facula.rand(8, 4), facula.rand(8)
    a, b = module.gates(*inputs)
    both = facula.addmm(inputs[2], facula.cat([inputs[0]] * 2, 1), inputs[1].t())
    facula.testing.assert_close(a, facula.sigmoid(both[:, :4]))
    facula.testing.assert_close(b, facula.tanh(both[:, 4:]))


def test_numbers_lists_options_and_defaults(module):
    x = facula.ones(2, 2, dtype=facula.float64)
    assert module.total(x) == 4.0
    assert module.total(x, 0.5, more=[1, 2], twice=True) == 6.0
    assert module.named(facula.zeros(1), "a")[1] == "a"
    assert module.named(facula.zeros(1)) == (facula.ones(1), "none")
    assert module.thrice(facula.ones(1)).item() == 3
    assert module.version == 3
    x = facula.zeros(2)
    assert module.fill(x, 7) is None
    assert x.tolist() == [7, 7]


def test_signs_between_tensors_and_numbers(module):
    x, y = facula.tensor([-1.0, 1.0, 2.0, 3.0]), facula.tensor([-1.0, 5.0, 2.0, 4.0])
    count, unequal = module.signs(x, y)
    assert count == 1
    assert y.tolist() == [9, 5, 0, 4]
    assert unequal.tolist() == [1, 2, 1, 1]


def test_parts_are_written_to(module):
    x, y = facula.zeros(3, 2), facula.tensor([1.0, 2.0], requires_grad=True)
    module.write_parts(x, y)
    assert x.tolist() == [[1, 2], [7, 7], [2, 3]]
    x.sum().backward()
    assert y.grad.tolist() == [2, 2]


def test_errors_are_pythons(module):
    with pytest.raises(RuntimeError, match="expected scalar type Double but found Float"):
        module.first(facula.ones(2))
    assert module.first(facula.ones(2, dtype=facula.float64)) == 1
    with pytest.raises(RuntimeError, match="expected a matrix, got 1 dimensions"):
        module.total(facula.ones(2))
    with pytest.raises(NotImplementedError, match='"total" not implemented'):
        module.total(facula.ones(2, 2, dtype=facula.int32))
    with pytest.raises(TypeError, match=r"total\(\): argument 1 must be a Tensor, not int"):
        module.total(1)
    with pytest.raises(TypeError, match="argument 3 must be a bool, not int"):
        module.total(facula.ones(2, 2), 1.0, 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        module.total(facula.ones(2, 2), other=1)
    with pytest.raises(TypeError, match="is missing argument 1"):
        module.total()
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        module.gates(facula.ones(2, 3), facula.ones(2, 2), facula.ones(2))


def test_what_is_built_is_not_built_again(module, folder, monkeypatch):
    built = sorted(folder.rglob("*.so"))
    monkeypatch.setenv("PATH", "")  # no compiler to be found
    monkeypatch.delenv("CXX", raising=False)
    again = cpp_extension.load_inline("inline_one", SOURCE)
    assert again.thrice(facula.ones(1)).item() == 3
    assert sorted(folder.rglob("*.so")) == built
    with pytest.raises(RuntimeError, match="no C\\+\\+ compiler was found"):
        cpp_extension.load_inline("inline_one", SOURCE + "// changed\n")


def test_bad_requests(folder, tmp_path):
    with pytest.raises(NotImplementedError, match="no CUDA"):
        cpp_extension.load_inline("c", "", cuda_sources="x")
    with pytest.raises(NotImplementedError, match="no CUDA"):
        cpp_extension.CUDAExtension("c", [])
    with pytest.raises(FileNotFoundError):
        cpp_extension.load("c", [str(tmp_path / "none.cpp")])
    with pytest.raises(ValueError, match="name of a module"):
        cpp_extension.load("a-b", [])
    with pytest.raises(NotImplementedError):
        cpp_extension.include_paths("cuda")


@pytest.mark.full
def test_the_compilers_words_are_told(folder):
    with pytest.raises(RuntimeError, match=r"(?s)Error building extension 'bad'.*nothing_known"):
        cpp_extension.load_inline("bad", "int f() { return nothing_known; }", functions="f")


@pytest.mark.full
def test_files_with_functions_of_facula(folder, tmp_path):
    file = tmp_path / "own.cpp"
    file.write_text("""#include "facula/extension.h"
    static facula::Tensor twice(const facula::Tensor& x) { return facula::add(x, x); }
    FACULA_EXTENSION(m) { m.def("twice", &twice); }
    """)
    module = cpp_extension.load("own", str(file), extra_cflags=["-O1"])
    assert module.twice(facula.ones(2)).tolist() == [2, 2]


@pytest.mark.full
def test_setup_scripts(folder, tmp_path):
    pytest.importorskip("setuptools")
    (tmp_path / "scaled.cpp").write_text("""#include <torch/extension.h>
    torch::Tensor scaled(torch::Tensor x, double by) { return x * by; }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scaled", &scaled); }
    """)
    (tmp_path / "setup.py").write_text("""from setuptools import setup
from facula.utils.cpp_extension import BuildExtension, CppExtension
setup(name="scaled", ext_modules=[CppExtension("scaled", ["scaled.cpp"])],
      cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
""")
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=tmp_path, check=True)
    program = "import facula, scaled; print(scaled.scaled(facula.ones(2), 2.5).tolist())"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True,
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.strip() == "[2.5, 2.5]"
