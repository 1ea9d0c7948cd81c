// Short-time Fourier transforms and their inverse.
#include "facula/ops/create_functions.h"
#include "facula/ops/fft_functions.h"
#include "facula/ops/functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

// Frames says how a signal is cut: the transform's length, the step, the window's length.
struct Frames {
  int64_t n_fft, hop, win;

  // check_window refuses windows that do not fit.
  void check_window(const Tensor& window, const char* op) const {
    FACULA_CHECK(win > 0 && win <= n_fft, kRuntime, op,
                 ": expected 0 < win_length <= n_fft, but got ", "win_length=", win,
                 " and n_fft=", n_fft);
    FACULA_CHECK(!window.defined() || (window.dim() == 1 && window.size(0) == win), kRuntime, op,
                 ": expected a 1D window tensor of size equal to win_length=", win,
                 ", but got window with size ", list_text(shape_of(window)));
  }

  // padded_window centres a window in n_fft points; undefined when every factor is one.
  Tensor padded_window(const Tensor& window, DType dtype, Device device) const {
    if (!window.defined() && win == n_fft) return {};
    Tensor w = window.defined() ? window : ones({win}, dtype, device);
    if (win == n_fft) return w;
    int64_t left = (n_fft - win) / 2;
    return constant_pad_nd(w, {left, n_fft - win - left}, 0);
  }
};

// warn_of_no_window warns, once for each of the two, of frames that are cut off sharply.
void warn_of_no_window(std::atomic<bool>& said, const Tensor& window, const char* advice) {
  if (window.defined()) return;
  warn_once(said, "A window was not provided. A rectangular window will be applied: ", advice,
            " Give ones(win_length) where a rectangular one is meant.");
}

// padded adds n points at both ends of the last dimension.
Tensor padded(const Tensor& signal, int64_t n, std::string_view mode) {
  if (mode == "constant") return constant_pad_nd(signal, {n, n}, 0);
  if (mode == "circular") {
    int64_t size = signal.size(-1);
    FACULA_CHECK(n <= size, kRuntime, "Padding value causes wrapping around more than once.");
    return cat(
        std::vector<Tensor>{narrow(signal, -1, size - n, n), signal, narrow(signal, -1, 0, n)}, -1);
  }
  FACULA_CHECK(mode == "reflect" || mode == "replicate", kNotImplemented,
               "Unrecognised padding mode ", mode);
  FACULA_CHECK(signal.dim() <= 3, kNotImplemented, "stft: Padding size 2 is not supported for ",
               signal.dim(), "D input tensor.");
  Tensor t = signal;
  for (int64_t d = signal.dim(); d < 3; ++d) t = unsqueeze(t, 0);
  t = pad_nd(t, {n, n}, mode, 1);
  for (int64_t d = signal.dim(); d < 3; ++d) t = select(t, 0, 0);
  return t;
}

// checked_signal pads a signal as wanted and gives it a batch dimension.
Tensor checked_signal(const Tensor& self, const Frames& f, bool center, std::string_view pad_mode,
                      bool align_to_window) {
  FACULA_CHECK(self.dim() > 0, kRuntime, "stft: expected a 1D or 2D tensor, but got 0D");
  Tensor t = center ? padded(self, f.n_fft / 2, pad_mode) : self;
  FACULA_CHECK(is_inexact(t.dtype()), kNotImplemented,
               "stft: expected a tensor of floating point or ", "complex values, got ",
               dtype_title(t.dtype()));
  FACULA_CHECK(t.dim() <= 2, kRuntime, "stft: expected a 1D or 2D tensor, but got ", t.dim(), "D");
  if (t.dim() == 1) t = unsqueeze(t, 0);
  if (align_to_window) {
    // What is added meets the zeros around the window.
    int64_t left = (f.n_fft - f.win) / 2;
    t = constant_pad_nd(t, {left, f.n_fft - f.win - left}, 0);
  }
  FACULA_CHECK(f.n_fft > 0 && f.n_fft <= t.size(1), kRuntime, "stft: expected 0 < n_fft < ",
               t.size(1), ", but got n_fft=", f.n_fft);
  FACULA_CHECK(f.hop > 0, kRuntime, "stft: expected hop_length > 0, but got hop_length=", f.hop);
  return t;
}

// check_spectrum refuses what istft cannot read.
void check_spectrum(const Tensor& self, const Frames& f, const Tensor& window, bool onesided) {
  FACULA_CHECK(self.numel() > 0, kRuntime, "istft: input tensor cannot be empty.");
  FACULA_CHECK(self.dim() == 2 || self.dim() == 3, kRuntime,
               "istft: expected a complex tensor with 2 or 3 dimensions, but got ", self.dim());
  int64_t rows = self.size(-2), expected = onesided ? f.n_fft / 2 + 1 : f.n_fft;
  FACULA_CHECK(rows == expected, kRuntime,
               "istft: expected the frequency dimension (2nd to the last) ",
               "of the input tensor to match ",
               onesided ? "n_fft / 2 + 1 when onesided=True" : "n_fft", ", but got ", rows);
  FACULA_CHECK(f.hop > 0 && f.hop <= f.win, kRuntime,
               "istft: expected 0 < hop_length <= win_length, ", "but got hop_length=", f.hop,
               " and win_length=", f.win);
  f.check_window(window, "istft");
}

// stretches gives the time signals of the columns of a spectrum: (batch, stretches, n_fft).
Tensor stretches(const Tensor& spectrum, const Frames& f, const Tensor& window, bool normalized,
                 bool onesided, bool return_complex) {
  std::string_view norm = normalized ? "ortho" : "backward";
  if (return_complex) {
    FACULA_CHECK(!onesided, kRuntime, "Cannot have onesided output if window or input is complex");
    return fft_ifft(spectrum, f.n_fft, -1, norm);
  }
  FACULA_CHECK(!window.defined() || !window.is_complex(), kRuntime,
               "Complex windows are incompatible with return_complex=False");
  return fft_irfft(spectrum, f.n_fft, -1, norm);
}

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length, const Tensor& window, bool center,
            std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  FACULA_CHECK(!center || !align_to_window, kRuntime,
               "stft: align_to_window should only be set when center = false");
  static std::atomic<bool> said{false};
  warn_of_no_window(said, window, "its spectrum leaks, that of hann_window, say, less so.");
  Frames f{n_fft, hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)};
  bool complex = self.is_complex() || (window.defined() && window.is_complex());
  FACULA_CHECK(return_complex || complex, kRuntime,
               "stft requires the return_complex parameter be given for real inputs, and will ",
               "further require that return_complex=True in a future release.");
  Tensor signal = checked_signal(self, f, center, pad_mode, align_to_window.value_or(false));
  f.check_window(window, "stft");
  Tensor frames = unfold(signal, 1, n_fft, f.hop);
  Tensor w = f.padded_window(window, real_type(signal.dtype()), signal.device());
  if (w.defined()) frames = mul(frames, w);
  bool half = onesided.value_or(!complex);
  FACULA_CHECK(!half || !complex, kRuntime,
               "Cannot have onesided output if window or input is complex");
  std::string_view norm = normalized ? "ortho" : "backward";
  Tensor out = half ? fft_rfft(frames, n_fft, -1, norm) : fft_fft(frames, n_fft, -1, norm);
  out = transpose(out, 1, 2);
  if (self.dim() == 1) out = select(out, 0, 0);
  return return_complex.value_or(true) ? out : view_as_real(out);
}

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
             std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized,
             std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) {
  FACULA_CHECK(self.is_complex(), kType,
               "istft requires a complex-valued input tensor matching the ",
               "output from stft with return_complex=True.");
  static std::atomic<bool> said{false};
  warn_of_no_window(said, window, "the window of stft is the one that gives the signal back.");
  Frames f{n_fft, hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)};
  bool half = onesided.value_or(self.dim() < 2 || self.size(-2) != n_fft);
  check_spectrum(self, f, window, half);
  Tensor spectrum = transpose(self.dim() == 2 ? unsqueeze(self, 0) : self, 1, 2);
  int64_t count = spectrum.size(1), full = n_fft + f.hop * (count - 1), batch = spectrum.size(0);
  Tensor parts = stretches(spectrum, f, window, normalized, half, return_complex);
  Tensor w = f.padded_window(window, real_type(self.dtype()), self.device());
  if (!w.defined()) w = ones({n_fft}, real_type(self.dtype()), self.device());
  Tensor sum = unfold_backward(mul(parts, w), {batch, full}, 1, n_fft, f.hop);
  Tensor squares = expand(mul(w, w), {1, count, n_fft});
  Tensor envelope = unfold_backward(squares, {1, full}, 1, n_fft, f.hop);
  int64_t start = center ? n_fft / 2 : 0;
  int64_t end = length ? start + *length : center ? full - n_fft / 2 : full;
  int64_t stop = std::min(end, full), kept = std::max<int64_t>(stop - start, 0);
  sum = narrow(sum, 1, start, kept);
  envelope = narrow(envelope, 1, start, kept);
  FACULA_CHECK(!any_true(logical_not(gt(abs(envelope), Scalar(1e-11)))), kRuntime,
               "istft: window overlap add min is not above 1e-11; the windows do not cover the ",
               "signal");
  Tensor out = div(sum, envelope);
  if (end > full) out = constant_pad_nd(out, {0, end - full}, 0);
  return self.dim() == 2 ? select(out, 0, 0) : out;
}

}  // namespace facula
