// Data: TensorDataset, DataLoader and the digits that ship with the library.
//
//   nn::DataLoader loader(nn::digits("train"), {.batch_size = 32, .shuffle = true});
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "facula/core/generator.h"
#include "facula/core/tensor.h"

namespace facula::nn {

// TensorDataset holds tensors of equally many samples, along the first dimension.
class FACULA_API TensorDataset {
 public:
  // ValueError for no tensors and for different numbers of samples.
  explicit TensorDataset(std::vector<Tensor> tensors);
  int64_t size() const { return tensors_[0].size(0); }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // at gives the samples at the indices, an int64 tensor of one dimension, of every tensor.
  std::vector<Tensor> at(const Tensor& indices) const;

 private:
  std::vector<Tensor> tensors_;
};

struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false, drop_last = false;
  Generator* generator = nullptr;  // of the shuffle; the default one unless given
};

// DataLoader cuts a dataset into batches. Each pass draws from the generator what Python's
// DataLoader draws, so a seed gives the same order.
//   nn::DataLoader loader(nn::TensorDataset({rand({6, 3})}), {.batch_size = 2, .shuffle = true});
//   for (const std::vector<Tensor>& batch : loader) relu(batch[0]);
class FACULA_API DataLoader {
 public:
  DataLoader(TensorDataset dataset, const DataLoaderOptions& options);

  // Iterator is one pass over the data.
  class FACULA_API Iterator {
   public:
    std::vector<Tensor> operator*() const;
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return batch_ != other.batch_; }

   private:
    friend class DataLoader;
    const DataLoader* loader_ = nullptr;
    Tensor order_;
    int64_t batch_ = 0;
  };
  // begin draws a new order.
  Iterator begin() const;
  Iterator end() const;
  // size counts the batches of a pass.
  int64_t size() const;
  const TensorDataset& dataset() const { return dataset_; }

 private:
  TensorDataset dataset_;
  DataLoaderOptions options_;
};

// digits gives images, float32 of shape (n, 1, 8, 8) from 0 to 1, and labels, int64, of the UCI
// set of handwritten digits: "train" (1,438), "test" (every fifth, 359) or "all". It reads `path`,
// or the file that is installed beside the library. RuntimeError where it cannot be read.
FACULA_API TensorDataset digits(std::string_view split = "all", const std::string& path = "");

}  // namespace facula::nn
