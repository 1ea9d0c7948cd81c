// The order in which einsum contracts more than two operands: search and greedy choice over pairs,
// with the cost counted as in opt_einsum (D. G. A. Smith and J. Gray, JOSS 3(26), 2018).
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace facula {

// ContractionStep names the places i < j of two operands in the list as it then is; their product
// takes place i, and what stood behind j moves up.
using ContractionStep = std::pair<size_t, size_t>;

namespace einsum_order {

using Labels = std::vector<int>;

// So many operands are planned by search, more of them greedily.
inline constexpr size_t kMostSearched = 4;

inline bool holds(const Labels& list, int label) {
  return std::find(list.begin(), list.end(), label) != list.end();
}

class Planner {
 public:
  Planner(const Labels& result, const std::map<int, int64_t>& sizes)
      : result_(result), sizes_(sizes) {}

  std::vector<ContractionStep> greedy(std::vector<Labels> operands) const {
    std::vector<ContractionStep> steps;
    while (operands.size() > 1) {
      ContractionStep best{0, 1};
      double least = std::numeric_limits<double>::infinity(), least_work = least;
      for (size_t i = 0; i < operands.size(); ++i) {
        for (size_t j = i + 1; j < operands.size(); ++j) {
          double growth =
              volume(product(operands, i, j)) - volume(operands[i]) - volume(operands[j]);
          double work = volume(both(operands[i], operands[j]));
          if (growth < least || (growth == least && work < least_work)) {
            best = {i, j}, least = growth, least_work = work;
          }
        }
      }
      steps.push_back(best);
      contract(operands, best);
    }
    return steps;
  }

  std::vector<ContractionStep> optimal(const std::vector<Labels>& operands) {
    least_ = std::numeric_limits<double>::infinity();
    search(operands, 0);
    return best_;
  }

 private:
  double volume(const Labels& labels) const {
    double n = 1;
    for (int l : labels) n *= static_cast<double>(sizes_.at(l));
    return n;
  }

  static Labels both(const Labels& a, const Labels& b) {
    Labels out = a;
    for (int l : b) {
      if (!holds(a, l)) out.push_back(l);
    }
    return out;
  }

  // The labels that the product of two operands keeps: those of the result and of the others.
  Labels product(const std::vector<Labels>& operands, size_t i, size_t j) const {
    Labels out;
    for (int l : both(operands[i], operands[j])) {
      bool kept = holds(result_, l);
      for (size_t k = 0; k < operands.size() && !kept; ++k) {
        kept = k != i && k != j && holds(operands[k], l);
      }
      if (kept) out.push_back(l);
    }
    return out;
  }

  void contract(std::vector<Labels>& operands, ContractionStep step) const {
    operands[step.first] = product(operands, step.first, step.second);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(step.second));
  }

  void search(const std::vector<Labels>& operands, double cost) {
    if (cost >= least_) return;
    if (operands.size() == 1) {
      least_ = cost;
      best_ = steps_;
      return;
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      for (size_t j = i + 1; j < operands.size(); ++j) {
        std::vector<Labels> rest = operands;
        double work = volume(both(operands[i], operands[j]));
        contract(rest, {i, j});
        steps_.emplace_back(i, j);
        search(rest, cost + work);
        steps_.pop_back();
      }
    }
  }

  const Labels& result_;
  const std::map<int, int64_t>& sizes_;
  double least_ = 0;
  std::vector<ContractionStep> steps_, best_;
};

}  // namespace einsum_order

// contraction_order plans the products of operands with these labels: the order with the fewest
// multiplications for up to four of them, a greedy one for more. `result` are the labels that are
// wanted at the end, `sizes` the length of each.
inline std::vector<ContractionStep> contraction_order(const std::vector<std::vector<int>>& operands,
                                                      const std::vector<int>& result,
                                                      const std::map<int, int64_t>& sizes) {
  einsum_order::Planner planner(result, sizes);
  return operands.size() <= einsum_order::kMostSearched ? planner.optimal(operands)
                                                        : planner.greedy(operands);
}

}  // namespace facula
