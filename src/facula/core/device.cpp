// Names of devices.
#include "facula/core/device.h"

#include <charconv>

#include "facula/base/error.h"

namespace facula {
namespace {

struct Name {
  std::string_view text;
  DeviceType type;
};
constexpr Name kDeviceNames[] = {
    {"cpu", DeviceType::kCpu}, {"meta", DeviceType::kMeta}, {"cuda", DeviceType::kCuda}};

}  // namespace

Device parse_device(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  for (const Name& name : kDeviceNames) {
    if (kind != name.text) continue;
    Device device{name.type, -1};
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
  raise_error(ErrorKind::kRuntime,
              "Expected one of cpu, cuda, meta device type at start of device string: ", text);
}

std::string device_text(Device d) {
  std::string text(kDeviceNames[static_cast<int>(d.type)].text);
  if (d.index >= 0) text += str(":", static_cast<int>(d.index));
  return text;
}

}  // namespace facula
