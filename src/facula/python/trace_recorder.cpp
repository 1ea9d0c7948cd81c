// What profilers of Python are written with: a recorder of one thread, which notes when operators,
// backward nodes and marked blocks begin and end, what they were given and how much memory they
// left allocated.
#include "facula/python/trace_recorder.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "facula/autograd/node.h"
#include "facula/core/allocator.h"
#include "facula/core/observer.h"
#include "facula/python/arguments.h"
#include "facula/python/dispatch_modes.h"
#include "facula/python/types.h"

namespace facula::python {
namespace {

enum class Kind : uint8_t { kOperator, kEvaluate, kNode, kFunction, kBlock, kMemory };

struct TensorNote {
  Sizes sizes, strides;
  DType dtype;
};

// Input is what a call was given for a parameter: a tensor, a list of tensors, or a value.
struct Input {
  enum : uint8_t { kValue, kTensor, kTensors } kind = kValue;
  Value value;
  std::vector<TensorNote> tensors;
};

struct Event {
  Kind kind;
  const char* name;
  int64_t begin = 0, end = -1;  // nanoseconds; -1: not ended yet
  int64_t memory = 0;           // bytes that were allocated and not freed meanwhile
  int64_t sequence = -1;        // number of the node that the call recorded, or that ran
  int64_t stack = -1;           // which list of frames
  uint32_t tensors = 0;         // bit mask of the arguments that are tensors
  std::vector<Input> inputs{};
  std::vector<TensorNote> result{};
};

struct Frame {
  Owned code;
  int line;
};

struct Options {
  bool shapes = false, memory = false, stacks = false;
};

int64_t now() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

int64_t live_bytes() { return allocator_detail::thread_cache.live.load(std::memory_order_relaxed); }

TensorNote note_of(const Tensor& t) {
  return {t.sizes().to_sizes(), t.strides().to_sizes(), t.dtype()};
}

Input input_of(const Value& v) {
  Input out;
  if (v.is<Tensor>()) {
    out.kind = Input::kTensor;
    out.tensors.push_back(note_of(v.as<Tensor>()));
  } else if (v.is<std::vector<Tensor>>()) {
    out.kind = Input::kTensors;
    for (const Tensor& t : v.as<std::vector<Tensor>>()) {
      out.tensors.push_back(t.defined() ? note_of(t) : TensorNote{});
    }
  } else if (!v.is<Ref<Generator>>()) {
    out.value = v;
  }
  return out;
}

std::vector<Frame> frames_of_thread() {
  std::vector<Frame> out;
  Owned frame(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
    out.push_back(
        {Owned(reinterpret_cast<PyObject*>(PyFrame_GetCode(f))), PyFrame_GetLineNumber(f)});
    frame = Owned(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return out;
}

// Recorder keeps the events of a thread, in the order in which they begin, while anybody records.
// Recordings may overlap: each has what began in its time.
class Recorder final : public CallObserver {
 public:
  bool running() const { return !recordings_.empty(); }

  int64_t start(Options options) {
    if (running()) {
      note_memory();
    } else {
      ++session_;
      left_ = live_bytes();
    }
    recordings_.push_back({++last_, options, events_.size()});
    gather_options();
    pause(false);
    return last_;
  }
  void pause(bool on) { set_call_observer(on ? nullptr : this); }
  // newest gives the number of the recording that began last.
  int64_t newest() const { return recordings_.back().number; }

  // stop ends a recording and gives its events; those that still run end with it.
  std::vector<Event> stop(int64_t number) {
    auto place = std::find_if(recordings_.begin(), recordings_.end(),
                              [&](const Recording& r) { return r.number == number; });
    FACULA_CHECK(place != recordings_.end(), kRuntime,
                 "Can't stop a profiler that is not running in this thread");
    note_memory();
    int64_t time = now();
    std::vector<Event> out(events_.begin() + static_cast<ptrdiff_t>(place->first), events_.end());
    for (size_t i : open_) {
      if (i >= place->first) close(out[i - place->first], time);
    }
    recordings_.erase(place);
    gather_options();
    if (!running()) {
      set_call_observer(nullptr);
      open_.clear();
      events_.clear();
    }
    return out;
  }
  // The frames that stacks of events stand for; they go when the last recording has ended.
  const std::vector<std::vector<Frame>>& stacks() const { return stacks_; }
  void drop_stacks() {
    if (!running()) stacks_.clear();
  }

  // A pass that began while somebody recorded goes on calling after the last recording has ended.
  uint64_t begin_call(const OpInfo& op, std::span<const Value> args) override {
    if (!running()) return kNothing;
    Event& e = add(Kind::kOperator, op.name);
    for (size_t i = 0; i < args.size() && i < 32; ++i) {
      e.tensors |= uint32_t{args[i].is<Tensor>()} << i;
    }
    if (options_.shapes) {
      for (const Value& v : args) e.inputs.push_back(input_of(v));
    }
    return started(e);
  }
  uint64_t begin_node(NodePart part, const char* name, uint64_t sequence) override {
    constexpr Kind kKinds[] = {Kind::kEvaluate, Kind::kNode, Kind::kFunction};
    if (!running()) return kNothing;
    Event& e = add(kKinds[part], lasting(name));
    e.sequence = static_cast<int64_t>(sequence);
    return started(e);
  }
  uint64_t begin_block(const char* name, bool is_operator) {
    return started(add(is_operator ? Kind::kOperator : Kind::kBlock, lasting(name)));
  }
  void end(uint64_t token, const Values* results) noexcept override {
    int64_t time = now();
    size_t index = token & 0xffffffff;
    if (!running() || token >> 32 != session_) return;  // kNothing, or recordings that have ended
    auto place = std::find(open_.rbegin(), open_.rend(), index);
    if (place == open_.rend()) return;
    open_.erase(std::next(place).base());
    Event& e = events_[index];
    close(e, time);
    if (results) note_results(e, *results);
    if (open_.empty()) left_ = live_bytes();
  }

 private:
  static constexpr uint64_t kNothing = 0;
  struct Recording {
    int64_t number;
    Options options;
    size_t first;  // of its events
  };

  void gather_options() {
    options_ = {};
    for (const Recording& r : recordings_) {
      options_.shapes |= r.options.shapes;
      options_.memory |= r.options.memory;
      options_.stacks |= r.options.stacks;
    }
  }
  const char* lasting(const char* name) { return names_.emplace(name).first->c_str(); }

  // Memory that changed hands between two events of the outermost level is an event of its own.
  void note_memory() {
    if (!options_.memory || !open_.empty()) return;
    int64_t live = live_bytes();
    if (live == left_) return;
    int64_t time = now();
    events_.push_back({Kind::kMemory, "[memory]", time, time, live - left_});
    left_ = live;
  }
  Event& add(Kind kind, const char* name) {
    note_memory();
    // First, as taking frames may collect garbage, and that call operators.
    int64_t stack = options_.stacks ? stack_of(kind) : -1;
    events_.push_back({.kind = kind, .name = name, .stack = stack});
    return events_.back();
  }
  // Operators inside of others have their stack; those of backward passes have none.
  int64_t stack_of(Kind kind) {
    if (kind == Kind::kEvaluate || kind == Kind::kNode) return -1;
    if (!open_.empty()) {
      const Event& outer = events_[open_.back()];
      if (outer.kind != Kind::kBlock && outer.kind != Kind::kFunction) return outer.stack;
    }
    GilLock lock;
    stacks_.push_back(frames_of_thread());
    return static_cast<int64_t>(stacks_.size()) - 1;
  }
  uint64_t started(Event& e) {
    size_t index = events_.size() - 1;
    open_.push_back(index);
    e.memory = live_bytes();
    e.begin = now();
    return session_ << 32 | index;
  }
  void close(Event& e, int64_t time) {
    e.end = time;
    e.memory = live_bytes() - e.memory;
  }
  void note_results(Event& e, const Values& results) {
    for (const Value& v : results) {
      if (!v.is<Tensor>()) continue;
      const Tensor& t = v.as<Tensor>();
      if (e.sequence < 0 && t->grad_fn) e.sequence = static_cast<int64_t>(t->grad_fn->sequence);
      if (options_.shapes && e.result.empty()) e.result.push_back(note_of(t));
    }
  }

  Options options_{};
  std::vector<Recording> recordings_;
  int64_t last_ = 0;
  uint64_t session_ = 0;  // counts the times without a recording
  int64_t left_ = 0;      // bytes in use when the last outermost event had ended
  std::vector<Event> events_;
  std::vector<size_t> open_;  // events that have not ended
  std::vector<std::vector<Frame>> stacks_;
  std::unordered_set<std::string> names_;
};

// RecorderOfThread leaves a recorder that is still running to the process: its stacks are objects
// of Python, which an ending thread cannot give up.
struct RecorderOfThread {
  Recorder* recorder = nullptr;
  ~RecorderOfThread() {
    if (recorder && !recorder->running()) delete recorder;
  }
};
thread_local RecorderOfThread of_thread;

Recorder* running_recorder() {
  Recorder* r = of_thread.recorder;
  return r && r->running() ? r : nullptr;
}

// ---- to Python

Owned ints_object(const Sizes& sizes) { return own(boxed_object(Value(IntList(sizes)))); }

// (sizes, strides, dtype)
Owned note_object(const TensorNote& n) {
  Owned sizes = ints_object(n.sizes), strides = ints_object(n.strides);
  return own(PyTuple_Pack(3, sizes.get(), strides.get(), dtype_object(n.dtype)));
}

Owned notes_object(const std::vector<TensorNote>& notes) {
  Owned out = own(PyList_New(0));
  for (const TensorNote& n : notes) check(PyList_Append(out.get(), note_object(n).get()));
  return out;
}

// (kind, what): 0 and a value, 1 and a tensor's note, 2 and a list of notes.
Owned input_object(const Input& in) {
  Owned what = in.kind == Input::kValue    ? own(boxed_object(in.value))
               : in.kind == Input::kTensor ? note_object(in.tensors[0])
                                           : notes_object(in.tensors);
  return own(Py_BuildValue("(iO)", static_cast<int>(in.kind), what.get()));
}

Owned stack_object(const std::vector<Frame>& frames) {
  Owned out = own(PyList_New(0));
  for (const Frame& f : frames) {
    auto* code = reinterpret_cast<PyCodeObject*>(f.code.get());
    Owned text = own(PyUnicode_FromFormat("%U(%d): %U", code->co_filename, f.line, code->co_name));
    check(PyList_Append(out.get(), text.get()));
  }
  return out;
}

// (kind, name, begin, end, memory, sequence, tensors, inputs, results, stack)
Owned event_object(const Event& e, PyObject* stacks) {
  Owned inputs = own(PyList_New(0));
  for (const Input& in : e.inputs) check(PyList_Append(inputs.get(), input_object(in).get()));
  Owned results = notes_object(e.result);
  PyObject* stack = e.stack < 0 ? Py_None : PyList_GetItem(stacks, e.stack);
  return own(Py_BuildValue("(isLLLLIOOO)", static_cast<int>(e.kind), e.name,
                           static_cast<long long>(e.begin), static_cast<long long>(e.end),
                           static_cast<long long>(e.memory), static_cast<long long>(e.sequence),
                           e.tensors, inputs.get(), results.get(), stack));
}

// _profiler_start(shapes, memory, stacks) begins to record in this thread, and gives a number.
PyObject* profiler_start(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 3, kType, "_profiler_start() takes 3 arguments");
    if (!of_thread.recorder) of_thread.recorder = new Recorder;
    bool wanted[3];
    for (int i = 0; i < 3; ++i) {
      int on = PyObject_IsTrue(args[i]);
      check(on);
      wanted[i] = on;
    }
    return PyLong_FromLongLong(of_thread.recorder->start({wanted[0], wanted[1], wanted[2]}));
  });
}

// _profiler_stop(number) ends it (None: the last one) and gives the list of events, by their
// beginning.
PyObject* profiler_stop(PyObject*, PyObject* number) {
  return guarded([&]() -> PyObject* {
    Recorder* recorder = running_recorder();
    FACULA_CHECK(recorder, kRuntime, "Can't stop a profiler that is not running in this thread");
    std::vector<Event> events =
        recorder->stop(number == Py_None ? recorder->newest() : to_int64(number, "_profiler_stop"));
    Owned texts = own(PyList_New(0)), out = own(PyList_New(0));
    // By number: making objects may collect garbage, and what that calls may add stacks.
    for (size_t i = 0; i < recorder->stacks().size(); ++i) {
      const std::vector<Frame> stack = recorder->stacks()[i];
      check(PyList_Append(texts.get(), stack_object(stack).get()));
    }
    for (const Event& e : events) {
      check(PyList_Append(out.get(), event_object(e, texts.get()).get()));
    }
    recorder->drop_stacks();
    return out.release();
  });
}

// _profiler_pause(on) makes a running recorder skip what comes, or go on.
PyObject* profiler_pause(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    if (Recorder* recorder = running_recorder()) recorder->pause(on == Py_True);
    Py_RETURN_NONE;
  });
}

PyObject* profiler_running(PyObject*, PyObject*) {
  return PyBool_FromLong(call_observer() && running_recorder());
}

// _profiler_begin(name, is_operator) begins a block and gives its token, None where nobody records.
PyObject* profiler_begin(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2 && PyUnicode_Check(args[0]), kType, "_profiler_begin(name, is_operator)");
    Recorder* recorder = call_observer() ? running_recorder() : nullptr;
    if (!recorder) Py_RETURN_NONE;
    std::string name(utf8(args[0]));
    return PyLong_FromUnsignedLongLong(recorder->begin_block(name.c_str(), args[1] == Py_True));
  });
}

PyObject* profiler_end(PyObject*, PyObject* token) {
  return guarded([&]() -> PyObject* {
    Recorder* recorder = running_recorder();
    if (recorder && token != Py_None) recorder->end(PyLong_AsUnsignedLongLong(token), nullptr);
    if (PyErr_Occurred()) throw PythonError();
    Py_RETURN_NONE;
  });
}

PyMethodDef profiler_functions[] = {
    {"_profiler_start", fast(profiler_start), METH_FASTCALL, nullptr},
    {"_profiler_stop", profiler_stop, METH_O, nullptr},
    {"_profiler_pause", profiler_pause, METH_O, nullptr},
    {"_profiler_running", profiler_running, METH_NOARGS, nullptr},
    {"_profiler_begin", fast(profiler_begin), METH_FASTCALL, nullptr},
    {"_profiler_end", profiler_end, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_trace_recorder(PyObject* module) { add_functions(module, profiler_functions); }

}  // namespace facula::python
