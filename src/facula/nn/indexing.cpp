// Lists of indices are read by ops/subscript.h; masks and index tensors go to the rows index and
// index_put_.
#include "facula/nn/indexing.h"

#include <string_view>

#include "facula/base/error.h"
#include "facula/nn/values.h"
#include "facula/ops/subscript.h"

namespace facula {
namespace {

// used_dims counts the dimensions that an index stands for; Ellipsis takes what is left.
int64_t used_dims(const TensorIndex& index) {
  if (const Tensor* t = std::get_if<Tensor>(&index.value())) return dims_of_index(*t);
  return std::holds_alternative<int64_t>(index.value()) ||
         std::holds_alternative<Slice>(index.value());
}

// Reader hands each index of a list to the subscript.
struct Reader {
  Subscript& to;
  void operator()(std::nullopt_t) { to.none(); }
  void operator()(EllipsisIndex) { to.ellipsis(); }
  void operator()(int64_t position) { to.number(position); }
  void operator()(bool keep) { to.truth(keep); }
  void operator()(const Slice& s) { to.slice(s.start, s.stop, s.step); }
  void operator()(const Tensor& index) { to.tensor(index); }
};

Subscript read(const Tensor& self, std::span<const TensorIndex> indices) {
  FACULA_CHECK(!indices.empty(), kIndex, "index: expected at least one index");
  int64_t used = 0;
  for (const TensorIndex& index : indices) used += used_dims(index);
  FACULA_CHECK(
      self.dim() > 0 || indices.size() > 1 || !std::holds_alternative<int64_t>(indices[0].value()),
      kIndex, "invalid index of a 0-dim tensor. Use item<T>(tensor) to get its number");
  Subscript out(self, used);
  for (const TensorIndex& index : indices) std::visit(Reader{out}, index.value());
  return out;
}

void put_into_view(const Tensor& view, const TensorOrScalar& value, bool accumulate) {
  if (accumulate) {
    add_(view, value);
  } else if (value.is_tensor()) {
    copy_(view, without_leading_ones(Tensor::borrow(value.tensor), view.dim()));
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
  return part.indices().empty() ? part.result() : index(part.inner(), part.indices());
}

Tensor index_put_(const Tensor& self, std::span<const TensorIndex> indices,
                  const TensorOrScalar& value, bool accumulate) {
  Subscript part = read(self, indices);
  if (part.indices().empty()) {
    put_into_view(part.inner(), value, accumulate);
    return self;
  }
  Tensor values =
      value.is_tensor() ? Tensor::borrow(value.tensor) : full({}, value.scalar, self.dtype());
  index_put_(part.inner(), part.indices(), values, accumulate);
  return self;
}

}  // namespace facula
