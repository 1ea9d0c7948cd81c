// Handles of sparse tensors, their checks, and the two nodes between a tensor and its values.
#include "facula/base/error.h"
#include "facula/core/storage.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace sparse {
namespace {

// Payload is what the storage of a handle holds: first the zero that a strided reader finds, and
// its own address, by which it is known from a copy of its bytes.
struct Payload {
  struct Head {
    alignas(64) char zero[32] = {};
    const void* self = nullptr;
    char spare[24] = {};
  };
  Head head;
  Parts parts;
};

void free_payload(void* context) { delete static_cast<Payload*>(context); }

Payload& payload(const Tensor& t) {
  FACULA_CHECK(is_handle(t), kRuntime, "expected a sparse tensor, got a strided one");
  const Storage* storage = t->storage;
  auto* p = reinterpret_cast<Payload*>(storage->data());
  bool known =
      storage->is_external() && storage->bytes() == sizeof(Payload::Head) && p->head.self == p;
  FACULA_CHECK(known, kRuntime, "a sparse tensor cannot be given another storage");
  FACULA_CHECK(t.sizes() == IntList(p->parts.sizes), kRuntime,
               "a sparse tensor cannot be viewed with other sizes");
  return *p;
}

Tensor plain(const Tensor& t) { return requires_grad(t) ? detach(t) : t; }

// ValuesNode leads from the values to the tensor.
struct ValuesNode final : Node {
  Parts pattern;
  const char* name() const override { return "ValuesBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(0)) grads_in[0] = record(pattern, grads[0]);
  }
};

// RecordNode leads from the tensor to the values that it was made of.
struct RecordNode final : SparseNode {
  Parts pattern;
  const char* name() const override { return "SparseTensorBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(0)) grads_in[0] = values_at(pattern, grads[0]);
  }
};

// CoalesceNode: a tensor and its coalesced form are the same to gradients.
struct CoalesceNode final : SparseNode {
  const char* name() const override { return "CoalesceBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override { grads_in[0] = grads[0]; }
};

Parts without_values(const Parts& p, const Tensor& values) {
  Parts out = p;
  // Only the shape of values is asked for (blocks): an empty tensor over nothing would do, but a
  // detached one costs no more.
  out.values = plain(values);
  return out;
}

// StridedOnly takes the calls of operators of strided tensors that were given a handle, in which
// they would find zeros.
class StridedOnly final : public Interpreter {
 public:
  const char* name() const override { return "sparse"; }
  Values call(const OpInfo& op, std::span<Value> args) override {
    std::string_view row = op.name;
    if (row == "detach" || row == "alias") return op.call(args);  // they read no elements
    for (const Value& v : args) {
      if (v.is<Tensor>()) refuse(op, v.as<Tensor>());
      if (!v.is<std::vector<Tensor>>()) continue;
      for (const Tensor& t : v.as<std::vector<Tensor>>()) refuse(op, t);
    }
    return op.call(args);
  }

 private:
  static void refuse(const OpInfo& op, const Tensor& t) {
    FACULA_CHECK(!is_handle(t), kNotImplemented, "Could not run '", op.name,
                 "' with arguments of the layout ", layout_name(layout_of(t)),
                 ": expected strided tensors; to_dense() gives one");
  }
};

[[maybe_unused]] const bool refusing = [] {
  auto bit = static_cast<InterceptBit>(kInterceptSparse);
  InterpreterStack::set_handler(bit, std::make_shared<StridedOnly>());
  return true;
}();

}  // namespace

const Parts& parts_of(const Tensor& handle) { return payload(handle).parts; }

Tensor make_handle(Parts parts) {
  for (const Tensor* t : {&parts.compressed, &parts.indices, &parts.values}) check_plain(*t);
  count_elements(parts.sizes, "sparse tensor");
  parts.values = plain(parts.values);
  if (overlaps_itself(parts.values)) parts.values = to_contiguous(parts.values);  // users write
  parts.coalesced &= parts.is_coo();
  auto* payload = new Payload;
  payload->head.self = payload;
  payload->parts = std::move(parts);
  Storage* storage =
      Storage::external(&payload->head, sizeof payload->head, free_payload, payload, true);
  const Parts& p = payload->parts;
  Sizes strides(p.sizes.size(), 0);
  Tensor out = tensor_over(storage, p.sizes, strides, 0, p.values.dtype());
  storage->release();
  out->intercept |= kInterceptSparse;
  return out;
}

void replace_parts(const Tensor& handle, Parts parts) {
  count_elements(parts.sizes, "sparse tensor");
  Payload& p = payload(handle);
  parts.values = plain(parts.values);
  Sizes strides(parts.sizes.size(), 0);
  p.parts = std::move(parts);
  set_geometry(handle.impl(), p.parts.sizes, strides, 0);
  bump_version(handle, "replace_parts");
}

Tensor record(const Parts& pattern, const Tensor& values) {
  Parts parts = pattern;
  parts.values = values;
  Tensor out = make_handle(std::move(parts));
  if (!recording(values)) return out;
  auto node = make_ref<RecordNode>();
  node->pattern = without_values(pattern, values);
  node->add_edge(values);
  node->set_history(out);
  return out;
}

Tensor values_of(const Tensor& handle) {
  const Parts& p = parts_of(handle);
  Tensor out = alias(p.values);
  if (!recording(handle)) return out;
  auto node = make_ref<ValuesNode>();
  node->pattern = without_values(p, p.values);
  node->add_edge(handle);
  node->set_history(out);
  return out;
}

Tensor coalesced(const Tensor& handle) {
  const Parts& p = parts_of(handle);
  if (!p.is_coo() || p.coalesced) return handle;
  Parts made = p;
  made.coalesced = true;
  {
    NoGrad off;
    Groups groups = group_keys(keys(p));
    Tensor at = index_select(groups.order, 0, groups.first);
    made.indices = index_select(p.indices, 1, at);
    made.values = sum_groups(groups, p.values);
  }
  Tensor out = make_handle(std::move(made));
  if (!recording(handle)) return out;
  auto node = make_ref<CoalesceNode>();
  node->add_edge(handle);
  node->set_history(out);
  return out;
}

}  // namespace sparse

Layout layout_of(const Tensor& t) {
  return sparse::is_handle(t) ? sparse::parts_of(t).layout : Layout::kStrided;
}

const char* layout_name(Layout layout) {
  constexpr const char* kNames[] = {"strided",    "sparse_coo", "sparse_csr",
                                    "sparse_csc", "sparse_bsr", "sparse_bsc"};
  return kNames[static_cast<int>(layout)];
}

SparseTensor::SparseTensor(Tensor handle) : handle_(std::move(handle)) {
  sparse::parts_of(handle_);
}

int64_t SparseTensor::nnz() const { return sparse::parts_of(handle_).nnz(); }
int64_t SparseTensor::sparse_dim() const { return sparse::parts_of(handle_).sparse_dim(); }
int64_t SparseTensor::dense_dim() const { return sparse::parts_of(handle_).dense_dim(); }
bool SparseTensor::is_coalesced() const { return sparse::parts_of(handle_).coalesced; }

Tensor SparseTensor::indices() const {
  const sparse::Parts& p = sparse::parts_of(handle_);
  FACULA_CHECK(p.is_coo(), kRuntime, "indices expected sparse coordinate tensor layout but got ",
               layout_name(p.layout));
  FACULA_CHECK(p.coalesced, kRuntime,
               "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return alias(p.indices);
}

Tensor SparseTensor::compressed_indices() const {
  const sparse::Parts& p = sparse::parts_of(handle_);
  FACULA_CHECK(!p.is_coo(), kRuntime, "compressed indices: expected a compressed layout but got ",
               layout_name(p.layout));
  return alias(p.compressed);
}

Tensor SparseTensor::plain_indices() const {
  const sparse::Parts& p = sparse::parts_of(handle_);
  FACULA_CHECK(!p.is_coo(), kRuntime, "plain indices: expected a compressed layout but got ",
               layout_name(p.layout));
  return alias(p.indices);
}

Tensor values(const SparseTensor& t) {
  const sparse::Parts& p = sparse::parts_of(t.handle());
  FACULA_CHECK(!p.is_coo() || p.coalesced, kRuntime,
               "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return sparse::values_of(t.handle());
}

SparseTensor with_values(const SparseTensor& t, const Tensor& values) {
  const sparse::Parts& p = sparse::parts_of(t.handle());
  FACULA_CHECK(values.sizes() == p.values.sizes(), kRuntime,
               "with_values: expected values of size ", list_text(p.values.sizes()), ", got ",
               list_text(values.sizes()));
  return SparseTensor(sparse::record(p, values));
}

SparseTensor coalesce(const SparseTensor& t) { return SparseTensor(sparse::coalesced(t.handle())); }

}  // namespace facula
