// Contractions of tensors: einsum, tensordot, inner, kron and chains of matrix products. All of
// them come down to batched products of matrices.
#include <algorithm>
#include <limits>

#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/einsum_order.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

using Labels = std::vector<int>;
constexpr int kEllipsis = 256;  // labels from here on are dimensions of the ellipsis

// A tensor whose dimensions carry labels, each at most once.
struct Labelled {
  Tensor tensor;
  Labels labels;
  int64_t find(int label) const {
    auto it = std::find(labels.begin(), labels.end(), label);
    return it == labels.end() ? -1 : it - labels.begin();
  }
};

bool holds(const Labels& list, int label) {
  return std::find(list.begin(), list.end(), label) != list.end();
}

// The labels of one operand's term; an ellipsis stands for as many labels as `ellipsis` says.
Labels parse_term(std::string_view term, int64_t ellipsis, int64_t most) {
  Labels out;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (term.substr(i, 3) != "...") {
        raise_error(ErrorKind::kRuntime,
                    "einsum(): found '.' that is not part of any ellipsis (...) in ", term);
      }
      for (int64_t e = most - ellipsis; e < most; ++e)
        out.push_back(kEllipsis + static_cast<int>(e));
      i += 2;
    } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
      out.push_back(term[i]);
    } else {
      raise_error(ErrorKind::kRuntime, "einsum(): invalid subscript given: '", term[i],
                  "', subscripts must be in [a-zA-Z]");
    }
  }
  return out;
}

// check_sizes refuses labels that have two lengths, neither of them 1.
void check_sizes(const std::vector<Labelled>& operands) {
  std::map<int, int64_t> seen;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Labelled& x = operands[i];
    for (size_t d = 0; d < x.labels.size(); ++d) {
      const int label = x.labels[d];
      const int64_t size = x.tensor->sizes[d];
      int64_t& known = seen.emplace(label, 1).first->second;
      if (known == 1) known = size;
      if (size == known || size == 1) continue;
      if (label < kEllipsis) {
        raise_error(ErrorKind::kRuntime, "einsum(): subscript ", static_cast<char>(label),
                    " has size ", size, " for operand ", i,
                    " which does not broadcast with previously seen size ", known);
      }
      raise_error(ErrorKind::kRuntime, "einsum(): dimension ", label - kEllipsis,
                  " covered by ellipsis in operand ", i, " has size ", size,
                  " which does not broadcast with previously seen ellipsis with size ", known);
    }
  }
}

// How many dimensions the ellipsis of a term covers; 0 without one.
int64_t ellipsis_dims(std::string_view term, const Tensor& t, bool* has) {
  size_t at = term.find("...");
  *has = at != std::string_view::npos;
  int64_t named = static_cast<int64_t>(term.size()) - (*has ? 3 : 0), covered = t.dim() - named;
  if (covered < 0 || (!*has && covered != 0)) {
    raise_error(ErrorKind::kRuntime, "einsum(): the number of subscripts in '", term, "' (", named,
                ") does not match the number of dimensions (", t.dim(), ") of its operand");
  }
  return covered;
}

// Replaces repeated labels by diagonals.
Labelled distinct(Tensor t, Labels labels, size_t operand) {
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = i + 1; j < labels.size(); ++j) {
      if (labels[i] != labels[j]) continue;
      int64_t a = static_cast<int64_t>(i), b = static_cast<int64_t>(j);
      if (t->sizes[a] != t->sizes[b]) {
        raise_error(ErrorKind::kRuntime, "einsum(): subscript ", static_cast<char>(labels[i]),
                    " is repeated for operand ", operand, " but the sizes don't match, ",
                    t->sizes[b], " != ", t->sizes[a]);
      }
      t = movedim(diagonal(t, 0, a, b), IntList(t.dim() - 2), IntList(a));
      labels.erase(labels.begin() + b);
      --j;
    }
  }
  return {t, labels};
}

// Sums over the labels that nobody keeps.
Labelled sum_out(const Labelled& x, const Labels& keep) {
  Sizes dims;
  Labels rest;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (holds(keep, x.labels[i]))
      rest.push_back(x.labels[i]);
    else
      dims.push_back(static_cast<int64_t>(i));
  }
  return dims.empty() ? x : Labelled{sum(x.tensor, dims), rest};
}

// The dimensions of x in the order of `labels`, with the sizes of `sizes` (1 is repeated).
Tensor arranged(const Labelled& x, const Labels& labels, IntList sizes) {
  Sizes order;
  for (int l : labels) order.push_back(x.find(l));
  return expand(permute(x.tensor, order), sizes);
}

// size_of_label is the length of a label, which may be 1 in one of the two.
int64_t size_of_label(const Labelled& a, const Labelled& b, int label) {
  int64_t i = a.find(label), j = b.find(label);
  int64_t m = i < 0 ? 1 : a.tensor->sizes[i], n = j < 0 ? 1 : b.tensor->sizes[j];
  return m == 1 ? n : m;
}

// The product of two labelled tensors, summed over the shared labels that nobody keeps.
Labelled contract(const Labelled& x, const Labelled& y, const Labels& keep) {
  Labels keep_x = keep, keep_y = keep;
  keep_x.insert(keep_x.end(), y.labels.begin(), y.labels.end());
  keep_y.insert(keep_y.end(), x.labels.begin(), x.labels.end());
  Labelled a = sum_out(x, keep_x), b = sum_out(y, keep_y);
  if (x.tensor.dtype() == y.tensor.dtype() && a.tensor.dtype() != b.tensor.dtype()) {
    // The sum of one was of integers, which are int64 then.
    Labelled& other = a.tensor.dtype() == kInt64 ? b : a;
    other.tensor = cast(other.tensor, kInt64);
  }
  Labels batch, summed, left, right;
  for (int l : a.labels) {
    if (!holds(b.labels, l))
      left.push_back(l);
    else if (holds(keep, l))
      batch.push_back(l);
    else
      summed.push_back(l);
  }
  for (int l : b.labels) {
    if (!holds(a.labels, l)) right.push_back(l);
  }
  Labels order_a, order_b, order;
  Sizes sizes_a, sizes_b, sizes;
  int64_t count[4] = {1, 1, 1, 1};
  auto take = [&](const Labels& list, int which, bool in_a, bool in_b, bool in_result) {
    for (int l : list) {
      int64_t n = size_of_label(a, b, l);
      count[which] *= n;
      if (in_a) order_a.push_back(l), sizes_a.push_back(n);
      if (in_b) order_b.push_back(l), sizes_b.push_back(n);
      if (in_result) order.push_back(l), sizes.push_back(n);
    }
  };
  take(batch, 0, true, true, true);
  take(left, 1, true, false, true);
  take(summed, 2, true, true, false);
  take(right, 3, false, true, true);
  Tensor p = reshape(arranged(a, order_a, sizes_a), IntList({count[0], count[1], count[2]}));
  Tensor q = reshape(arranged(b, order_b, sizes_b), IntList({count[0], count[2], count[3]}));
  // Nothing is summed: a product of elements, of bools too.
  return {reshape(summed.empty() ? mul(p, q) : bmm(p, q), sizes), order};
}

// The labels of the result where the equation does not name them: all that occur once, sorted.
Labels implicit_labels(const std::vector<Labelled>& operands, const std::vector<Labels>& terms,
                       int64_t ellipsis) {
  Labels out;
  for (int64_t e = 0; e < ellipsis; ++e) out.push_back(kEllipsis + static_cast<int>(e));
  for (int l = 'A'; l <= 'z'; ++l) {
    int64_t count = 0;
    for (const Labels& t : terms) count += std::count(t.begin(), t.end(), l);
    if (count == 1) out.push_back(l);
  }
  return out;
}

void check_result_labels(const Labels& result, const std::vector<Labelled>& operands) {
  for (int l : result) {
    bool known = std::any_of(operands.begin(), operands.end(),
                             [&](const Labelled& x) { return holds(x.labels, l); });
    if (!known || std::count(result.begin(), result.end(), l) > 1) {
      raise_error(ErrorKind::kRuntime, "einsum(): output subscript ", static_cast<char>(l),
                  known ? " appears more than once in the output"
                        : " does not appear in the equation for any input operand");
    }
  }
}

// The length of each label; one that is 1 in some operands is repeated there.
std::map<int, int64_t> label_sizes(const std::vector<Labelled>& operands) {
  std::map<int, int64_t> sizes;
  for (const Labelled& x : operands) {
    for (size_t i = 0; i < x.labels.size(); ++i) {
      int64_t& n = sizes.emplace(x.labels[i], 1).first->second;
      n = n == 1 ? x.tensor->sizes[i] : n;
    }
  }
  return sizes;
}

// Multiplies all operands, two at a time, and gives the labels of the result in their order.
Tensor contract_all(std::vector<Labelled> operands, const Labels& result) {
  std::vector<Labels> labels;
  for (const Labelled& x : operands) labels.push_back(x.labels);
  for (auto [i, j] : contraction_order(labels, result, label_sizes(operands))) {
    Labels keep = result;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (k == i || k == j) continue;
      keep.insert(keep.end(), operands[k].labels.begin(), operands[k].labels.end());
    }
    operands[i] = contract(operands[i], operands[j], keep);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
  }
  Labelled x = sum_out(operands[0], result);
  Sizes places;
  for (int l : result) places.push_back(x.find(l));
  return permute(x.tensor, places);
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList operands) {
  std::string text;
  for (char c : equation) {
    if (c != ' ') text += c;
  }
  if (operands.empty())
    raise_error(ErrorKind::kRuntime, "einsum(): must provide at least one operand");
  size_t arrow = text.find("->");
  std::string_view all = text, left = all.substr(0, arrow);
  std::vector<std::string_view> terms;
  for (size_t at = 0; at <= left.size();) {
    size_t comma = std::min(left.find(',', at), left.size());
    terms.push_back(left.substr(at, comma - at));
    at = comma + 1;
  }
  if (terms.size() != operands.size()) {
    raise_error(ErrorKind::kRuntime,
                "einsum(): ", operands.size() < terms.size() ? "fewer" : "more",
                " operands were provided than specified in the equation: ", terms.size(),
                " terms and ", operands.size(), " operands");
  }
  int64_t most = 0;
  std::vector<int64_t> covered(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    bool has;
    covered[i] = ellipsis_dims(terms[i], operands[i], &has);
    most = std::max(most, covered[i]);
  }
  std::vector<Labels> labels;
  std::vector<Labelled> inputs;
  for (size_t i = 0; i < terms.size(); ++i) {
    labels.push_back(parse_term(terms[i], covered[i], most));
    inputs.push_back(distinct(operands[i], labels[i], i));
  }
  check_sizes(inputs);
  Labels result = arrow == std::string::npos ? implicit_labels(inputs, labels, most)
                                             : parse_term(all.substr(arrow + 2), most, most);
  check_result_labels(result, inputs);
  return contract_all(std::move(inputs), result);
}

Tensor tensordot_dims(const Tensor& self, const Tensor& other, IntList dims_self,
                      IntList dims_other) {
  if (dims_self.size() != dims_other.size()) {
    raise_error(ErrorKind::kRuntime,
                "tensordot: both dimension lists should have same length, got ",
                list_text(dims_self), " and ", list_text(dims_other));
  }
  Labelled a{self, {}}, b{other, {}};
  for (int64_t d = 0; d < self.dim(); ++d) a.labels.push_back(static_cast<int>(d));
  for (int64_t d = 0; d < other.dim(); ++d) b.labels.push_back(1000 + static_cast<int>(d));
  Labels keep;
  uint64_t used = 0;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    int64_t p = wrap_dim(dims_self[i], self.dim(), "tensordot");
    int64_t q = wrap_dim(dims_other[i], other.dim(), "tensordot");
    if (self->sizes[p] != other->sizes[q] && self->sizes[p] != 1 && other->sizes[q] != 1) {
      raise_error(ErrorKind::kRuntime,
                  "tensordot: contracted dimensions need to match, but first has ", "size ",
                  self->sizes[p], " in dim ", p, " and second has size ", other->sizes[q],
                  " in dim ", q);
    }
    b.labels[q] = static_cast<int>(p);
    used |= uint64_t{1} << p;
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!(used >> d & 1)) keep.push_back(static_cast<int>(d));
  }
  for (int l : b.labels) {
    if (l >= 1000) keep.push_back(l);
  }
  return contract(a, b, keep).tensor;
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  if (self.size(-1) != other.size(-1)) {
    raise_error(ErrorKind::kRuntime,
                "inner() the last dimension must match on both input tensors but ", "got shapes ",
                list_text(self.sizes()), " and ", list_text(other.sizes()));
  }
  return tensordot_dims(self, other, -1, -1);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  int64_t n = std::max(self.dim(), other.dim());
  Sizes a, b, shape;
  for (int64_t d = 0; d < n; ++d) {
    int64_t i = d - (n - self.dim()), j = d - (n - other.dim());
    int64_t p = i < 0 ? 1 : self->sizes[i], q = j < 0 ? 1 : other->sizes[j];
    a.push_back(p), a.push_back(1);
    b.push_back(1), b.push_back(q);
    shape.push_back(p * q);
  }
  return reshape(mul(reshape(self, a), reshape(other, b)), shape);
}

namespace {

// The cheapest order of a chain of products: split[i][j] is where the chain i..j is cut last.
std::vector<std::vector<size_t>> chain_order(const std::vector<double>& sizes) {
  size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n, 0));
  for (size_t length = 2; length <= n; ++length) {
    for (size_t i = 0; i + length <= n; ++i) {
      size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        double c = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (c < cost[i][j]) cost[i][j] = c, split[i][j] = k;
      }
    }
  }
  return split;
}

Tensor chain_product(const std::vector<Tensor>& t, const std::vector<std::vector<size_t>>& split,
                     size_t i, size_t j) {
  if (i == j) return t[i];
  size_t k = split[i][j];
  return mm(chain_product(t, split, i, k), chain_product(t, split, k + 1, j));
}

}  // namespace

Tensor multi_dot(TensorList tensors) {
  if (tensors.size() < 2) {
    raise_error(ErrorKind::kRuntime, "multi_dot(): expected at least 2 tensors but got ",
                tensors.size());
  }
  std::vector<Tensor> chain(tensors.begin(), tensors.end());
  bool row = chain.front().dim() == 1, column = chain.back().dim() == 1;
  if (row) chain.front() = unsqueeze(chain.front(), 0);
  if (column) chain.back() = unsqueeze(chain.back(), 1);
  std::vector<double> sizes;
  for (const Tensor& t : chain) {
    if (t.dim() != 2) {
      raise_error(ErrorKind::kRuntime,
                  "multi_dot(): expected matrices (1D tensors only at the ends), ",
                  "got a tensor of shape ", list_text(t.sizes()));
    }
    sizes.push_back(static_cast<double>(t->sizes[0]));
  }
  sizes.push_back(static_cast<double>(chain.back()->sizes[1]));
  Tensor out = chain_product(chain, chain_order(sizes), 0, chain.size() - 1);
  if (row) out = squeeze_dim(out, IntList(int64_t{0}));
  if (column) out = squeeze_dim(out, IntList(int64_t{-1}));
  return out;
}

}  // namespace facula
