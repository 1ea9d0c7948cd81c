// Printing. Each matrix is copied to the widest type of its kind, a form is chosen for all of its
// numbers, and then it is written row by row.
#include "facula/nn/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>

#include "facula/base/format.h"
#include "facula/core/intercept.h"
#include "facula/core/thread_state.h"
#include "facula/nn/module.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace {

// Form is how the numbers of one matrix are written: divided by `scale`, with `digits` after the
// point, right-aligned in `width` columns.
struct Form {
  std::chars_format format = std::chars_format::fixed;
  int digits = 0;
  double scale = 1;
  size_t width = 0;
};

DType widest(DType t) {
  if (is_complex(t)) return kComplex128;
  if (is_floating(t)) return kFloat64;
  return t == kUInt64 ? kUInt64 : kInt64;
}

// digits_before counts the digits before the point; 0 or less for numbers below 1.
int digits_before(double size) {
  return size == 0 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
}

// form_of chooses: whole numbers up to 9 digits without a point; numbers of similar size with
// four digits after it, by a common factor where the largest is below 0.1 or above 99999; all
// others with exponents. `width` has a column for the sign.
Form form_of(const double* first, int64_t n) {
  double least = INFINITY, most = 0;
  bool whole = true, any = false;
  for (const double* p = first; p < first + n; ++p) {
    if (!std::isfinite(*p)) continue;
    any = true;
    whole = whole && *p == std::trunc(*p);
    least = std::min(least, std::fabs(*p));
    most = std::max(most, std::fabs(*p));
  }
  int low = any ? digits_before(least) : 1, high = any ? digits_before(most) : 1;
  Form with_exponents{std::chars_format::scientific, 4, 1, 11};
  if (whole) return high > 9 ? with_exponents : Form{.width = static_cast<size_t>(high) + 1};
  Form form{std::chars_format::fixed, 4, 1, 7};
  if (high >= 0 && high <= 5) form.width = static_cast<size_t>(std::max(high, 1)) + 6;
  if (high > 5 || high < 0) form.scale = std::pow(10, high - 1);
  if (std::abs(high) > 99 || std::abs(low) > 99) with_exponents.width = 12;
  return high - low > 4 || !std::isnormal(form.scale) ? with_exponents : form;
}

void append_number(std::string& text, double value, const Form& form) {
  if (std::isnan(value)) {
    text += "nan";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-inf" : "inf";
  } else {
    char buffer[64];
    auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value / form.scale, form.format, form.digits);
    text.append(buffer, end.ptr);
  }
}

void append_shortest(std::string& text, double value) {
  if (!std::isfinite(value)) return append_number(text, value, {});
  char buffer[32];
  text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// append_complex joins two parts, which `append` writes, as "1.5-2j".
template <class F>
void append_complex(std::string& text, std::complex<double> value, const F& append) {
  append(text, value.real());
  if (std::isnan(value.imag()) || !std::signbit(value.imag())) text += '+';
  append(text, value.imag());
  text += 'j';
}

// Block is a matrix (or vector, or number) on its way to text: its elements in row order.
class Block {
 public:
  explicit Block(const Tensor& t) : kept_(contiguous(to(t, std::nullopt, widest(t.dtype())))) {
    bool parted = kept_.is_complex();
    if (parted || kept_.is_floating_point()) {
      form_ = form_of(kept_.data_as<double>(), parted ? 2 * kept_.numel() : kept_.numel());
    }
    if (parted) form_.width = 2 * form_.width + 1;
    std::string text;
    for (int64_t i = 0; i < kept_.numel(); ++i, text.clear()) {
      append_text(text, i);
      bool column_for_sign = !is_inexact(kept_.dtype()) && text[0] != '-';
      form_.width = std::max(form_.width, text.size() + (column_for_sign ? 1 : 0));
    }
  }

  const Form& form() const { return form_; }

  // append_cell writes element i, padded on the left.
  void append_cell(std::string& line, int64_t i) const {
    size_t start = line.size();
    append_text(line, i);
    line.insert(start, form_.width - (line.size() - start), ' ');
  }

  // append_alone writes the only element, with as many digits as tell it from its neighbours.
  void append_alone(std::string& text) const {
    if (kept_.is_complex()) {
      append_complex(text, *kept_.data_as<std::complex<double>>(), append_shortest);
    } else if (kept_.is_floating_point()) {
      append_shortest(text, *kept_.data_as<double>());
    } else {
      append_text(text, 0);
    }
  }

 private:
  void append_text(std::string& text, int64_t i) const {
    if (kept_.dtype() == kInt64) {
      text += std::to_string(kept_.data_as<int64_t>()[i]);
    } else if (kept_.dtype() == kUInt64) {
      text += std::to_string(kept_.data_as<uint64_t>()[i]);
    } else if (kept_.dtype() == kFloat64) {
      append_number(text, kept_.data_as<double>()[i], form_);
    } else {
      append_complex(text, kept_.data_as<std::complex<double>>()[i],
                     [&](std::string& to, double part) { append_number(to, part, form_); });
    }
  }

  Tensor kept_;
  Form form_;
};

// write puts text out as it is, whatever width and flags the stream has.
void write(std::ostream& out, const std::string& text) {
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

void write_scale(std::ostream& out, double scale) {
  if (scale == 1) return;
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, scale, std::chars_format::general, 6);
  write(out, std::string(buffer, end.ptr) + " *\n");
}

void write_vector(std::ostream& out, const Tensor& t) {
  Block block(t);
  write_scale(out, block.form().scale);
  std::string line;
  for (int64_t i = 0; i < t.numel(); ++i, line.clear()) {
    block.append_cell(line, i);
    write(out, line += '\n');
  }
}

void write_matrix(std::ostream& out, const Tensor& t, int64_t line_size, size_t indent) {
  Block block(t);
  int64_t rows = t.size(0), columns = t.size(1);
  int64_t cell = static_cast<int64_t>(block.form().width) + 1;
  int64_t at_once = std::max<int64_t>(1, (line_size - static_cast<int64_t>(indent)) / cell);
  for (int64_t first = 0; first < columns; first += at_once) {
    int64_t last = std::min(columns, first + at_once);
    if (first > 0) out.put('\n');
    if (at_once < columns) write(out, str("Columns ", first + 1, " to ", last, "\n"));
    write_scale(out, block.form().scale);
    for (int64_t row = 0; row < rows; ++row) {
      std::string line(indent, ' ');
      for (int64_t column = first; column < last; ++column) {
        if (column > first) line += ' ';
        block.append_cell(line, row * columns + column);
      }
      write(out, line += '\n');
    }
  }
}

// write_slices writes the matrices of the last two dimensions, each under its place.
void write_slices(std::ostream& out, const Tensor& t, int64_t line_size) {
  size_t leading = static_cast<size_t>(t.dim()) - 2;
  IntList sizes(t.sizes().data() + leading, 2), strides(t.strides().data() + leading, 2);
  Sizes place(leading, 0);
  for (bool more = true; more;) {
    std::string title = "(";
    int64_t offset = t.storage_offset();
    for (size_t d = 0; d < leading; ++d) {
      title += str(place[d] + 1, ",");
      offset += place[d] * t.strides()[d];
    }
    write(out, title += ".,.) = \n");
    write_matrix(out, alias_storage(t, sizes, strides, offset), line_size, 1);
    more = false;
    for (size_t d = leading; d-- > 0 && !more;) {
      more = ++place[d] < t.sizes()[d];
      if (!more) place[d] = 0;
    }
    if (more) out.put('\n');
  }
}

bool has_numbers(const Tensor& t) {
  constexpr int kWithout = kInterceptBatched | kInterceptProxy | kInterceptFake;
  return !t.is_meta() && !(t->intercept & kWithout);
}

const char* layout_title(Layout layout) {
  constexpr const char* kTitles[] = {"Strided",   "Sparse",    "SparseCsr",
                                     "SparseCsc", "SparseBsr", "SparseBsc"};
  return kTitles[static_cast<int>(layout)];
}

const char* device_title(Device d) { return d.is_cpu() ? "CPU" : d.is_meta() ? "Meta" : "CUDA"; }

// type_text gives "CPUFloatType" or "SparseCPUFloatType".
std::string type_text(const Tensor& t) {
  Layout layout = layout_of(t);
  return str(layout == Layout::kStrided ? "" : layout_title(layout), device_title(t.device()),
             dtype_title(t.dtype()), "Type");
}

void write_sparse(std::ostream& out, const Tensor& t, int64_t line_size) {
  const sparse::Parts& parts = sparse::parts_of(t);
  auto part = [&](const char* name, const Tensor& values) {
    write(out, str(name, ":\n"));
    print(out, values, line_size).put('\n');
  };
  write(out, str("[ ", type_text(t), "{}\n"));
  if (parts.is_coo()) {
    part("indices", parts.indices);
  } else {
    part(parts.by_rows() ? "crow_indices" : "ccol_indices", parts.compressed);
    part(parts.by_rows() ? "col_indices" : "row_indices", parts.indices);
  }
  part("values", parts.values);
  write(out, str("size:\n", list_text(t.sizes()), "\n]"));
}

}  // namespace

std::ostream& print(std::ostream& out, const Tensor& t, int64_t line_size) {
  NoGrad off;
  if (!t.defined()) {
    write(out, "[ Tensor (undefined) ]");
    return out;
  }
  if (sparse::is_handle(t)) {
    write_sparse(out, t, line_size);
    return out;
  }
  if (has_numbers(t) && t.numel() > 0) {
    if (t.dim() == 0) {
      std::string text;
      Block(t).append_alone(text);
      write(out, text += '\n');
    } else if (t.dim() == 1) {
      write_vector(out, t);
    } else if (t.dim() == 2) {
      write_matrix(out, t, line_size, 0);
    } else {
      write_slices(out, t, line_size);
    }
  }
  std::string sizes;
  for (int64_t size : t.sizes()) sizes += str(sizes.empty() ? "" : ",", size);
  write(out, str("[ ", type_text(t), "{", sizes, "} ]"));
  return out;
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return print(out, t); }
std::ostream& operator<<(std::ostream& out, const SparseTensor& t) {
  return print(out, t.handle());
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype_title(dtype); }
std::ostream& operator<<(std::ostream& out, Device device) { return out << device_text(device); }
std::ostream& operator<<(std::ostream& out, IntList list) { return out << list_text(list); }
std::ostream& operator<<(std::ostream& out, const Scalar& number) {
  if (number.is_bool()) return out << (number.to_bool() ? "true" : "false");
  if (number.is_complex()) return out << number.to_complex();
  if (number.is_floating()) return out << number.to_double();
  if (number.kind == kUInt64) return out << static_cast<uint64_t>(number.i);
  return out << number.to_int();
}
std::ostream& operator<<(std::ostream& out, Layout layout) { return out << layout_title(layout); }
std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* kTitles[] = {"Contiguous", "ChannelsLast", "ChannelsLast3d", "Preserve"};
  return out << kTitles[static_cast<int>(format)];
}

namespace nn {

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << module.repr(); }

}  // namespace nn
}  // namespace facula
