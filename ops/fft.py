"""Fourier transforms, their frequencies and shifts, short-time transforms and their windows."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- sums along one dimension: with w = exp(-2 pi i / length), or its conjugate when not forward. Lines are read as if zeros followed, or
# cut, to `length`; `keep` elements are returned. Each of the rows is linear, and the rule of each is its transpose.
manual("fft_complex(Tensor self, int dim, int length, int keep, bool forward, float scale)", batch="along", names="", linear=True,
       grad={"self": "fft_complex(grad, dim, length, size(self, dim), not forward, scale)"},
       doc="scale * sum over j of self[j] w^(jk).")
manual("fft_real(Tensor self, int dim, int length, int keep, bool forward, float scale, bool doubled)", batch="along", names="", linear=True,
       grad={"self": "fft_hermitian(grad, dim, length, size(self, dim), not forward, scale, doubled)"},
       doc="The same of real lines, up to k = length / 2; doubled where k stands for two frequencies, if `doubled`.")
manual("fft_hermitian(Tensor self, int dim, int length, int keep, bool forward, float scale, bool doubled)", batch="along", names="", linear=True,
       grad={"self": "fft_real(grad, dim, length, size(self, dim), not forward, scale, doubled)"},
       doc="scale * the real part of the sum over k <= length / 2 of c self[k] w^(jk), c = 2 where k stands for two frequencies, if `doubled`.")

# ---- transforms of one, two and all dimensions
KINDS = {"fft": ("discrete Fourier transform", ""), "ifft": ("inverse discrete Fourier transform", ""),
         "rfft": ("half of the discrete Fourier transform of a real tensor, up to the Nyquist frequency", ""),
         "irfft": ("real inverse of rfft", " The default length is 2 (size - 1)."),
         "hfft": ("real discrete Fourier transform of half a Hermitian-symmetric signal", " The default length is 2 (size - 1)."),
         "ihfft": ("half of the inverse discrete Fourier transform of a real signal", "")}
NORMS = " `norm` is backward (the inverse is divided by the number of points), ortho or forward."
for kind, (what, tail) in KINDS.items():
    composite(f"fft_{kind}(Tensor self, int? n=None, int dim=-1, str? norm=None)", names=f"fft.{kind}",
              doc=f"The {what} along a dimension, cut or padded with zeros to length n.{tail}{NORMS}")
    composite(f"fft_{kind}2(Tensor self, int[]? s=None, int[]? dim=[-2, -1], str? norm=None)", names=f"fft.{kind}2",
              doc=f"The {what} over two dimensions, cut or padded to the lengths s.{tail}{NORMS}")
    composite(f"fft_{kind}n(Tensor self, int[]? s=None, int[]? dim=None, str? norm=None)", names=f"fft.{kind}n",
              doc=f"The {what} over dimensions (all, or the last len(s)), cut or padded to the lengths s.{tail}{NORMS}")

# ---- frequencies and shifts
composite("fft_fftfreq(int n, float d=1.0)", names="fft.fftfreq", factory=True,
          doc="The frequencies of fft's elements in cycles a unit, for samples `d` apart: 0, 1, ..., -1 over n d.")
composite("fft_rfftfreq(int n, float d=1.0)", names="fft.rfftfreq", factory=True,
          doc="The frequencies of rfft's elements in cycles a unit, for samples `d` apart: 0, 1, ..., n / 2 over n d.")
composite("fft_fftshift(Tensor self, int[]? dim=None)", names="fft.fftshift", out=False,
          doc="Moves the zero frequency to the middle of dimensions (all by default).")
composite("fft_ifftshift(Tensor self, int[]? dim=None)", names="fft.ifftshift", out=False, doc="The inverse of fftshift.")

# ---- short-time transforms
composite("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, str pad_mode='reflect',"
          " bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None)", out=False,
          doc="Fourier transforms of overlapping windowed stretches: (..., frequencies, stretches). `center` pads the ends, so that stretch t is"
              " centred at t * hop_length; real signals give the frequencies up to Nyquist unless `onesided` is false.")
composite("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False,"
          " bool? onesided=None, int? length=None, bool return_complex=False)", out=False,
          doc="The signal whose stft is nearest: overlapping stretches are added and divided by the sum of the squared windows.")

# ---- windows; without `sym` (with `periodic`) a window of one more point loses its last one
composite("window_cosines(int length, float[] a, *, bool sym=True)", names="_window_cosines", factory=True, out=False,
          doc="The sum over i of (-1)^i a[i] cos(2 pi i k / (length - 1)).")
composite("window_bartlett(int length, *, bool sym=True)", names="_window_bartlett", factory=True, out=False,
          doc="The triangle that is 0 at both ends.")
composite("window_cosine(int length, *, bool sym=True)", names="_window_cosine", factory=True, out=False,
          doc="sin(pi (k + 1/2) / length).")
composite("window_exponential(int length, float? center=None, float tau=1.0, *, bool sym=True)", names="_window_exponential", factory=True,
          out=False, doc="exp(-|k - center| / tau); the middle is the default centre.")
composite("window_gaussian(int length, float std=1.0, *, bool sym=True)", names="_window_gaussian", factory=True, out=False,
          doc="exp(-((k - middle) / std)^2 / 2).")
composite("window_kaiser(int length, float beta=12.0, *, bool sym=True)", names="_window_kaiser", factory=True, out=False,
          doc="i0(beta sqrt(1 - x^2)) / i0(beta), x from -1 to 1.")
for name, what in (("bartlett", "triangular"), ("blackman", "Blackman (0.42, 0.5, 0.08)"), ("hann", "Hann (a raised cosine)")):
    composite(f"{name}_window(int window_length, bool periodic=True)", factory=True, out=False, doc=f"The {what} window.")
composite("hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46)", factory=True, out=False,
          doc="alpha - beta cos(2 pi k / (window_length - 1)).")
composite("kaiser_window(int window_length, bool periodic=True, float beta=12.0)", factory=True, out=False,
          doc="i0(beta sqrt(1 - x^2)) / i0(beta), x from -1 to 1.")
