// Device: where a tensor's bytes live. Allocators and streams are in device/.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "facula/base/export.h"

namespace facula {

// DeviceType lists the kinds of device that programs name; `meta` tensors have shape and type but
// no data. There are allocators for kCpu and kMeta; whoever allocates on another kind is told that
// it is not there.
enum class DeviceType : uint8_t {
  kCpu,
  kMeta,
  kCuda,
  kIpu,
  kXpu,
  kMkldnn,
  kOpenGl,
  kOpenCl,
  kIdeep,
  kHip,
  kVe,
  kFpga,
  kMaia,
  kXla,
  kLazy,
  kVulkan,
  kMps,
  kHpu,
  kMtia,
  kPrivateUse,
  kCount
};

// Device is a kind and an index; -1 means "the current one".
struct Device {
  DeviceType type = DeviceType::kCpu;
  int8_t index = -1;
  bool is_cpu() const { return type == DeviceType::kCpu; }
  bool is_meta() const { return type == DeviceType::kMeta; }
  friend bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
};

inline constexpr Device kCpu{DeviceType::kCpu, -1};
inline constexpr Device kMeta{DeviceType::kMeta, -1};

// parse_device reads the name of a kind with or without an index: "cpu", "meta", "cuda:1". Raises
// RuntimeError on anything else.
FACULA_API Device parse_device(std::string_view text);
// device_text writes a device as parse_device reads it.
FACULA_API std::string device_text(Device d);
// fail_no_device raises RuntimeError: `op` asks for memory on a device of which there is none.
[[noreturn]] FACULA_API FACULA_COLD void fail_no_device(const char* op, Device d);

}  // namespace facula
