// CallObserver: who is told of the calls of operators and of the nodes of backward passes in a
// thread that is being profiled. While a thread has one, `tls.above` is not zero, so that its calls
// take the way of boxed ones; a thread without one pays nothing.
#pragma once
#include <utility>

#include "facula/core/interpreter.h"

namespace facula {

// CallObserver is told when a call or a node begins, and when it ends. It must not call operators.
class CallObserver {
 public:
  // What of a node runs: everything that the engine does for it, or its formulas alone; or the
  // forward function of one that a user defines.
  enum NodePart : uint8_t { kEvaluate, kApply, kForward };

  virtual ~CallObserver() = default;
  // begin_call and begin_node give a number that `end` gets. They come in pairs, well nested.
  virtual uint64_t begin_call(const OpInfo& op, std::span<const Value> args) = 0;
  virtual uint64_t begin_node(NodePart part, const char* name, uint64_t sequence) = 0;
  // `results` are those of a call; null for nodes, and where the call has raised.
  virtual void end(uint64_t token, const Values* results) noexcept = 0;
};

// call_observer gives the observer of the calling thread, or null.
FACULA_API CallObserver* call_observer();
// set_call_observer makes another one the thread's (null: none) and gives the one before. It must
// live until the calls that it was told of have ended.
FACULA_API CallObserver* set_call_observer(CallObserver* observer);

// ObservedNode tells an observer, if there is one, of the extent of a node's work. (The node is of
// a higher layer, hence the template.)
class ObservedNode {
 public:
  template <class Node>
  ObservedNode(CallObserver* observer, CallObserver::NodePart part, const Node& node)
      : observer_(observer) {
    if (observer) [[unlikely]]
      token_ = observer->begin_node(part, node.name(), node.sequence);
  }
  ~ObservedNode() { end(); }
  ObservedNode(const ObservedNode&) = delete;
  // end tells it before the scope ends.
  void end() noexcept {
    if (observer_) [[unlikely]]
      std::exchange(observer_, nullptr)->end(token_, nullptr);
  }

 private:
  CallObserver* observer_;
  uint64_t token_ = 0;
};

}  // namespace facula
