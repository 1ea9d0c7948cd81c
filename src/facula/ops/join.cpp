// Joins and splits: cat, stack, and the families of split, with their shape checks.
#include <algorithm>

#include "facula/base/error.h"
#include "facula/kernels/copy.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/legacy_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

bool legacy_empty(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

void check_list(TensorList tensors, const char* op, ErrorKind empty = ErrorKind::kRuntime) {
  if (tensors.empty()) fail(empty, str(op, ": expected a non-empty list of Tensors"));
  for (const Tensor& t : tensors) {
    if (!t.defined()) fail(ErrorKind::kType, str(op, ": expected Tensors, got an undefined one"));
  }
}

DType common_dtype(TensorList tensors) {
  int dims = -1, zeros = -1;
  for (const Tensor& t : tensors) {
    int& slot = t.dim() ? dims : zeros;
    slot =
        slot < 0 ? static_cast<int>(t.dtype()) : static_cast<int>(promote(DType(slot), t.dtype()));
  }
  if (dims < 0) return DType(zeros);
  if (zeros < 0 || category(DType(zeros)) <= category(DType(dims))) return DType(dims);
  return promote(DType(dims), DType(zeros));
}

Tensor narrow_piece(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return narrow(self, dim, start, length);
}

// check_pieces refuses numbers of pieces that no list of tensors holds.
void check_pieces(int64_t pieces, const char* op) {
  constexpr int64_t kMost = int64_t{1} << 24;
  FACULA_CHECK(pieces <= kMost, kRuntime, op, ": expected at most ", kMost, " pieces, got ",
               pieces);
}

// made_together marks views that PyTorch makes by one node, which cannot take the history of one of
// them apart: autograd refuses to record in-place writes to them.
std::vector<Tensor> made_together(std::vector<Tensor> views) {
  for (const Tensor& t : views) {
    if (t->base) t->flags |= kMultiOutputView;
  }
  return views;
}

int64_t split_dim(const Tensor& self, int64_t dim, const char* op) {
  if (self.dim() == 0) {
    fail(ErrorKind::kRuntime, str(op, " expects at least a 1-dimensional tensor"));
  }
  return wrap_dim(dim, self.dim(), op);
}

int64_t stack_axis(const Tensor& self, int64_t least, const char* op) {
  if (self.dim() < least) {
    fail(ErrorKind::kRuntime,
         str("torch.", op, " requires a tensor with at least ", least, " dimension",
             least > 1 ? "s" : "", ", but got a tensor with ", self.dim(), " dimensions!"));
  }
  if (least == 1) return self.dim() == 1 ? 0 : 1;
  return least == 2 ? 0 : 2;
}

std::vector<Tensor> split_evenly(const Tensor& self, int64_t sections, int64_t axis,
                                 const char* op) {
  int64_t size = self.sizes()[axis];
  if (sections <= 0 || size % sections) {
    fail(ErrorKind::kRuntime, str("torch.", op, " attempted to split along dimension ", axis,
                                  ", but the size of the dimension ", size,
                                  " is not divisible by the split_size ", sections, "!"));
  }
  return tensor_split(self, sections, axis);
}

// write_piece copies t into r from `at` on along an axis. A view of numbers is enough for that: a
// tensor of its own for every piece would cost more than the copy of a small one.
void write_piece(const Tensor& r, int axis, int64_t at, const Tensor& t) {
  FACULA_CHECK(!t.is_meta(), kNotImplemented, "Cannot copy out of meta tensor; no data!");
  require_data("a copy", t);
  const kernels::View from = kernels::view(t);
  kernels::View to = kernels::view(r);
  to.data = to.as<char>() + at * to.strides[axis] * item_size(to.dtype);
  to.sizes = from.sizes;
  to.numel = from.numel;
  to.contiguous &= std::all_of(to.sizes, to.sizes + axis, [](int64_t n) { return n == 1; });
  kernels::copy->copy_strided(to, from);
}

template <class F>
std::vector<Tensor> map_list(TensorList tensors, F f) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

}  // namespace

namespace forward {

Tensor cat(TensorList tensors, int64_t dim) {
  check_list(tensors, "cat", ErrorKind::kValue);
  const Tensor* shape_of_all = nullptr;
  for (const Tensor& t : tensors) {
    if (t.dim() == 0) {
      fail(ErrorKind::kRuntime,
           "cat: zero-dimensional tensor (at position 0) cannot be concatenated");
    }
    if (!legacy_empty(t) && !shape_of_all) shape_of_all = &t;
  }
  const Tensor& first = shape_of_all ? *shape_of_all : tensors[0];
  int64_t axis = wrap_dim(dim, first.dim(), "cat"), total = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    if (legacy_empty(t) && first.dim() != 1) continue;
    if (t.dim() != first.dim()) {
      fail(ErrorKind::kRuntime, str("cat: Tensors must have same number of dimensions: got ",
                                    first.dim(), " and ", t.dim()));
    }
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (d == axis || t.sizes()[d] == first.sizes()[d]) continue;
      fail(ErrorKind::kRuntime,
           str("cat: Sizes of tensors must match except in dimension ", axis, ". Expected size ",
               first.sizes()[d], " but got size ", t.sizes()[d], " for tensor number ",
               static_cast<int64_t>(k), " in the list."));
    }
    if (__builtin_add_overflow(total, t.sizes()[axis], &total)) {
      fail(ErrorKind::kRuntime, "cat: the size of the result overflows");
    }
  }
  Sizes shape = first.sizes().to_sizes();
  shape[axis] = total;
  bool channels_last =
      first.dim() == 4 && std::all_of(tensors.begin(), tensors.end(), [](const Tensor& t) {
        return !t.is_contiguous() && is_contiguous_as(t, MemoryFormat::kChannelsLast);
      });
  DType type = common_dtype(tensors);
  Tensor r = channels_last ? new_formatted(shape, type, first.device(), MemoryFormat::kChannelsLast)
                           : new_empty(shape, type, first.device());
  if (r.is_meta()) return r;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (legacy_empty(t) && first.dim() != 1) continue;
    if (t.numel()) write_piece(r, static_cast<int>(axis), at, t);
    at += t.sizes()[axis];
  }
  return r;
}

}  // namespace forward

std::vector<Tensor> cat_backward(const Tensor& grad, IntList shapes, int64_t dim) {
  std::vector<Tensor> out;
  int64_t axis = wrap_dim(dim, grad.dim(), "cat"), at = 0;
  for (size_t i = 0; i < shapes.size();) {
    int64_t rank = shapes[i++];
    IntList sizes(shapes.data() + i, rank);
    i += rank;
    if (rank == 1 && sizes[0] == 0 && grad.dim() != 1) {
      out.push_back(zeros({0}, grad.dtype(), grad.device()));
      continue;
    }
    out.push_back(narrow(grad, axis, at, sizes[axis]));
    at += sizes[axis];
  }
  return out;
}

Tensor stack(TensorList tensors, int64_t dim) {
  check_list(tensors, "stack");
  int64_t axis = wrap_dim(dim, tensors[0].dim() + 1, "stack");
  for (size_t k = 1; k < tensors.size(); ++k) {
    if (!(tensors[k].sizes() == tensors[0].sizes())) {
      fail(ErrorKind::kRuntime,
           str("stack expects each tensor to be equal size, but got ",
               list_text(tensors[0].sizes()), " at entry 0 and ", list_text(tensors[k].sizes()),
               " at entry ", static_cast<int64_t>(k)));
    }
  }
  return cat(map_list(tensors, [&](const Tensor& t) { return unsqueeze(t, axis); }), axis);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) {
    fail(ErrorKind::kIndex, "Dimension specified as 0 but tensor has no dimensions");
  }
  int64_t axis = wrap_dim(dim, self.dim(), "unbind");
  check_pieces(self.sizes()[axis], "unbind");
  std::vector<Tensor> out;
  for (int64_t i = 0; i < self.sizes()[axis]; ++i) out.push_back(select(self, axis, i));
  return made_together(std::move(out));
}

std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  int64_t axis = split_dim(self, dim, "split");
  int64_t size = self.sizes()[axis];
  if (split_size < 0) {
    fail(ErrorKind::kRuntime,
         str("split expects split_size be non-negative, but got split_size=", split_size));
  }
  if (split_size == 0 && size != 0) {
    fail(ErrorKind::kRuntime,
         str("split_size can only be 0 if dimension size is 0, but got dimension "
             "size of ",
             size));
  }
  if (size == 0) return {narrow_piece(self, axis, 0, 0)};
  check_pieces(size / split_size, "split");
  std::vector<Tensor> out;
  for (int64_t at = 0; at < size; at += split_size) {
    out.push_back(narrow_piece(self, axis, at, std::min(split_size, size - at)));
    if (size - at <= split_size) break;
  }
  return out;
}

std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntList sizes, int64_t dim) {
  int64_t axis = split_dim(self, dim, "split");
  int64_t have = self.sizes()[axis], total = 0;
  for (int64_t s : sizes) {
    if (s < 0) {
      fail(ErrorKind::kRuntime, str("split_with_sizes expects split_sizes have only non-negative "
                                    "entries, but got split_sizes=",
                                    list_text(sizes)));
    }
    if (__builtin_add_overflow(total, s, &total)) total = -1;
    if (total < 0) break;
  }
  if (total != have) {
    fail(ErrorKind::kRuntime, str("split_with_sizes expects split_sizes to sum exactly to ", have,
                                  " (input tensor's size at dimension ", axis,
                                  "), but got split_sizes=", list_text(sizes)));
  }
  std::vector<Tensor> out;
  int64_t at = 0;
  for (int64_t s : sizes) {
    out.push_back(narrow_piece(self, axis, at, s));
    at += s;
  }
  return out;
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  int64_t axis = split_dim(self, dim, "chunk");
  if (chunks <= 0) {
    fail(ErrorKind::kRuntime, str("chunk expects `chunks` to be greater than 0, got: ", chunks));
  }
  int64_t size = self.sizes()[axis];
  check_pieces(size ? 0 : chunks, "chunk");
  int64_t piece = size / chunks + (size % chunks != 0);
  if (size == 0) {
    return std::vector<Tensor>(chunks, narrow_piece(self, axis, 0, 0));
  }
  return unsafe_split(self, piece, axis);
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  return made_together(unsafe_split(self, split_size, dim));
}
std::vector<Tensor> split_with_sizes(const Tensor& self, IntList sizes, int64_t dim) {
  return made_together(unsafe_split_with_sizes(self, sizes, dim));
}
std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return made_together(unsafe_chunk(self, chunks, dim));
}

std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  int64_t axis = split_dim(self, dim, "tensor_split");
  if (sections <= 0) {
    fail(ErrorKind::kRuntime, str("number of sections must be larger than 0, got ", sections));
  }
  check_pieces(sections, "tensor_split");
  int64_t size = self.sizes()[axis], at = 0;
  std::vector<Tensor> out;
  for (int64_t i = 0; i < sections; ++i) {
    int64_t length = size / sections + (i < size % sections);
    out.push_back(narrow_piece(self, axis, at, length));
    at += length;
  }
  return out;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntList indices, int64_t dim) {
  int64_t axis = split_dim(self, dim, "tensor_split");
  std::vector<Tensor> out;
  std::optional<int64_t> start = 0;
  for (int64_t end : indices) {
    out.push_back(slice(self, axis, start, end, 1));
    start = end;
  }
  out.push_back(slice(self, axis, start, std::nullopt, 1));
  return out;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& where, int64_t dim) {
  if (where.dtype() != kInt64) {
    fail(ErrorKind::kRuntime,
         str("tensor_split expected tensor_indices_or_sections to have dtype of "
             "long, but got ",
             dtype_title(where.dtype())));
  }
  if (where.dim() > 1) {
    fail(ErrorKind::kRuntime,
         str("tensor_split expected tensor_indices_or_sections to be a "
             "zero-dimensional or one-dimensional tensor, but got a tensor with ",
             where.dim(), " dims"));
  }
  require_data("tensor_split", where);
  Tensor list = to_contiguous(where);
  if (where.dim() == 0) return tensor_split(self, *list.data_as<int64_t>(), dim);
  return tensor_split_indices(self, IntList(list.data_as<int64_t>(), list.numel()), dim);
}

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return split_evenly(self, sections, stack_axis(self, 1, "hsplit"), "hsplit");
}
std::vector<Tensor> hsplit_indices(const Tensor& self, IntList indices) {
  return tensor_split_indices(self, indices, stack_axis(self, 1, "hsplit"));
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  return split_evenly(self, sections, stack_axis(self, 2, "vsplit"), "vsplit");
}
std::vector<Tensor> vsplit_indices(const Tensor& self, IntList indices) {
  return tensor_split_indices(self, indices, stack_axis(self, 2, "vsplit"));
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  return split_evenly(self, sections, stack_axis(self, 3, "dsplit"), "dsplit");
}
std::vector<Tensor> dsplit_indices(const Tensor& self, IntList indices) {
  return tensor_split_indices(self, indices, stack_axis(self, 3, "dsplit"));
}

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? reshape(self, {1}) : self; }

Tensor atleast_2d(const Tensor& self) {
  if (self.dim() == 0) return reshape(self, {1, 1});
  return self.dim() == 1 ? unsqueeze(self, 0) : self;
}

Tensor atleast_3d(const Tensor& self) {
  if (self.dim() == 0) return reshape(self, {1, 1, 1});
  if (self.dim() == 1) return unsqueeze(unsqueeze(self, 0), -1);
  return self.dim() == 2 ? unsqueeze(self, -1) : self;
}

Tensor hstack(TensorList tensors) {
  check_list(tensors, "hstack");
  std::vector<Tensor> list = map_list(tensors, [](const Tensor& t) { return atleast_1d(t); });
  return cat(list, list[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) {
  check_list(tensors, "vstack");
  return cat(map_list(tensors, [](const Tensor& t) { return atleast_2d(t); }), 0);
}

Tensor dstack(TensorList tensors) {
  check_list(tensors, "dstack");
  return cat(map_list(tensors, [](const Tensor& t) { return atleast_3d(t); }), 2);
}

Tensor column_stack(TensorList tensors) {
  check_list(tensors, "column_stack");
  return hstack(map_list(
      tensors, [](const Tensor& t) { return t.dim() <= 1 ? reshape(t, {t.numel(), 1}) : t; }));
}

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) return zeros({1, 0});
  int64_t rows = 0, columns = 0;
  std::vector<Tensor> blocks;
  for (const Tensor& t : tensors) {
    if (t.dim() > 2) {
      fail(ErrorKind::kRuntime,
           str("torch.block_diag: Input tensors must have 2 or fewer dimensions. "
               "Input has ",
               t.dim(), " dimensions"));
    }
    blocks.push_back(atleast_2d(t));
    rows += blocks.back().sizes()[0];
    columns += blocks.back().sizes()[1];
  }
  Tensor r = zeros({rows, columns}, common_dtype(blocks), blocks[0].device());
  for (const Tensor& b : blocks) r = with_samples_of(r, b);
  int64_t y = 0, x = 0;
  for (const Tensor& b : blocks) {
    copy_(narrow(narrow(r, 0, y, b.sizes()[0]), 1, x, b.sizes()[1]), b);
    y += b.sizes()[0];
    x += b.sizes()[1];
  }
  return r;
}

std::vector<Tensor> meshgrid_list(TensorList tensors, std::string_view indexing) {
  if (tensors.empty()) fail(ErrorKind::kRuntime, "meshgrid expects a non-empty TensorList");
  if (indexing != "ij" && indexing != "xy") {
    fail(ErrorKind::kRuntime, str("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but "
                                  "received: ",
                                  indexing));
  }
  bool swap = indexing == "xy" && tensors.size() > 1;
  std::vector<Tensor> in(tensors.begin(), tensors.end());
  if (swap) std::swap(in[0], in[1]);
  Sizes shape;
  for (const Tensor& t : in) {
    if (t.dim() > 1) {
      fail(ErrorKind::kRuntime,
           str("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but "
               "got: ",
               t.dim(), "D"));
    }
    if (t.dtype() != in[0].dtype()) {
      fail(ErrorKind::kRuntime, "torch.meshgrid expects all tensors to have the same dtype");
    }
    shape.push_back(t.numel());
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < in.size(); ++i) {
    Sizes mine(in.size(), 1);
    mine[i] = in[i].numel();
    out.push_back(expand(reshape(in[i], mine), shape));
  }
  if (swap) std::swap(out[0], out[1]);
  return out;
}

std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim) {
  return map_list(unbind(self, dim), [](const Tensor& t) { return clone(t); });
}
std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return map_list(split(self, split_size, dim), [](const Tensor& t) { return clone(t); });
}
std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntList sizes, int64_t dim) {
  return map_list(split_with_sizes(self, sizes, dim), [](const Tensor& t) { return clone(t); });
}

}  // namespace facula
