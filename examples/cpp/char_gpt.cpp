// A character-level GPT that learns to write Python.
//
//     python examples/char_gpt.py --save-text text.txt    (writes the text to learn from)
//     char_gpt --text text.txt [--steps 200] [--sample 200] [--quick]
//
// The twin of examples/char_gpt.py: the same draws in the same order and the same losses. Without
// --text it learns from a short text of its own, to see that it runs.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "facula/nn/nn.h"

using namespace facula;

namespace {

constexpr int64_t kVocabulary = 128, kWidth = 64, kHeads = 4, kDepth = 2, kLength = 64, kBatch = 16;

// Attention over the past and a two-layer network, both beside a residual path.
struct Block : nn::Module {
  Block()
      : Module("Block"),
        norm1(register_module("norm1", nn::LayerNorm(kWidth))),
        norm2(register_module("norm2", nn::LayerNorm(kWidth))),
        qkv(register_module("qkv", nn::Linear(kWidth, 3 * kWidth))),
        proj(register_module("proj", nn::Linear(kWidth, kWidth))),
        up(register_module("up", nn::Linear(kWidth, 4 * kWidth))),
        down(register_module("down", nn::Linear(4 * kWidth, kWidth))) {}
  Tensor forward(const Tensor& input) override {
    int64_t b = input.size(0), t = input.size(1);
    std::vector<Tensor> parts = split(qkv(norm1(input)), kWidth, 2);
    for (Tensor& p : parts) p = transpose(view(p, {b, t, kHeads, kWidth / kHeads}), 1, 2);
    Tensor y = scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    Tensor x = input + proj(reshape(transpose(y, 1, 2), {b, t, kWidth}));
    return x + down(gelu(up(norm2(x))));
  }

  nn::LayerNorm &norm1, &norm2;
  nn::Linear &qkv, &proj, &up, &down;
};

struct CharGPT : nn::Module {
  CharGPT()
      : Module("CharGPT"),
        tokens(register_module("tokens", nn::Embedding(kVocabulary, kWidth))),
        places(register_module("places", nn::Embedding(kLength, kWidth))),
        blocks(register_module("blocks", make_blocks())),
        norm(register_module("norm", nn::LayerNorm(kWidth))),
        head(register_module("head", nn::Linear(kWidth, kVocabulary))) {}
  static nn::ModuleList<Block> make_blocks() {
    nn::ModuleList<Block> list;
    for (int64_t i = 0; i < kDepth; ++i) list.push_back(Block());
    return list;
  }
  Tensor forward(const Tensor& codes) override {
    Tensor x = tokens(codes) + places(arange(0, codes.size(1)));
    for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x);
    return head(norm(x));
  }

  nn::Embedding &tokens, &places;
  nn::ModuleList<Block>& blocks;
  nn::LayerNorm& norm;
  nn::Linear& head;
};

Tensor codes_of(const std::string& text) {
  std::vector<int64_t> codes;
  for (unsigned char c : text) codes.push_back(c < kVocabulary ? c : '?');
  return tensor_of(codes, {static_cast<int64_t>(codes.size())});
}

// write continues a text by characters drawn one by one.
std::string write(CharGPT& model, const std::string& start, int count) {
  NoGrad off;
  Tensor codes = unsqueeze(codes_of(start), 0);
  for (int i = 0; i < count; ++i) {
    Tensor scores = model(slice(codes, 1, std::max<int64_t>(codes.size(1) - kLength, 0)));
    Tensor last = select(scores, 1, -1);
    Tensor drawn = multinomial(softmax(last / 0.8, -1), 1);
    std::vector<Tensor> both{codes, drawn};
    codes = cat(both, 1);
  }
  std::string text;
  for (int64_t code : int_values_of(codes)) text += static_cast<char>(code);
  return text;
}

void train(const Tensor& data, int steps, int sample) {
  CharGPT model;
  optim::AdamW optimizer(model.parameters(), {.lr = 3e-3});
  Tensor offsets = arange(0, kLength + 1);
  for (int step = 0; step < steps; ++step) {
    Tensor starts = randint(data.size(0) - kLength, {kBatch, 1});
    Tensor places = flatten(starts + offsets);
    Tensor window = view(index_select(data, 0, places), {kBatch, kLength + 1});
    optimizer.zero_grad();
    Tensor scores = model(slice(window, 1, 0, -1));
    Tensor loss = cross_entropy(flatten(scores, 0, 1), flatten(slice(window, 1, 1)));
    backward(loss);
    optimizer.step();
    if (step % 10 == 0 || step == steps - 1) {
      std::printf("step %4d  loss %.6f\n", step, item(loss));
      std::fflush(stdout);
    }
  }
  std::printf("%s\n", write(model, "def ", sample).c_str());
}

std::string read_text(const std::string& path) {
  if (path.empty()) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "def add(a, b):\n    return a + b\n\n\n";
    return text;
  }
  std::ifstream file(path, std::ios::binary);
  FACULA_CHECK(file, kRuntime, "cannot read ", path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 200, sample = 200;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    std::string_view flag = argv[i];
    if (flag == "--quick") steps = 5, sample = 20;
    if (flag == "--text" && i + 1 < argc) path = argv[++i];
    if (flag == "--steps" && i + 1 < argc) steps = std::atoi(argv[++i]);
    if (flag == "--sample" && i + 1 < argc) sample = std::atoi(argv[++i]);
  }
  try {
    Tensor data = codes_of(read_text(path));
    std::printf("%lld characters\n", static_cast<long long>(data.size(0)));
    manual_seed(0);
    train(data, steps, sample);
  } catch (const Error& error) {
    std::fprintf(stderr, "char_gpt: %s\n", error.what());
    return 1;
  }
  return 0;
}
