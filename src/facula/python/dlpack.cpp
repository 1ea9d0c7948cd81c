// DLPack: the exchange of tensors between libraries without copies. The structures are those of
// the specification (https://dmlc.github.io/dlpack), version 1.0, with the unversioned form too.
#include "facula/autograd/meta.h"
#include "facula/core/lent.h"
#include "facula/python/foreign.h"
#include "facula/python/tensor_type.h"

namespace facula::python {

namespace {

struct DlDevice {
  int32_t type;  // 1 is the CPU
  int32_t id;
};
struct DlType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
enum DlCode : uint8_t {
  kDlInt = 0,
  kDlUInt = 1,
  kDlFloat = 2,
  kDlBFloat = 4,
  kDlComplex = 5,
  kDlBool = 6
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t ndim;
  DlType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};
struct DlVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DlVersioned*);
  uint64_t flags;  // bit 0: read-only, bit 1: copied
  DlTensor tensor;
};

DlType dl_type(DType t) {
  auto bits = static_cast<uint8_t>(item_size(t) * 8);
  if (t == kBool) return {kDlBool, 8, 1};
  if (t == kBFloat16) return {kDlBFloat, 16, 1};
  if (is_complex(t)) return {kDlComplex, bits, 1};
  if (is_floating(t)) return {kDlFloat, bits, 1};
  return {is_signed(t) ? kDlInt : kDlUInt, bits, 1};
}

DType dtype_of(DlType t) {
  FACULA_CHECK(t.lanes == 1, kBuffer, "from_dlpack: vector types are not supported");
  for (int i = 0; i < kNumDTypes; ++i) {
    DlType mine = dl_type(static_cast<DType>(i));
    if (mine.code == t.code && mine.bits == t.bits) return static_cast<DType>(i);
  }
  raise_error(ErrorKind::kBuffer, "from_dlpack: no dtype for code ", int{t.code}, " with ",
              int{t.bits}, " bits");
}

// Export keeps a tensor alive for whoever imports it. One deletes it through the managed struct.
struct Export {
  explicit Export(Tensor shared) : tensor(std::move(shared)) { lend(tensor->storage); }
  ~Export() { give_back(tensor->storage); }
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  Tensor tensor;
  Sizes strides;
  DlManaged managed;
  DlVersioned versioned;
};

void fill(DlTensor& out, Export& e) {
  const Tensor& t = e.tensor;
  FACULA_CHECK(t.data() || t.numel() == 0, kRuntime, "a tensor without data cannot be exported");
  e.strides = t.strides().to_sizes();
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (t.size(d) <= 1) e.strides[static_cast<size_t>(d)] = 1;
  }
  out = {t.data(),         {1, 0}, static_cast<int32_t>(t.dim()), dl_type(t.dtype()), t->sizes,
         e.strides.data(), 0};
}

void drop_export(void* context) {
  if (!python_lives()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  delete static_cast<Export*>(context);
  PyGILState_Release(gil);
}

constexpr const char* kPlain = "dltensor";
constexpr const char* kPlainUsed = "used_dltensor";
constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kVersionedUsed = "used_dltensor_versioned";

void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kPlain)) {
    auto* m = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule, kPlain));
    if (m->deleter) m->deleter(m);
  } else if (PyCapsule_IsValid(capsule, kVersioned)) {
    auto* m = static_cast<DlVersioned*>(PyCapsule_GetPointer(capsule, kVersioned));
    if (m->deleter) m->deleter(m);
  }
}

void release_plain(void* context) {
  auto* m = static_cast<DlManaged*>(context);
  if (m->deleter) m->deleter(m);
}
void release_versioned(void* context) {
  auto* m = static_cast<DlVersioned*>(context);
  if (m->deleter) m->deleter(m);
}

Tensor import(const DlTensor& in, Storage::Deleter deleter, void* context, bool read_only) {
  FACULA_CHECK(in.device.type == 1, kBuffer, "from_dlpack: expected memory of the CPU, got ",
               "device type ", in.device.type);
  DType dtype = dtype_of(in.dtype);
  Sizes sizes, strides;
  int64_t elements = 1, numel = 1;
  for (int d = 0; d < in.ndim; ++d) {
    sizes.push_back(in.shape[d]);
    numel *= in.shape[d];
  }
  if (in.strides) {
    for (int d = 0; d < in.ndim; ++d) {
      FACULA_CHECK(in.strides[d] >= 0 || in.shape[d] <= 1, kBuffer,
                   "from_dlpack: negative strides are not supported");
      strides.push_back(in.shape[d] <= 1 && in.strides[d] < 0 ? 1 : in.strides[d]);
    }
  } else {
    strides = contiguous_strides(sizes);
  }
  for (int d = 0; d < in.ndim; ++d) {
    elements += (sizes[static_cast<size_t>(d)] - 1) * strides[static_cast<size_t>(d)];
  }
  if (numel == 0) elements = 0;
  char* data = static_cast<char*>(in.data) + in.byte_offset;
  Storage* storage = Storage::external(data, static_cast<size_t>(elements * item_size(dtype)),
                                       deleter, context, read_only);
  struct Drop {
    Storage* s;
    ~Drop() { s->release(); }
  } drop{storage};
  return tensor_over(storage, sizes, strides, 0, dtype);
}

}  // namespace

Tensor tensor_from_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kVersioned)) {
    auto* m = static_cast<DlVersioned*>(PyCapsule_GetPointer(capsule, kVersioned));
    FACULA_CHECK(m->major == 1, kBuffer, "from_dlpack: expected DLPack 1, got ", m->major, ".",
                 m->minor);
    Tensor t = import(m->tensor, release_versioned, m, m->flags & 1);
    check(PyCapsule_SetName(capsule, kVersionedUsed));
    return t;
  }
  if (PyCapsule_IsValid(capsule, kPlain)) {
    auto* m = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule, kPlain));
    Tensor t = import(m->tensor, release_plain, m, false);
    check(PyCapsule_SetName(capsule, kPlainUsed));
    return t;
  }
  raise_error(ErrorKind::kRuntime, "from_dlpack received an invalid capsule. Note that DLTensor ",
              "capsules can be consumed only once, so you might have already constructed a tensor ",
              "from it once.");
}

PyObject* capsule_from_tensor(PyObject* tensor, bool versioned, bool copied) {
  const Tensor& t = unwrap(tensor);
  FACULA_CHECK(!requires_grad(t), kBuffer, "Can't export tensors that require gradient, use ",
               "tensor.detach()");
  FACULA_CHECK(t.device().is_cpu(), kBuffer, "__dlpack__: expected a tensor of the CPU, got ",
               device_text(t.device()));
  auto e = std::make_unique<Export>(alias(t));
  Owned capsule;
  if (versioned) {
    fill(e->versioned.tensor, *e);
    e->versioned.major = 1;
    e->versioned.minor = 0;
    e->versioned.context = e.get();
    e->versioned.deleter = [](DlVersioned* m) { drop_export(m->context); };
    e->versioned.flags = (t->storage->read_only() ? 1 : 0) | (copied ? 2 : 0);
    capsule = own(PyCapsule_New(&e->versioned, kVersioned, destroy_capsule));
  } else {
    FACULA_CHECK(!t->storage->read_only(), kBuffer,
                 "__dlpack__: read-only memory needs a consumer of DLPack 1.0");
    fill(e->managed.tensor, *e);
    e->managed.context = e.get();
    e->managed.deleter = [](DlManaged* m) { drop_export(m->context); };
    capsule = own(PyCapsule_New(&e->managed, kPlain, destroy_capsule));
  }
  e.release();
  return capsule.release();
}

}  // namespace facula::python
