// Tests of printing. Texts that PyTorch's C++ interface prints too were recorded from it; where it
// shifts columns or drops digits, the text here has them.
#include "facula/nn/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <sstream>

#include "facula/autograd/meta.h"
#include "facula/nn/layers.h"
#include "facula/nn/values.h"
#include "facula/sparse/sparse.h"

namespace facula {
namespace {

constexpr float kInf = INFINITY;

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// row makes a vector of float32 and casts it.
Tensor row(const std::vector<float>& values, DType dtype = kFloat32) {
  return to(tensor_of(values, {static_cast<int64_t>(values.size())}), std::nullopt, dtype);
}
Tensor whole(const std::vector<int64_t>& values, DType dtype = kInt64) {
  return to(tensor_of(values, {static_cast<int64_t>(values.size())}), std::nullopt, dtype);
}

TEST(Print, NumbersStandAbove) {
  EXPECT_EQ(text(full({}, 2.5)), "2.5\n[ CPUFloatType{} ]");
  EXPECT_EQ(text(full({}, 0.1)), "0.10000000149011612\n[ CPUFloatType{} ]");
  EXPECT_EQ(text(full({}, 1e-10)), "1.000000013351432e-10\n[ CPUFloatType{} ]");
  EXPECT_EQ(text(full({}, std::nan(""))), "nan\n[ CPUFloatType{} ]");
  EXPECT_EQ(text(full({}, 123456789)), "123456789\n[ CPULongType{} ]");
  EXPECT_EQ(text(full({}, true)), "1\n[ CPUBoolType{} ]");
  EXPECT_EQ(text(full({}, std::complex<double>(1, -2))), "1-2j\n[ CPUComplexFloatType{} ]");
}

TEST(Print, VectorsStandUpright) {
  EXPECT_EQ(text(row({1, 2.5, -3})), " 1.0000\n 2.5000\n-3.0000\n[ CPUFloatType{3} ]");
  EXPECT_EQ(text(row({0.1f, 0.2f})), " 0.1000\n 0.2000\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(row({12345.5, 20000})), " 12345.5000\n 20000.0000\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(row({-0.0f, 1.5})), "-0.0000\n 1.5000\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(row({0.99999f})), " 1.0000\n[ CPUFloatType{1} ]");
  EXPECT_EQ(text(row({1, 2}, kFloat64)), " 1\n 2\n[ CPUDoubleType{2} ]");
}

TEST(Print, NumbersOfLikeSizeShareAFactor) {
  EXPECT_EQ(text(row({123456.5, 234567.25})), "100000 *\n 1.2346\n 2.3457\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(row({1e-4f, 2e-4f})), "0.0001 *\n 1.0000\n 2.0000\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(row({0.01f, 0.02f})), "0.01 *\n 1.0000\n 2.0000\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(reshape(row({123456.5, 234567.25, 100000.5, 200000}), {2, 2})),
            "100000 *\n 1.2346  2.3457\n 1.0000  2.0000\n[ CPUFloatType{2,2} ]");
}

TEST(Print, NumbersOfUnlikeSizeHaveExponents) {
  EXPECT_EQ(text(row({1e-4f, 2e4f})), " 1.0000e-04\n 2.0000e+04\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(row({1e10f})), " 1.0000e+10\n[ CPUFloatType{1} ]");
  EXPECT_EQ(text(row({3.4e38f, -3.4e38f})), " 3.4000e+38\n-3.4000e+38\n[ CPUFloatType{2} ]");
  Tensor far = stack(std::vector<Tensor>{full({}, 1e-104, kFloat64), full({}, 2e104, kFloat64)});
  EXPECT_EQ(text(far), " 1.0000e-104\n 2.0000e+104\n[ CPUDoubleType{2} ]");
  EXPECT_EQ(text(full({1}, 5e-324, kFloat64)), " 4.9407e-324\n[ CPUDoubleType{1} ]");
}

TEST(Print, WholeNumbersKeepTheirDigits) {
  EXPECT_EQ(text(whole({1, -20, 300})), "   1\n -20\n 300\n[ CPULongType{3} ]");
  EXPECT_EQ(text(whole({-123456, 2})), "-123456\n      2\n[ CPULongType{2} ]");
  EXPECT_EQ(text(whole({(int64_t{1} << 62) + 1, INT64_MIN})),
            " 4611686018427387905\n-9223372036854775808\n[ CPULongType{2} ]");
  EXPECT_EQ(text(whole({-1}, kUInt64)), " 18446744073709551615\n[ CPUUInt64Type{1} ]");
  EXPECT_EQ(text(row({1234567, -1})), " 1234567\n      -1\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(whole({1, 255}, kUInt8)), "   1\n 255\n[ CPUByteType{2} ]");
  EXPECT_EQ(text(whole({1}, kInt32)), " 1\n[ CPUIntType{1} ]");
}

TEST(Print, BoolsAreOnesAndZeros) {
  EXPECT_EQ(text(reshape(whole({1, 0}, kBool), {1, 2})), " 1  0\n[ CPUBoolType{1,2} ]");
}

TEST(Print, HalvesAreRead) {
  EXPECT_EQ(text(row({1.5, 0.1f}, kFloat16)), " 1.5000\n 0.1000\n[ CPUHalfType{2} ]");
  EXPECT_EQ(text(row({1.5, 0.1f}, kBFloat16)), " 1.5000\n 0.1001\n[ CPUBFloat16Type{2} ]");
}

TEST(Print, NanAndInfKeepTheColumns) {
  EXPECT_EQ(text(row({NAN, kInf, -kInf, 1.5})),
            "    nan\n    inf\n   -inf\n 1.5000\n[ CPUFloatType{4} ]");
  EXPECT_EQ(text(row({NAN, kInf, -kInf, 1})), " nan\n inf\n-inf\n   1\n[ CPUFloatType{4} ]");
  EXPECT_EQ(text(row({NAN, NAN})), "nan\nnan\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(reshape(row({1e-10f, 1, 1e10f, NAN}), {2, 2})),
            " 1.0000e-10  1.0000e+00\n 1.0000e+10         nan\n[ CPUFloatType{2,2} ]");
}

TEST(Print, ComplexNumbersHaveBothParts) {
  Tensor re = row({1, 3.5}), im = row({2, -4});
  EXPECT_EQ(text(complex(re, im)), " 1.0000+2.0000j\n 3.5000-4.0000j\n[ CPUComplexFloatType{2} ]");
  EXPECT_EQ(text(complex(row({1, 30}), row({-2, NAN}))),
            "   1-2j\n30+nanj\n[ CPUComplexFloatType{2} ]");
  EXPECT_EQ(text(zeros({0}, kComplex128)), "[ CPUComplexDoubleType{0} ]");
}

TEST(Print, MatricesAndSlices) {
  EXPECT_EQ(text(reshape(row({1, 2, 3, 4, 5, 6}), {2, 3})),
            " 1  2  3\n 4  5  6\n[ CPUFloatType{2,3} ]");
  EXPECT_EQ(text(transpose(reshape(row({1, 2, 3, 4, 5, 6}), {2, 3}), 0, 1)),
            " 1  4\n 2  5\n 3  6\n[ CPUFloatType{3,2} ]");
  EXPECT_EQ(text(reshape(arange(0, 8, 1, kFloat32), {2, 2, 2})),
            "(1,.,.) = \n  0  1\n  2  3\n\n(2,.,.) = \n  4  5\n  6  7\n[ CPUFloatType{2,2,2} ]");
  EXPECT_EQ(text(transpose(reshape(arange(0, 4), {2, 2, 1, 1}), 0, 1)),
            "(1,1,.,.) = \n  0\n\n(1,2,.,.) = \n  2\n\n(2,1,.,.) = \n  1\n\n(2,2,.,.) = \n  3\n"
            "[ CPULongType{2,2,1,1} ]");
  EXPECT_EQ(text(expand(row({7}), {2, 2})), " 7  7\n 7  7\n[ CPUFloatType{2,2} ]");
}

TEST(Print, WideRowsComeInPieces) {
  EXPECT_EQ(text(reshape(arange(100, 120), {1, 20})),
            "Columns 1 to 16\n"
            " 100  101  102  103  104  105  106  107  108  109  110  111  112  113  114  115\n\n"
            "Columns 17 to 20\n 116  117  118  119\n[ CPULongType{1,20} ]");
  std::ostringstream out;
  print(out, reshape(arange(0, 6) * 1e5 + 0.5, {1, 2, 3}), 25);
  EXPECT_EQ(out.str(),
            "(1,.,.) = \nColumns 1 to 2\n  5.0000e-01  1.0000e+05\n  3.0000e+05  4.0000e+05\n\n"
            "Columns 3 to 3\n  2.0000e+05\n  5.0000e+05\n[ CPUFloatType{1,2,3} ]");
}

TEST(Print, WithoutElements) {
  EXPECT_EQ(text(zeros({0})), "[ CPUFloatType{0} ]");
  EXPECT_EQ(text(zeros({2, 0, 3})), "[ CPUFloatType{2,0,3} ]");
  EXPECT_EQ(text(Tensor()), "[ Tensor (undefined) ]");
  EXPECT_EQ(text(new_empty({2, 3}, kFloat32, kMeta)), "[ MetaFloatType{2,3} ]");
}

TEST(Print, SparseTensorsAreTheirParts) {
  EXPECT_EQ(text(to_sparse(eye(2))),
            "[ SparseCPUFloatType{}\nindices:\n 0  1\n 0  1\n[ CPULongType{2,2} ]\n"
            "values:\n 1\n 1\n[ CPUFloatType{2} ]\nsize:\n[2, 2]\n]");
  EXPECT_EQ(text(to_sparse(eye(2), Layout::kCsc).handle()),
            "[ SparseCscCPUFloatType{}\nccol_indices:\n 0\n 1\n 2\n[ CPULongType{3} ]\n"
            "row_indices:\n 0\n 1\n[ CPULongType{2} ]\n"
            "values:\n 1\n 1\n[ CPUFloatType{2} ]\nsize:\n[2, 2]\n]");
}

TEST(Print, HistoryAndTheStreamStayAsTheyAre) {
  Tensor x = ones({2});
  set_requires_grad(x, true);
  Tensor y = x * 2;
  std::ostringstream out;
  out << std::setw(30) << std::setprecision(2) << std::hex << y << 255 << " " << 1.2345;
  EXPECT_EQ(out.str(), " 2\n 2\n[ CPUFloatType{2} ]                            ff 1.2");
  EXPECT_NE(grad_fn(y), nullptr);
}

TEST(Print, WhatDescribesTensors) {
  EXPECT_EQ(text(kFloat32) + text(kComplex64) + text(kUInt16), "FloatComplexFloatUInt16");
  EXPECT_EQ(text(kCpu) + " " + text(Device{DeviceType::kCuda, 1}), "cpu cuda:1");
  EXPECT_EQ(text(zeros({2, 3}).sizes()) + text(Sizes{4}), "[2, 3][4]");
  EXPECT_EQ(text(Scalar(1.5)) + " " + text(Scalar(true)) + " " + text(Scalar(3)), "1.5 true 3");
  EXPECT_EQ(text(Scalar(std::complex<double>(1, 2))) + text(Scalar(UINT64_MAX)),
            "(1,2)18446744073709551615");
  EXPECT_EQ(text(Layout::kStrided) + text(Layout::kCoo) + text(Layout::kBsc),
            "StridedSparseSparseBsc");
  EXPECT_EQ(text(MemoryFormat::kChannelsLast) + text(MemoryFormat::kPreserve),
            "ChannelsLastPreserve");
  EXPECT_EQ(text(nn::Linear(3, 2)), nn::Linear(3, 2).repr());
}

}  // namespace
}  // namespace facula
