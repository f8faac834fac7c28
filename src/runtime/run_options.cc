#include "runtime/run_options.h"

#include <utility>

#include "runtime/control.h"
#include "runtime/environment.h"

namespace muscope::runtime {
namespace {

/// At commas; "\\," is a comma within a part.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  const auto end_part = [&] {
    if (!part.empty()) parts.push_back(std::exchange(part, {}));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      part += text[++i];
    } else if (text[i] == ',') {
      end_part();
    } else {
      part += text[i];
    }
  }
  end_part();
  return parts;
}

CountFrom count_from_of(std::string_view text) {
  return text == "ptx" ? CountFrom::kPtx : text == "sass" ? CountFrom::kMachine : CountFrom::kAuto;
}

}  // namespace

bool RunOptions::selects(std::uint32_t index, std::string_view kernel) const {
  return launches.contains(index) && (!kernel_ || kernel_->matches(std::string(kernel)));
}

bool RunOptions::emits(std::string_view what) const {
  for (const std::string& e : emit) {
    if (e == what) return true;
  }
  return false;
}

RunOptions RunOptions::from_environment() {
  RunOptions o;
  if (std::string gpu = environment_value(kEnvGpu); !gpu.empty()) o.gpu = std::move(gpu);
  parse_number(environment_value(kEnvThreads), o.threads);
  parse_number(environment_value(kEnvMaxSteps), o.max_steps);
  if (int n = 0; parse_number(environment_value(kEnvDevices), n) && n > 0) o.devices = n;
  parse_launch_range(environment_value(kEnvLaunches), o.launches);
  o.profile_from_start = environment_value(kEnvProfileFromStart) != "off";
  o.nvtx_ranges = split_list(environment_value(kEnvNvtx));
  for (std::string& range : o.nvtx_ranges)
    if (range.size() > 1 && range.back() == '/') range.pop_back();  // so ncu writes pushed ranges
  o.count_from = count_from_of(environment_value(kEnvCountFrom));
  o.run_dir = environment_value(kEnvRunDir);
  o.emit = split_list(environment_value(kEnvEmit));
  o.emit_dir = environment_value(kEnvEmitDir);
  if (o.emit_dir.empty()) o.emit.clear();
  std::string why;
  o.kernel_ = KernelPattern::compile(environment_value(kEnvKernel), why);  // null selects every kernel
  return o;
}

const RunOptions& RunOptions::of_process() {
  static const RunOptions* const options = new RunOptions(from_environment());  // outlives exit handlers
  return *options;
}

}  // namespace muscope::runtime
