// Device: where a tensor's bytes live. Allocators and streams are in device/.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "facula/base/export.h"

namespace facula {

// DeviceType lists the kinds of device; `meta` tensors have shape and type but no data.
enum class DeviceType : uint8_t { kCpu, kMeta, kCuda };

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

// parse_device reads "cpu", "meta" or "cuda:1"; raises RuntimeError on anything else.
FACULA_API Device parse_device(std::string_view text);
// device_text writes a device as parse_device reads it.
FACULA_API std::string device_text(Device d);

}  // namespace facula
