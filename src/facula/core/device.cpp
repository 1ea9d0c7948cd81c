// Names of devices.
#include "facula/core/device.h"

#include <charconv>
#include <iterator>

#include "facula/base/error.h"

namespace facula {
namespace {

// The names of the kinds, in the order of DeviceType.
constexpr std::string_view kDeviceNames[] = {
    "cpu", "meta", "cuda", "ipu", "xpu",  "mkldnn", "opengl", "opencl", "ideep", "hip",
    "ve",  "fpga", "maia", "xla", "lazy", "vulkan", "mps",    "hpu",    "mtia",  "privateuseone"};
static_assert(std::size(kDeviceNames) == static_cast<size_t>(DeviceType::kCount));

std::string known_kinds() {
  std::string text;
  for (std::string_view name : kDeviceNames) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace

Device parse_device(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  for (size_t i = 0; i < std::size(kDeviceNames); ++i) {
    if (kind != kDeviceNames[i]) continue;
    Device device{static_cast<DeviceType>(i), -1};
    if (colon == std::string_view::npos) return device;
    std::string_view digits = text.substr(colon + 1);
    int index = -1;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    bool whole = error == std::errc() && end == digits.data() + digits.size();
    bool leading_zero = digits.size() > 1 && digits[0] == '0';
    FACULA_CHECK(whole && !leading_zero && index >= 0 && index < 128, kRuntime,
                 "Invalid device string: '", text, "'");
    device.index = static_cast<int8_t>(index);
    return device;
  }
  raise_error(ErrorKind::kRuntime, "Expected one of ", known_kinds(),
              " device type at start of device string: ", text);
}

std::string device_text(Device d) {
  std::string text(kDeviceNames[static_cast<int>(d.type)]);
  if (d.index >= 0) text += str(":", static_cast<int>(d.index));
  return text;
}

void fail_no_device(const char* op, Device d) {
  std::string_view kind =
      d.type == DeviceType::kCuda ? "CUDA" : kDeviceNames[static_cast<int>(d.type)];
  fail(ErrorKind::kRuntime, str(op, ": this build of Facula has no ", kind, " device"));
}

}  // namespace facula
