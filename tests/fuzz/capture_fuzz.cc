// links: verify report
// corpus: tests/fuzz/capture_seeds/*
//
// Captures of Nsight Compute: whatever the text, launches that can be compared and printed, or a diagnostic.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "verify/compare.h"
#include "verify/verify_text.h"

namespace {

muscope::report::Report a_report() {
  muscope::report::Report report;
  report.gpu.cc_major = 9;
  for (const char* kernel : {"copy(float*, const float*, int)", "void tiled<float, (int)16>(float*)", "copy(int*)"}) {
    muscope::report::LaunchReport launch;
    launch.index = static_cast<std::uint32_t>(report.launches.size());
    launch.kernel = kernel;
    launch.mangled = "_Z4copyPi";
    launch.grid = launch.block = {64, 1, 1};
    launch.metrics["smsp__inst_executed.sum"].value = std::uint64_t{1000};
    launch.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"].value = std::uint64_t{77};
    report.launches.push_back(std::move(launch));
  }
  return report;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muscope;
  static const report::Report report = a_report();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const verify::Capture capture = verify::read_capture(text, "fuzz.csv", verify::comparable);
    for (const verify::CaptureLaunch& launch : capture.launches) {
      if (launch.process >= capture.processes.size()) std::abort();
      for (const verify::CaptureValue& value : launch.values)
        if (value.metric >= capture.metrics.size()) std::abort();
    }
    const verify::Comparison comparison = verify::compare(report, capture, "fuzz.csv");
    const std::size_t paired = comparison.matching.pairs.size();
    if (paired + comparison.matching.report_only.size() != report.launches.size()) std::abort();
    if (paired + comparison.matching.capture_only.size() != capture.launches.size()) std::abort();
    verify::to_text(comparison, report, capture, {});
    verify::to_json(comparison, report, capture);
  } catch (const Error&) {
  }
  return 0;
}
