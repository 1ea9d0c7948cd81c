// PruningScope: what the nodes that run in this thread may leave out.
#pragma once
#include <utility>

#include "facula/autograd/node.h"

namespace facula {

// PruningScope sets, for its lifetime, which gradients are wanted; null: those of all edges.
struct PruningScope {
  explicit PruningScope(const Pruning* p) : before(std::exchange(tls.pruning, p)) {}
  ~PruningScope() { tls.pruning = before; }
  PruningScope(const PruningScope&) = delete;
  PruningScope& operator=(const PruningScope&) = delete;
  const Pruning* before;
};

}  // namespace facula
