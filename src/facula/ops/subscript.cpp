// Subscripts of tensors, as Python's and the C++ front end's index functions read them.
#include "facula/ops/subscript.h"

#include <algorithm>

#include "facula/autograd/detach.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/scatter_mode.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// spread multiplies a stride by a step; steps beyond the numbers stand before a single element.
int64_t spread(int64_t stride, int64_t step) {
  int64_t product;
  return __builtin_mul_overflow(stride, step, &product) ? stride : product;
}

// clamped gives the place that a limit of a slice names, from 0 to n.
int64_t clamped(int64_t limit, int64_t n) {
  return std::clamp<int64_t>(limit < 0 ? limit + n : limit, 0, n);
}

}  // namespace

Subscript::Subscript(const Tensor& self, int64_t used)
    : source_(self),
      steps_((grad_enabled() && requires_grad(self)) ||
             (tls.above | tls.below | self->intercept) != 0),
      missing_(self.dim() - used) {
  FACULA_CHECK(missing_ >= 0, kIndex, "too many indices for tensor of dimension ", self.dim());
  if (steps_) {
    current_ = self;
  } else {
    geometry_ = geometry_of(self);
  }
}

int64_t Subscript::size() const {
  // A second Ellipsis stands for as many dimensions as the first, which may be too many.
  FACULA_CHECK(at_ < dims(), kIndex, "Dimension out of range (expected to be in range of [-",
               dims(), ", ", dims() - 1, "], but got ", at_, ")");
  return steps_ ? current_->sizes[at_] : geometry_.sizes[static_cast<size_t>(at_)];
}

void Subscript::number(int64_t position) {
  const int64_t n = size();
  FACULA_CHECK(position >= -n && position < n, kIndex, "index ", position,
               " is out of bounds for dimension ", shown_, " with size ", n);
  ++shown_;
  if (position < 0) position += n;
  if (steps_) {
    current_ = select(current_, at_, position);
    return;
  }
  geometry_.offset += position * geometry_.strides[static_cast<size_t>(at_)];
  geometry_.sizes.erase(geometry_.sizes.begin() + at_);
  geometry_.strides.erase(geometry_.strides.begin() + at_);
}

void Subscript::slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step) {
  FACULA_CHECK(step > 0, kValue, "step must be greater than zero");
  const int64_t n = size(), first = clamped(start.value_or(0), n);
  const int64_t last = std::max(first, clamped(stop.value_or(n), n));
  const int64_t length = first == last ? 0 : (last - first - 1) / step + 1;
  const auto at = static_cast<size_t>(at_++);
  ++shown_;
  if (length == n && step == 1) return;
  if (steps_) {
    current_ = facula::slice(current_, static_cast<int64_t>(at), first, last, step);
    return;
  }
  if (length > 0) geometry_.offset += first * geometry_.strides[at];
  geometry_.sizes[at] = length;
  geometry_.strides[at] = spread(geometry_.strides[at], step);
}

void Subscript::none() {
  FACULA_CHECK(at_ <= dims(), kIndex, "too many indices for tensor of dimension ", dims());
  const int64_t d = at_++;
  ++shown_;
  if (steps_) {
    current_ = unsqueeze(current_, d);
    return;
  }
  const auto at = static_cast<size_t>(d);
  const int64_t stride = d == dims() ? 1 : geometry_.sizes[at] * geometry_.strides[at];
  geometry_.sizes.insert(geometry_.sizes.begin() + d, 1);
  geometry_.strides.insert(geometry_.strides.begin() + d, stride);
}

void Subscript::ellipsis() {
  at_ += missing_;
  ++shown_;
}

void Subscript::truth(bool keep) {
  none();
  Tensor mask = new_empty({1}, kBool);
  *mask.data_as<bool>() = keep;
  note(at_ - 1, mask);
}

void Subscript::tensor(const Tensor& index) {
  const bool readable = !index.is_meta() && !(index->intercept & kInterceptHidden);
  if (index.dim() == 0 && is_mask(index)) {
    FACULA_CHECK(!index.is_meta(), kRuntime, "index: a meta tensor has no value");
    none();
    note(at_ - 1, cast(reshape(index, {1}), kBool));
  } else if (index.dim() == 0 && is_integral(index.dtype()) && readable) {
    number(scalar_of(index).to_int());
  } else {
    note(at_, index);
    at_ += dims_of_index(index);
    ++shown_;
  }
}

void Subscript::note(int64_t dim, const Tensor& index) {
  const auto at = static_cast<size_t>(dim);
  if (indices_.size() <= at) indices_.resize(at + 1);
  indices_[at] = index;
}

Tensor Subscript::result() const {
  if (!steps_) return view_of(source_, geometry_);
  return current_.is_same(source_) ? view(source_, source_.sizes()) : current_;
}

Tensor Subscript::inner() const {
  if (steps_) return current_;
  const bool whole = source_.sizes() == IntList(geometry_.sizes) &&
                     source_.strides() == IntList(geometry_.strides) &&
                     source_.storage_offset() == geometry_.offset;
  return whole ? source_ : view_of(source_, geometry_);
}

Tensor without_leading_ones(const Tensor& value, int64_t dims) {
  int64_t extra = 0;
  while (value.dim() - extra > dims && value->sizes[extra] == 1) ++extra;
  if (extra == 0) return value;
  IntList rest(value->sizes + extra, static_cast<size_t>(value.dim() - extra));
  return reshape(value, rest);
}

}  // namespace facula
