// The order of a pass: one number from the generator for the pass itself, then, when shuffling, a
// seed for a generator of its own that makes the permutation, as Python's loader and sampler do.
#include "facula/nn/data.h"

#include <dlfcn.h>

#include <fstream>
#include <iterator>

#include "facula/base/error.h"
#include "facula/nn/options.h"
#include "facula/nn/values.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

constexpr int64_t kPixels = 64;
constexpr int64_t kRecord = kPixels + 1;  // the pixels in row order, 0 to 16, then the label
constexpr int64_t kEvery = 5;             // of so many samples, the last one is for testing

uint64_t random_seed(Generator* generator) {
  Tensor seed = new_empty({}, kInt64);
  random_(seed, generator);
  return static_cast<uint64_t>(item_int(seed));
}

// digits_path finds the file beside the library: in a Python package and in a C++ prefix.
std::string digits_path() {
  Dl_info info{};
  FACULA_CHECK(dladdr(reinterpret_cast<void*>(&digits_path), &info) && info.dli_fname, kRuntime,
               "digits: the library does not know where it lies; pass the path of digits.bin");
  std::string library = info.dli_fname;
  size_t slash = library.rfind('/');
  std::string folder = slash == std::string::npos ? "." : library.substr(0, slash);
  std::string package = folder + "/../datasets/digits.bin";
  std::string prefix = folder + "/../share/facula/datasets/digits.bin";
  return std::ifstream(package) ? package : prefix;
}

}  // namespace

TensorDataset::TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  FACULA_CHECK(!tensors_.empty(), kValue, "TensorDataset: expected at least one tensor");
  for (const Tensor& t : tensors_) {
    FACULA_CHECK(t.defined() && t.dim() > 0, kValue,
                 "TensorDataset: expected tensors of at least one dimension");
    FACULA_CHECK(t.size(0) == tensors_[0].size(0), kValue, "Size mismatch between tensors");
  }
}

std::vector<Tensor> TensorDataset::at(const Tensor& indices) const {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors_) out.push_back(index_select(t, 0, indices));
  return out;
}

DataLoader::DataLoader(TensorDataset dataset, const DataLoaderOptions& options)
    : dataset_(std::move(dataset)), options_(options) {
  FACULA_CHECK(
      options.batch_size > 0, kValue,
      "batch_size should be a positive integer value, but got batch_size=", options.batch_size);
  FACULA_CHECK(!options.shuffle || dataset_.size() > 0, kValue,
               "num_samples should be a positive integer value, but got num_samples=0");
}

int64_t DataLoader::size() const {
  int64_t n = dataset_.size(), b = options_.batch_size;
  return options_.drop_last ? n / b : (n + b - 1) / b;
}

DataLoader::Iterator DataLoader::begin() const {
  Iterator it;
  it.loader_ = this;
  random_seed(options_.generator);
  int64_t n = dataset_.size();
  if (!options_.shuffle) {
    it.order_ = arange(int64_t{0}, n);
  } else if (options_.generator) {
    it.order_ = randperm(n, options_.generator);
  } else {
    auto own = make_ref<Generator>(random_seed(nullptr));
    it.order_ = randperm(n, own.get());
  }
  return it;
}

DataLoader::Iterator DataLoader::end() const {
  Iterator it;
  it.batch_ = size();
  return it;
}

std::vector<Tensor> DataLoader::Iterator::operator*() const {
  int64_t first = batch_ * loader_->options_.batch_size;
  int64_t last = std::min(first + loader_->options_.batch_size, loader_->dataset_.size());
  return loader_->dataset_.at(slice(order_, 0, first, last));
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  ++batch_;
  return *this;
}

TensorDataset digits(std::string_view split, const std::string& path) {
  check_option("digits", "split", split, {"train", "test", "all"});
  std::string name = path.empty() ? digits_path() : path;
  std::ifstream file(name, std::ios::binary);
  FACULA_CHECK(file, kRuntime, "digits: cannot read ", name);
  std::vector<unsigned char> bytes((std::istreambuf_iterator<char>(file)),
                                   std::istreambuf_iterator<char>());
  FACULA_CHECK(!bytes.empty() && bytes.size() % kRecord == 0, kRuntime, "digits: ", name,
               " is not made of records of ", kRecord, " bytes");
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  int64_t samples = static_cast<int64_t>(bytes.size()) / kRecord;
  for (int64_t i = 0; i < samples; ++i) {
    bool tested = i % kEvery == kEvery - 1;
    if (split != "all" && tested != (split == "test")) continue;
    const unsigned char* record = bytes.data() + i * kRecord;
    for (int64_t k = 0; k < kPixels; ++k) pixels.push_back(static_cast<float>(record[k]) / 16);
    labels.push_back(record[kPixels]);
  }
  int64_t n = static_cast<int64_t>(labels.size());
  return TensorDataset({tensor_of(pixels, {n, 1, 8, 8}), tensor_of(labels, {n})});
}

}  // namespace facula::nn
