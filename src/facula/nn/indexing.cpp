// A subscript is read from left to right: numbers, slices and None change the view at once, masks
// and index tensors are noted by the dimension of the view that they stand for.
#include "facula/nn/indexing.h"

#include <string_view>
#include <vector>

#include "facula/autograd/detach.h"
#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula {
namespace {

bool is_mask(const Tensor& t) { return t.dtype() == kBool || t.dtype() == kUInt8; }

// used_dims counts the dimensions that an index stands for; Ellipsis takes what is left.
int64_t used_dims(const TensorIndex& index) {
  if (const Tensor* t = std::get_if<Tensor>(&index.value())) return is_mask(*t) ? t->dim() : 1;
  return std::holds_alternative<int64_t>(index.value()) ||
         std::holds_alternative<Slice>(index.value());
}

// Subscript is what is known of a subscript so far. Each call takes one index.
struct Subscript {
  Tensor view;
  std::vector<Tensor> tensors;  // by dimension of the view; undefined ones are whole dimensions
  int64_t missing;              // dimensions that Ellipsis stands for
  int64_t at = 0;               // the next dimension of the view
  int64_t shown = 0;            // the dimension of the operand, for messages

  void operator()(std::nullopt_t) {
    FACULA_CHECK(at <= view.dim(), kIndex, "too many indices for tensor of dimension ", view.dim());
    view = unsqueeze(view, at++);
  }
  void operator()(EllipsisIndex) {
    at += missing;
    shown += missing;
  }
  void operator()(int64_t position) {
    pick(position);
    ++shown;
  }
  void operator()(bool keep) {
    (*this)(None);
    note(at - 1, tensor({keep}));
  }
  void operator()(const Slice& slice) {
    FACULA_CHECK(slice.step > 0, kValue, "step must be greater than zero");
    check_left();
    if (slice.start || slice.stop || slice.step != 1) {
      view = facula::slice(view, at, slice.start, slice.stop, slice.step);
    }
    ++at;
    ++shown;
  }
  void operator()(const Tensor& positions) {
    ++shown;
    bool one = positions.dim() == 0 && !(positions->intercept & kInterceptHidden);
    if (one && is_mask(positions)) {
      (*this)(None);
      note(at - 1, reshape(positions, {1}));
    } else if (one && is_integral(positions.dtype()) && !positions.is_meta()) {
      pick(item_int(positions));
    } else {
      note(at, positions);
      at += is_mask(positions) ? positions.dim() : 1;
    }
  }

 private:
  // A second Ellipsis stands for as many dimensions as the first, which may be too many.
  void check_left() const {
    FACULA_CHECK(at < view.dim(), kIndex, "too many indices for tensor of dimension ", view.dim());
  }
  void pick(int64_t position) {
    check_left();
    int64_t n = view.size(at);
    FACULA_CHECK(position >= -n && position < n, kIndex, "index ", position,
                 " is out of bounds for dimension ", shown, " with size ", n);
    view = select(view, at, position);
  }
  void note(int64_t dim, const Tensor& positions) {
    if (tensors.size() <= static_cast<size_t>(dim)) tensors.resize(static_cast<size_t>(dim) + 1);
    tensors[static_cast<size_t>(dim)] = positions;
  }
};

Subscript read(const Tensor& self, std::span<const TensorIndex> indices) {
  FACULA_CHECK(!indices.empty(), kIndex, "index: expected at least one index");
  int64_t used = 0;
  for (const TensorIndex& index : indices) used += used_dims(index);
  FACULA_CHECK(
      self.dim() > 0 || indices.size() > 1 || !std::holds_alternative<int64_t>(indices[0].value()),
      kIndex, "invalid index of a 0-dim tensor. Use item<T>(tensor) to get its number");
  FACULA_CHECK(used <= self.dim(), kIndex, "too many indices for tensor of dimension ", self.dim());
  Subscript out{.view = self, .tensors = {}, .missing = self.dim() - used};
  for (const TensorIndex& index : indices) std::visit(out, index.value());
  return out;
}

// without_ones drops leading dimensions of size 1 that the destination does not have.
Tensor without_ones(const Tensor& value, int64_t dims) {
  int64_t extra = 0;
  while (value.dim() - extra > dims && value.size(extra) == 1) ++extra;
  if (extra == 0) return value;
  IntList sizes = value.sizes();
  return reshape(value, IntList(sizes.data() + extra, sizes.size() - static_cast<size_t>(extra)));
}

void put_into_view(const Tensor& view, const TensorOrScalar& value, bool accumulate) {
  if (accumulate) {
    add_(view, value);
  } else if (value.is_tensor()) {
    copy_(view, without_ones(Tensor::borrow(value.tensor), view.dim()));
  } else {
    fill_(view, value.scalar);
  }
}

}  // namespace

TensorIndex::TensorIndex(const char* text) : value_(EllipsisIndex()) {
  FACULA_CHECK(text && std::string_view(text) == "...", kIndex,
               "index: expected \"...\", the only text that is an index, got \"", text ? text : "",
               "\"");
}

Tensor Tensor::operator[](int64_t position) const { return index(*this, {position}); }

Tensor index(const Tensor& self, std::span<const TensorIndex> indices) {
  Subscript part = read(self, indices);
  if (!part.tensors.empty()) return index(part.view, part.tensors);
  return part.view.is_same(self) ? view(self, self.sizes()) : part.view;
}

Tensor index_put_(const Tensor& self, std::span<const TensorIndex> indices,
                  const TensorOrScalar& value, bool accumulate) {
  Subscript part = read(self, indices);
  if (part.tensors.empty()) {
    put_into_view(part.view, value, accumulate);
    return self;
  }
  Tensor values =
      value.is_tensor() ? Tensor::borrow(value.tensor) : full({}, value.scalar, self.dtype());
  index_put_(part.view, part.tensors, values, accumulate);
  return self;
}

}  // namespace facula
