// Tests of tensors: making, viewing, lifetimes.
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
