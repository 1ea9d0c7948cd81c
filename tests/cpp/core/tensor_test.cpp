// Tests of tensors and storages: making, viewing, lifetimes, layouts and overlap.
#include "facula/core/tensor.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/core/allocator.h"
#include "facula/core/thread_state.h"

namespace facula {
namespace {

int64_t in_use() { return cpu_allocator().stats().allocated.current; }

std::string message_of(auto&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Tensor, EmptyIsRowMajor) {
  Tensor t = new_empty({2, 3, 4}, kFloat32);
  EXPECT_EQ(t.numel(), 24);
  EXPECT_EQ(t.strides(), IntList({12, 4, 1}));
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t->storage->bytes(), 96u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
  Tensor zero = new_empty({2, 0, 4}, kFloat64);
  EXPECT_EQ(zero.numel(), 0);
  EXPECT_EQ(zero.strides(), IntList({4, 4, 1}));
  EXPECT_TRUE(zero.is_contiguous());
  EXPECT_EQ(new_empty({}, kInt64).numel(), 1);
}

TEST(Tensor, BadSizesRaise) {
  EXPECT_THROW(new_empty({-1}, kFloat32), Error);
  EXPECT_THROW(new_empty({INT64_MAX, 2}, kFloat32), Error);
  EXPECT_THROW(new_empty({INT64_MAX / 2}, kFloat64), Error);
  EXPECT_THROW(new_empty(Sizes(65, 1), kFloat32), Error);
  EXPECT_EQ(new_empty({INT64_MAX, 0, 5}, kFloat32).numel(), 0);
  try {
    new_empty({int64_t{1} << 50}, kFloat32);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kOutOfMemory);
  }
}

TEST(Tensor, BlocksComeBack) {
  new_empty({1}, kFloat32);
  int64_t before = in_use();
  {
    Tensor t = new_empty({10}, kFloat32);
    Tensor many = new_empty(Sizes(20, 1), kFloat32);
    Tensor large = new_empty({1 << 20}, kFloat32);
    Tensor v = make_view(large, {5}, {2}, 3);
    Tensor w = make_view(v, {2}, {2}, 5);
    EXPECT_EQ(w->base, large.impl());
    EXPECT_GT(in_use(), before + (4 << 20));
    set_geometry(many.impl(), {1}, {1}, 0);
    set_geometry(t.impl(), Sizes(7, 1), Sizes(7, 1), 0);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(Tensor, ManyDimensionsLiveInABlockOfTheirOwn) {
  Sizes sizes(64, 1);
  sizes[10] = 3;
  Tensor t = new_empty(sizes, kInt8);
  EXPECT_EQ(t.dim(), 64);
  EXPECT_EQ(t.sizes(), IntList(sizes));
  EXPECT_EQ(t.stride(9), 3);
  Tensor u = alias(t);
  EXPECT_EQ(u.sizes(), t.sizes());
  EXPECT_EQ(u.strides(), t.strides());
}

TEST(Tensor, AliasSharesBytesAndVersion) {
  Tensor t = new_empty({4}, kFloat32);
  Tensor a = alias(t), d = alias_unversioned(t), v = make_view(d, {2}, {1}, 0);
  EXPECT_EQ(a.data(), t.data());
  bump_version(a, "add_");
  EXPECT_EQ(t->version->value.load(), 1u);
  EXPECT_STREQ(t->version->writer, "add_");
  EXPECT_EQ(d->version->value.load(), 0u);
  bump_version(d, "mul_");
  EXPECT_EQ(v->version->value.load(), 1u);
  EXPECT_EQ(t->version->value.load(), 1u);
  d = Tensor();
  bump_version(v, "mul_");  // the counter outlives the tensor that brought it
  EXPECT_EQ(v->version->value.load(), 2u);
}

TEST(Tensor, BoundsAreChecked) {
  Tensor t = new_empty({2, 3}, kFloat32);
  EXPECT_NO_THROW(alias_storage(t, {3}, {-1}, 2));
  EXPECT_NO_THROW(alias_storage(t, {5, 0}, {100, 1}, 6));
  EXPECT_THROW(alias_storage(t, {3}, {-1}, 1), Error);
  EXPECT_THROW(alias_storage(t, {7}, {1}, 0), Error);
  EXPECT_THROW(alias_storage(t, {1}, {1}, -1), Error);
  EXPECT_THROW(alias_storage(t, {1, 1}, {1}, 0), Error);
  EXPECT_THROW(alias_storage(t, {INT64_MAX}, {INT64_MAX}, 0), Error);
  EXPECT_THROW(alias_storage(t, {4}, {1}, 0, kComplex64), Error);
  EXPECT_EQ(message_of([&] { alias_storage(t, {3}, {3}, 0); }),
            "setStorage: sizes [3], strides [3], storage offset 0, and itemsize 4 requiring a "
            "storage size of 28 are out of bounds for storage of size 24");
}

TEST(Tensor, ViewsKnowTheirBase) {
  Tensor t = new_empty({2, 3}, kFloat32);
  Tensor v = make_view(t, {3}, {1}, 3);
  EXPECT_EQ(v->base, t.impl());
  EXPECT_FALSE(v->has(kNoGradView));
  NoGrad off;
  Tensor w = make_view(v, {2}, {1}, 3);
  EXPECT_EQ(w->base, t.impl());
  EXPECT_TRUE(w->has(kNoGradView));
  Tensor pairs = make_view(new_empty({2}, kComplex64), {2, 2}, {2, 1}, 0, kFloat32);
  EXPECT_EQ(pairs.dtype(), kFloat32);
}

TEST(Tensor, ReplacedStorageKeepsTheVersionGoing) {
  Tensor a = new_empty({2}, kFloat32), b = new_empty({2}, kFloat32);
  bump_version(a, "add_");
  replace_storage(a.impl(), b->storage);
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(a->version->value.load(), 1u);
  bump_version(a, "add_");
  EXPECT_EQ(b->version->value.load(), 0u);
}

TEST(Storage, ResizeKeepsThePrefix) {
  for (size_t start : {size_t{8}, size_t{100000}}) {
    Storage* s = Storage::make(start);
    std::memset(s->data(), 7, start);
    for (size_t bytes : {size_t{4}, size_t{200}, size_t{300000}, size_t{16}, size_t{900000}}) {
      s->resize(bytes);
      EXPECT_EQ(s->bytes(), bytes);
      EXPECT_EQ(s->data()[0], 7);
      EXPECT_EQ(s->data()[3], 7);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(s->data()) % 64, 0u);
      std::memset(s->data(), 7, bytes);
    }
    s->release();
  }
}

TEST(Storage, ExternalCallsItsDeleterAndRefusesToResize) {
  float data[3] = {1, 2, 3};
  int calls = 0;
  Storage* s = Storage::external(data, sizeof data, [](void* p) { ++*static_cast<int*>(p); },
                                 &calls, true);
  EXPECT_TRUE(s->read_only());
  EXPECT_TRUE(s->is_external());
  EXPECT_THROW(s->resize(100), Error);
  Tensor t = tensor_over(s, {3}, {1}, 0, kFloat32);
  EXPECT_EQ(t.data(), data);
  s->release();
  EXPECT_EQ(calls, 0);
  t = Tensor();
  EXPECT_EQ(calls, 1);
}

TEST(Storage, MetaHasNoBytes) {
  Tensor t = new_empty({int64_t{1} << 45}, kFloat32, facula::kMeta);
  EXPECT_EQ(t->storage->data(), nullptr);
  Tensor v = make_view(t, {2}, {1}, 100);
  EXPECT_EQ(v.data(), nullptr);
  EXPECT_TRUE(v.is_meta());
  t->storage->resize(10);
  EXPECT_THROW(new_empty({2}, kFloat32, parse_device("cuda")), Error);
}

TEST(Layout, NewEmptyAsKeepsTheOrder) {
  auto strides = [](const Tensor& t) { return new_empty_as(t, kFloat64).strides().to_sizes(); };
  EXPECT_EQ(strides(new_empty({2, 3}, kFloat32)), Sizes({3, 1}));
  EXPECT_EQ(strides(new_strided({2, 3}, {1, 2}, kFloat32)), Sizes({1, 2}));
  EXPECT_EQ(strides(new_strided({2, 3}, {0, 1}, kFloat32)), Sizes({3, 1}));
  EXPECT_EQ(strides(new_strided({3, 4}, {1, 0}, kFloat32)), Sizes({4, 1}));
  // permute(2, 0, 1)[::2] of a [4, 6, 8] tensor
  EXPECT_EQ(strides(new_strided({4, 4, 6}, {2, 48, 8}, kFloat32)), Sizes({1, 24, 4}));
  EXPECT_EQ(strides(new_strided({2, 0}, {0, 1}, kFloat32)), Sizes({1, 1}));
}

TEST(Layout, Formats) {
  EXPECT_EQ(strides_of_format({2, 3, 4, 5}, MemoryFormat::kChannelsLast), Sizes({60, 1, 15, 3}));
  Tensor t = new_formatted({2, 3, 4, 5}, kFloat32, {}, MemoryFormat::kChannelsLast);
  EXPECT_TRUE(is_contiguous_as(t, MemoryFormat::kChannelsLast));
  EXPECT_FALSE(is_contiguous_as(t, MemoryFormat::kContiguous));
  EXPECT_TRUE(is_dense(t));
  EXPECT_THROW(strides_of_format({2, 3}, MemoryFormat::kChannelsLast), Error);
  EXPECT_EQ(strides_of_format({2, 3, 4, 5, 6}, MemoryFormat::kChannelsLast3d),
            Sizes({360, 1, 90, 18, 3}));
}

TEST(Layout, DenseAndOverlappingItself) {
  EXPECT_TRUE(is_dense(new_strided({2, 3}, {1, 2}, kFloat32)));
  EXPECT_FALSE(is_dense(new_strided({2, 3}, {6, 2}, kFloat32)));
  EXPECT_FALSE(is_dense(new_strided({2, 3}, {0, 1}, kFloat32)));
  EXPECT_TRUE(is_dense(new_strided({1, 3}, {0, 1}, kFloat32)));
  EXPECT_TRUE(may_overlap_itself(new_strided({2, 3}, {0, 1}, kFloat32)));
  EXPECT_FALSE(may_overlap_itself(new_strided({1, 3}, {0, 1}, kFloat32)));
}

TEST(Layout, MemoryOverlap) {
  Tensor t = new_empty({8}, kFloat32);
  auto part = [&](IntList sizes, IntList strides, int64_t offset) {
    return alias_storage(t, sizes, strides, offset);
  };
  EXPECT_EQ(memory_overlap(t, t), Overlap::kFull);
  EXPECT_EQ(memory_overlap(t, alias(t)), Overlap::kFull);
  EXPECT_EQ(memory_overlap(part({4}, {1}, 0), part({4}, {1}, 4)), Overlap::kNone);
  EXPECT_EQ(memory_overlap(part({5}, {1}, 0), part({4}, {1}, 4)), Overlap::kPartial);
  EXPECT_EQ(memory_overlap(part({2, 4}, {4, 1}, 0), part({2, 4}, {1, 2}, 0)), Overlap::kPartial);
  EXPECT_EQ(memory_overlap(part({4}, {2}, 0), part({4}, {2}, 1)), Overlap::kUnknown);
  EXPECT_EQ(memory_overlap(part({2}, {2}, 0), part({2}, {2}, 4)), Overlap::kNone);
  EXPECT_EQ(memory_overlap(part({0}, {1}, 0), t), Overlap::kNone);
  EXPECT_EQ(memory_overlap(t, new_empty({8}, kFloat32)), Overlap::kNone);
}

TEST(Device, ReadsAndWrites) {
  EXPECT_EQ(device_text(parse_device("cpu")), "cpu");
  EXPECT_EQ(device_text(parse_device("cuda:1")), "cuda:1");
  EXPECT_TRUE(parse_device("meta").is_meta());
  for (const char* bad : {"", "foo", "cpu:", "cpu:x", "cpu:-1", "cpu:01", "cpu:1 ", "cuda:200"}) {
    EXPECT_THROW(parse_device(bad), Error) << bad;
  }
}

bool keep_python(TensorImpl* p) {
  p->refs.store(1);
  return true;
}

TEST(Tensor, PythonMayTakeOverADyingTensor) {
  Tensor t = new_empty({2}, kFloat32);
  TensorImpl* p = t.impl();
  p->python = reinterpret_cast<_object*>(p);
  python_drop = keep_python;
  t = Tensor();
  python_drop = nullptr;
  EXPECT_EQ(p->refs.load(), 1u);
  EXPECT_EQ(p->numel, 2);
  release(p);
}

}  // namespace
}  // namespace facula
