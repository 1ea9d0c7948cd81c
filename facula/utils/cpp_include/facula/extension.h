// For extensions: C++ functions become Python functions. Arguments and results may be tensors,
// numbers, bools, strings, and lists, options and tuples of these.
//
//   FACULA_EXTENSION(module) { module.def("twice", &twice, "Gives x + x."); }
//
// FACULA_EXTENSION_NAME is the module's name; the build sets it.
#pragma once
#include <Python.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "facula/nn/values.h"

namespace facula::extension {

struct Api {
  int version;
  PyObject* (*wrap)(TensorImpl* tensor);
  TensorImpl* (*tensor_of)(PyObject* object);
  void (*set_exception)();
};

inline const Api& api() {
  static const Api* found = [] {
    // Capsules are looked up by attribute; the package imports the compiled part.
    PyObject* module = PyImport_ImportModule("facula._C");
    PyObject* capsule = module ? PyObject_GetAttrString(module, "_extension_api") : nullptr;
    void* p = capsule ? PyCapsule_GetPointer(capsule, "facula._C._extension_api") : nullptr;
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    return static_cast<const Api*>(p);
  }();
  return *found;
}

// Mismatch says which argument is of another type than the function takes.
struct Mismatch {
  std::string expected;
};

template <class T, class = void>
struct Convert {
  static_assert(!std::is_same_v<T, T>, "extensions: this type has no form in Python");
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_base_of_v<Tensor, T>>> {
  static T from(PyObject* o) {
    if (o == Py_None) return T(Tensor());
    TensorImpl* p = api().tensor_of(o);
    if (!p) throw Mismatch{"a Tensor"};
    return T(Tensor::borrow(p));
  }
  static PyObject* to(T value) {
    if (!value.defined()) Py_RETURN_NONE;
    return api().wrap(value.forget());
  }
};

template <>
struct Convert<bool> {
  static bool from(PyObject* o) {
    if (!PyBool_Check(o)) throw Mismatch{"a bool"};
    return o == Py_True;
  }
  static PyObject* to(bool value) { return PyBool_FromLong(value); }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static T from(PyObject* o) {
    PyObject* number = PyFloat_Check(o) ? nullptr : PyNumber_Index(o);
    int overflow = 0;
    long long value = number ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
    Py_XDECREF(number);
    bool negative = std::is_unsigned_v<T> && value < 0;
    if (!number || overflow || negative || value != static_cast<long long>(static_cast<T>(value))) {
      PyErr_Clear();
      throw Mismatch{"an int that fits"};
    }
    return static_cast<T>(value);
  }
  static PyObject* to(T value) {
    if (std::is_unsigned_v<T>) return PyLong_FromUnsignedLongLong(value);
    return PyLong_FromLongLong(static_cast<long long>(value));
  }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static T from(PyObject* o) {
    double value =
        PyFloat_Check(o) || PyLong_Check(o) || PyIndex_Check(o) ? PyFloat_AsDouble(o) : 0;
    bool is_number = PyFloat_Check(o) || PyLong_Check(o) || PyIndex_Check(o);
    if (!is_number || PyErr_Occurred()) {
      PyErr_Clear();
      throw Mismatch{"a float"};
    }
    return static_cast<T>(value);
  }
  static PyObject* to(T value) { return PyFloat_FromDouble(static_cast<double>(value)); }
};

template <>
struct Convert<std::string> {
  static std::string from(PyObject* o) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &size) : nullptr;
    if (!text) {
      PyErr_Clear();
      throw Mismatch{"a str"};
    }
    return std::string(text, static_cast<size_t>(size));
  }
  static PyObject* to(const std::string& value) {
    return PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
  }
};
template <>
struct Convert<const char*> {
  static PyObject* to(const char* value) { return PyUnicode_FromString(value); }
};

template <class T>
struct Convert<std::optional<T>> {
  static std::optional<T> from(PyObject* o) {
    if (o == Py_None) return std::nullopt;
    return Convert<T>::from(o);
  }
  static PyObject* to(std::optional<T> value) {
    if (!value) Py_RETURN_NONE;
    return Convert<T>::to(std::move(*value));
  }
};

template <class T>
struct Convert<std::vector<T>> {
  static std::vector<T> from(PyObject* o) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) throw Mismatch{"a list or tuple"};
    std::vector<T> out;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
      out.push_back(Convert<T>::from(PySequence_Fast_GET_ITEM(o, i)));
    }
    return out;
  }
  static PyObject* to(std::vector<T> values) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(values.size()));
    for (size_t i = 0; list && i < values.size(); ++i) {
      PyObject* item = Convert<T>::to(std::move(values[i]));
      if (!item) {
        Py_DECREF(list);
        return nullptr;
      }
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), item);
    }
    return list;
  }
};

template <class Tuple>
struct ConvertTuple {
  template <size_t... I>
  static PyObject* items(Tuple& value, std::index_sequence<I...>) {
    PyObject* tuple = PyTuple_New(sizeof...(I));
    bool good = tuple != nullptr;
    auto put = [&](Py_ssize_t at, PyObject* item) {
      if (!item) {
        good = false;
        return;
      }
      PyTuple_SET_ITEM(tuple, at, item);
    };
    if (good) {
      (put(I, good ? Convert<std::tuple_element_t<I, Tuple>>::to(std::move(std::get<I>(value)))
                   : nullptr),
       ...);
    }
    if (good) return tuple;
    Py_XDECREF(tuple);
    return nullptr;
  }
  static PyObject* to(Tuple value) {
    return items(value, std::make_index_sequence<std::tuple_size_v<Tuple>>());
  }
};
template <class... T>
struct Convert<std::tuple<T...>> : ConvertTuple<std::tuple<T...>> {};
template <class A, class B>
struct Convert<std::pair<A, B>> : ConvertTuple<std::pair<A, B>> {};

// Argument names a parameter, and holds its default value where there is one.
struct Argument {
  const char* name;
  PyObject* value = nullptr;
  explicit Argument(const char* n) : name(n) {}
  template <class T>
  Argument operator=(const T& v) const {
    Argument out(name);
    if constexpr (std::is_convertible_v<T, std::string>) {
      out.value = Convert<std::string>::to(v);
    } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
      out.value = Py_NewRef(Py_None);
    } else {
      out.value = Convert<T>::to(v);
    }
    return out;
  }
};

// Function is a C++ function with what its Python form needs.
struct Function {
  std::string name, doc;
  std::vector<Argument> arguments;
  size_t count = 0;
  std::function<PyObject*(const std::vector<PyObject*>&)> call;
  PyMethodDef definition{};

  void note(const char* text) { doc = text; }
  void note(const Argument& argument) { arguments.push_back(argument); }
  template <class T>
  void note(const T&) {}  // policies of other binding libraries

  std::vector<PyObject*> place(PyObject* args, PyObject* kwargs) const {
    size_t given = static_cast<size_t>(PyTuple_GET_SIZE(args));
    std::vector<PyObject*> values(count, nullptr);
    if (given > count) fail("takes ", std::to_string(count), " arguments but more were given");
    for (size_t i = 0; i < given; ++i) values[i] = PyTuple_GET_ITEM(args, i);
    PyObject *key, *value;
    for (Py_ssize_t at = 0; kwargs && PyDict_Next(kwargs, &at, &key, &value);) {
      const char* word = PyUnicode_AsUTF8(key);
      size_t i = 0;
      while (i < arguments.size() && std::string(arguments[i].name) != word) ++i;
      if (i == arguments.size()) fail("got an unexpected keyword argument '", word, "'");
      if (values[i]) fail("got multiple values for argument '", word, "'");
      values[i] = value;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!values[i] && i < arguments.size()) values[i] = arguments[i].value;
      if (!values[i]) fail("is missing argument ", std::to_string(i + 1), "");
    }
    return values;
  }
  [[noreturn]] void fail(const char* a, const std::string& b, const char* c) const {
    throw Mismatch{name + "() " + a + b + c};
  }
};

template <class R, class... A>
std::function<PyObject*(const std::vector<PyObject*>&)> caller(R (*f)(A...), std::string name) {
  return [f, name](const std::vector<PyObject*>& values) {
    auto take = [&]<class T>(std::type_identity<T>, size_t i) {
      try {
        return Convert<T>::from(values[i]);
      } catch (const Mismatch& m) {
        throw Mismatch{name + "(): argument " + std::to_string(i + 1) + " must be " + m.expected +
                       ", not " + Py_TYPE(values[i])->tp_name};
      }
    };
    return [&]<size_t... I>(std::index_sequence<I...>) -> PyObject* {
      std::tuple<std::remove_cvref_t<A>...> arguments{
          take(std::type_identity<std::remove_cvref_t<A>>(), I)...};
      if constexpr (std::is_void_v<R>) {
        f(static_cast<A>(std::get<I>(arguments))...);
        Py_RETURN_NONE;
      } else {
        return Convert<std::remove_cvref_t<R>>::to(f(static_cast<A>(std::get<I>(arguments))...));
      }
    }(std::index_sequence_for<A...>());
  };
}

inline PyObject* run(PyObject* self, PyObject* args, PyObject* kwargs) {
  auto* f = static_cast<Function*>(PyCapsule_GetPointer(self, "facula.extension.function"));
  if (!f) return nullptr;
  try {
    return f->call(f->place(args, kwargs));
  } catch (const Mismatch& m) {
    PyErr_SetString(PyExc_TypeError, m.expected.c_str());
  } catch (...) {
    api().set_exception();
  }
  return nullptr;
}

// Module is what the body of FACULA_EXTENSION fills.
class Module {
 public:
  explicit Module(PyObject* module) : module_(module) {}
  // def adds a function; a text is its docstring, Argument names its parameters.
  template <class R, class... A, class... Notes>
  Module& def(const char* name, R (*f)(A...), const Notes&... notes) {
    auto* function = new Function;  // lives as long as the module, which is never unloaded
    function->name = name;
    function->count = sizeof...(A);
    function->call = caller(f, name);
    (function->note(notes), ...);
    function->definition = {function->name.c_str(),
                            reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)),
                            METH_VARARGS | METH_KEYWORDS, function->doc.c_str()};
    PyObject* capsule = PyCapsule_New(function, "facula.extension.function", nullptr);
    PyObject* made = PyCFunction_NewEx(&function->definition, capsule, nullptr);
    PyModule_AddObjectRef(module_, name, made);
    Py_XDECREF(made);
    Py_XDECREF(capsule);
    return *this;
  }
  // A lambda without captures is a function too.
  template <class F, class... Notes>
    requires requires(F f) { +f; }
  Module& def(const char* name, F f, const Notes&... notes) {
    return def(name, +f, notes...);
  }
  template <class T>
  void attr(const char* name, const T& value) {
    PyObject* made = Convert<T>::to(value);
    PyModule_AddObjectRef(module_, name, made);
    Py_XDECREF(made);
  }
  std::string& doc() { return doc_; }

 private:
  PyObject* module_;
  std::string doc_;
};

inline PyObject* make_module(PyModuleDef* definition, void (*fill)(Module&)) {
  PyObject* module = PyModule_Create(definition);
  if (!module) return nullptr;
  try {
    Module filled(module);
    fill(filled);
    if (!PyErr_Occurred()) return module;
  } catch (...) {
    api().set_exception();
  }
  Py_DECREF(module);
  return nullptr;
}

}  // namespace facula::extension

#define FACULA_EXTENSION_JOIN(a, b) a##b
#define FACULA_EXTENSION_MODULE(name, variable, text)                                           \
  static void facula_extension_fill(::facula::extension::Module&);                              \
  extern "C" __attribute__((visibility("default"))) PyObject* FACULA_EXTENSION_JOIN(PyInit_,    \
                                                                                    name)() {   \
    static PyModuleDef definition = {                                                           \
        PyModuleDef_HEAD_INIT, text, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr}; \
    return ::facula::extension::make_module(&definition, facula_extension_fill);                \
  }                                                                                             \
  static void facula_extension_fill(::facula::extension::Module& variable)
#define FACULA_EXTENSION_TEXT_(name) #name
#define FACULA_EXTENSION_TEXT(name) FACULA_EXTENSION_TEXT_(name)
#define FACULA_EXTENSION_NAMED(name, variable) \
  FACULA_EXTENSION_MODULE(name, variable, FACULA_EXTENSION_TEXT(name))
#define FACULA_EXTENSION(variable) FACULA_EXTENSION_NAMED(FACULA_EXTENSION_NAME, variable)
