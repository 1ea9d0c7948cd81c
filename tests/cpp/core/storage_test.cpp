// Storages: growing, foreign memory, storages without bytes.
#include "facula/core/storage.h"

#include <gtest/gtest.h>

#include <cstring>

#include "facula/base/error.h"
#include "facula/core/lent.h"
#include "facula/core/tensor.h"

namespace facula {
namespace {

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

TEST(Storage, GivesBackPagesThatItDoesNotReach) {
  constexpr size_t kBytes = 1 << 20;
  Storage* s = Storage::make(kBytes);
  std::memset(s->data(), 7, kBytes);
  s->resize(8);
  EXPECT_EQ(s->data()[7], 7);
  EXPECT_EQ(s->data()[kBytes / 2], 0);  // the address stays, the page is a new one
  s->resize(0);
  s->resize(kBytes);
  std::memset(s->data(), 5, kBytes);
  EXPECT_EQ(s->data()[kBytes - 1], 5);
  s->release();
}

TEST(Storage, ExternalCallsItsDeleterAndRefusesToResize) {
  float data[3] = {1, 2, 3};
  int calls = 0;
  Storage* s =
      Storage::external(data, sizeof data, [](void* p) { ++*static_cast<int*>(p); }, &calls, true);
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

TEST(Storage, KeepsItsSizeWhileItIsLent) {
  for (size_t bytes : {size_t{8}, size_t{1} << 20}) {
    Storage* s = Storage::make(bytes);
    char* place = s->data();
    lend(s);
    lend(s);
    give_back(s);
    EXPECT_TRUE(is_lent(s));
    EXPECT_THROW(s->resize(4 * bytes), Error);
    EXPECT_EQ(s->data(), place);
    give_back(s);
    EXPECT_FALSE(is_lent(s));
    s->resize(4 * bytes);
    EXPECT_EQ(s->bytes(), 4 * bytes);
    for (int i = 0; i < 10000; ++i) lend(s);  // more than are counted: it stays lent
    for (int i = 0; i < 10000; ++i) give_back(s);
    EXPECT_TRUE(is_lent(s));
    s->release();
  }
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

}  // namespace
}  // namespace facula
