// Arithmetic on shapes, with its errors.
#include "facula/core/sizes.h"

#include "facula/base/error.h"

namespace facula {

std::string list_text(IntList list) {
  std::string s = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) s += ", ";
    s += std::to_string(list[i]);
  }
  return s + "]";
}

int64_t wrap_dim(int64_t dim, int64_t ndim, const char* op) {
  int64_t n = ndim == 0 ? 1 : ndim;
  if (dim < -n || dim >= n) {
    fail(ErrorKind::kIndex, str(op, ": Dimension out of range (expected dim to be in range of [",
                                -n, ", ", n - 1, "], but got ", dim, ")"));
  }
  return dim < 0 ? dim + n : dim;
}

uint64_t dim_mask(OptIntList dims, int64_t ndim, const char* op, bool empty_is_all) {
  if (ndim > 64) {
    fail(ErrorKind::kRuntime, str(op, ": expected at most 64 dimensions, got ", ndim));
  }
  uint64_t all = ndim >= 64 ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1;
  if (!dims || (dims->empty() && empty_is_all)) return all;
  uint64_t mask = 0;
  for (int64_t d : *dims) {
    uint64_t bit = uint64_t{1} << wrap_dim(d, ndim, op);
    if (mask & bit) {
      fail(ErrorKind::kRuntime,
           str(op, ": dim ", d, " appears multiple times in the list of dims ", list_text(*dims)));
    }
    mask |= bit;
  }
  return mask & all;
}

int64_t count_elements(IntList sizes, const char* op) {
  int64_t n = 1;
  bool zero = false;
  for (int64_t s : sizes) {
    if (s < 0) {
      fail(ErrorKind::kRuntime, str(op, ": Trying to create tensor with negative dimension ", s,
                                    ": ", list_text(sizes)));
    }
    zero |= s == 0;
  }
  if (zero) return 0;
  for (int64_t s : sizes) {
    if (__builtin_mul_overflow(n, s, &n)) {
      fail(ErrorKind::kRuntime,
           str(op, ": numel: integer multiplication overflow for sizes ", list_text(sizes)));
    }
  }
  return n;
}

Sizes contiguous_strides(IntList sizes) {
  Sizes strides(sizes.size());
  int64_t n = 1;
  for (int i = sizes.ssize() - 1; i >= 0; --i) {
    strides[i] = n;
    if (sizes[i] > 1) __builtin_mul_overflow(n, sizes[i], &n);
  }
  return strides;
}

Sizes broadcast_sizes(IntList a, IntList b, const char* op) {
  IntList longer = a.size() >= b.size() ? a : b, shorter = a.size() >= b.size() ? b : a;
  Sizes out = longer.to_sizes();
  size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t x = out[skip + i], y = shorter[i];
    if (x == y || y == 1) continue;
    if (x != 1) {
      size_t d = skip + i;
      bool swapped = a.size() < b.size();
      fail(ErrorKind::kRuntime, str(op, ": The size of tensor a (", swapped ? y : x,
                                    ") must match the size of tensor b (", swapped ? x : y,
                                    ") at non-singleton dimension ", static_cast<int64_t>(d),
                                    "; got shapes ", list_text(a), " and ", list_text(b)));
    }
    out[skip + i] = y;
  }
  return out;
}

Sizes infer_sizes(IntList wanted, int64_t numel, const char* op) {
  Sizes out = wanted.to_sizes();
  int64_t known = 1;
  int hole = -1;
  bool overflow = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == -1) {
      if (hole >= 0) fail(ErrorKind::kRuntime, str(op, ": only one dimension can be inferred"));
      hole = static_cast<int>(i);
    } else if (out[i] < 0) {
      fail(ErrorKind::kRuntime, str(op, ": invalid shape dimension ", out[i]));
    } else {
      overflow |= __builtin_mul_overflow(known, out[i], &known);
    }
  }
  bool fits = !overflow && (hole < 0 ? known == numel : known > 0 && numel % known == 0);
  if (!fits) {
    if (hole >= 0 && known == 0 && !overflow) {
      fail(ErrorKind::kRuntime,
           str(op, ": cannot reshape tensor of ", numel, " elements into shape ", list_text(wanted),
               " because the unspecified dimension size -1 can be any value and "
               "is ambiguous"));
    }
    fail(ErrorKind::kRuntime,
         str(op, ": shape '", list_text(wanted), "' is invalid for input of size ", numel));
  }
  if (hole >= 0) out[hole] = numel / known;
  return out;
}

}  // namespace facula
