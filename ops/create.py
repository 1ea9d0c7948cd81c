"""Tensors from nothing: constants, ranges, identity matrices, triangles of indices."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

manual("empty(int... size, *, MemoryFormat? memory_format=None)", factory=True, doc="A tensor whose elements are not initialised.")
manual("zeros(int... size)", factory=True, doc="A tensor of zeros.")
manual("ones(int... size)", factory=True, doc="A tensor of ones.")
manual("full(int[] size, Scalar fill_value)", factory=True, doc="A tensor of one value; its dtype follows the value.")
manual("empty_strided(int[] size, int[] stride)", factory=True, out=False, doc="An uninitialised tensor with given strides.")
manual("empty_like(Tensor self, *, MemoryFormat? memory_format=None)", factory=True, method=False, out=False,
       doc="An uninitialised tensor like `input`.")
manual("zeros_like(Tensor self, *, MemoryFormat? memory_format=None)", factory=True, method=False, out=False, doc="Zeros like `input`.",
       nondifferentiable="constant")
manual("ones_like(Tensor self, *, MemoryFormat? memory_format=None)", factory=True, method=False, out=False, doc="Ones like `input`.",
       nondifferentiable="constant")
manual("full_like(Tensor self, Scalar fill_value, *, MemoryFormat? memory_format=None)", factory=True, method=False, out=False,
       doc="A constant like `input`.")
manual("new_empty_method(Tensor self, int... size)", factory=True, names="Tensor.new_empty", method=False, out=False,
       doc="An uninitialised tensor with the dtype of `self`.")
manual("new_zeros(Tensor self, int... size)", factory=True, names="", method=True, out=False, doc="Zeros with the dtype of `self`.")
manual("new_ones(Tensor self, int... size)", factory=True, names="", method=True, out=False, doc="Ones with the dtype of `self`.")
manual("new_full(Tensor self, int[] size, Scalar fill_value)", factory=True, names="", method=True, out=False,
       doc="A constant with the dtype of `self`.")
manual("new_empty_strided(Tensor self, int[] size, int[] stride)", factory=True, names="", method=True, out=False,
       doc="An uninitialised tensor with given strides and the dtype of `self`.")
manual("arange_end(Scalar end)", factory=True, names="arange", doc="The numbers from 0 to `end`, exclusive.")
manual("arange(Scalar start, Scalar end, Scalar step=1)", factory=True, names="arange",
       doc="The numbers from `start` to `end`, exclusive, in steps.")
manual("range_inclusive(Scalar start, Scalar end, Scalar step=1)", factory=True, names="range",
       doc="The numbers from `start` to `end`, inclusive, in steps.")
manual("linspace(Tensor|Scalar start, Tensor|Scalar end, int steps)", factory=True, doc="`steps` numbers, evenly spaced.")
manual("logspace(Tensor|Scalar start, Tensor|Scalar end, int steps, float base=10.0)", factory=True,
       doc="`steps` powers of `base`, evenly spaced in the exponent.")
manual("eye(int n)", factory=True, names="eye", doc="The identity matrix.")
manual("eye_m(int n, int m)", factory=True, names="eye", doc="A matrix with ones on its diagonal.")
manual("tril_indices(int row, int col, int offset=0)", factory=True, out=False, doc="Row and column numbers of the lower triangle.")
manual("triu_indices(int row, int col, int offset=0)", factory=True, out=False, doc="Row and column numbers of the upper triangle.")
manual("scalar_tensor(Scalar s)", factory=True, out=False, doc="A 0-d tensor.")
manual("complex(Tensor real, Tensor imag)", overlap="whole", linear=True, grad={"real": "real(grad)", "imag": "imag(grad)"},
       out="exact", doc="A complex tensor of a real and an imaginary part.")
composite("polar(Tensor abs, Tensor angle)", "complex(abs * cos(angle), abs * sin(angle))", overlap="whole",
          out="exact", doc="A complex tensor of absolute values and angles.")
manual("real_view(Tensor self)", linear=True, batch="leading", names="", grad={"self": "complex(grad, zeros_like(grad))"}, doc="The real parts of a complex tensor, as a view.")
manual("imag_view(Tensor self)", linear=True, batch="leading", names="", grad={"self": "complex(zeros_like(grad), grad)"}, doc="The imaginary parts, as a view.")
composite("real(Tensor self)", method=False, doc="The real part; real tensors are returned as they are.", out=False)
composite("imag(Tensor self)", method=False, doc="The imaginary part of a complex tensor.", out=False)
manual("view_as_real(Tensor self)", linear=True, batch="leading", grad={"self": "view_as_complex(contiguous(grad))"}, method=False, out=False,
       doc="A complex tensor as a real one with a last dimension of size 2.")
manual("view_as_complex(Tensor self)", linear=True, batch="leading", grad={"self": "view_as_real(grad)"}, method=False, out=False,
       doc="A real tensor with a last dimension of size 2 as a complex one.")
