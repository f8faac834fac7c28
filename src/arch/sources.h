// Where the numbers of this folder come from, each said once, and the function that ties a number to its source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "arch/gpu_spec.h"

namespace muscope::arch {

inline constexpr int kKiB = 1024;

struct Citation {
  Confidence confidence;
  std::string_view text;
};

inline constexpr Citation kOccupancyHeader{Confidence::kDocumented, "cuda_occupancy.h of CUDA 13.0"};
inline constexpr Citation kGuide{Confidence::kDocumented,
                                 "CUDA C++ Programming Guide 13, Compute Capabilities, technical specifications"};
inline constexpr Citation kGuide5x{Confidence::kDocumented,
                                   "CUDA C++ Programming Guide 13, Compute Capability 5.x and 6.x"};
/// Seen as transcribed in public copies of the calculator, not in the guide itself.
inline constexpr Citation kOlderGuide{
    Confidence::kDocumented,
    "CUDA C Programming Guide 4 to 12, technical specifications, and CUDA Occupancy Calculator"};
inline constexpr Citation kProfilingGuide{Confidence::kDocumented, "Nsight Compute Profiling Guide, 2.3.7"};
inline constexpr Citation kSimulator{Confidence::kAssumed,
                                     "Accel-Sim configurations (gpgpu-sim_distribution, commit 667834cf)"};
inline constexpr Citation kMt4g{Confidence::kMeasured, "mt4g sample results (caps-tum/mt4g, commit 4cc55662)"};
inline constexpr Citation kGpuBenches{Confidence::kMeasured,
                                      "gpu-benches results (te42kyfo/gpu-benches, commit 1c36d509)"};
inline constexpr Citation kMarkdewing{Confidence::kMeasured, "latency tables of markdewing/AI_kernels"};
inline constexpr Citation kDeviceQuery{Confidence::kMeasured, "deviceQuery output of such a board"};
inline constexpr Citation kFromClocks{Confidence::kAssumed, "computed: memory clock x 2 x bus width / 8"};
inline constexpr Citation kFromWidth{Confidence::kAssumed, "computed: bytes per cycle and SM x SMs x boost clock"};
inline constexpr Citation kChipsAndCheese{Confidence::kMeasured, "Chips and Cheese, H100 PCIe test system (2023)"};
inline constexpr Citation kSpecsList{Confidence::kAssumed,
                                     "public list of specifications (gpu-specs, commit 4b0c72dd)"};
inline constexpr Citation kMeasuredH200{Confidence::kMeasured, "measured on an H200 (CUDA 13.0, driver 580.159)"};
inline constexpr Citation kCardH200{Confidence::kMeasured,
                                    "cudaDeviceProp read on an H200 (CUDA 13.0, driver 580.159)"};
inline constexpr Citation kH200Datasheet{Confidence::kDocumented, "NVIDIA H200 datasheet"};
inline constexpr Citation kB200Output{Confidence::kMeasured,
                                      "device properties printed on a B200, and markdewing/AI_kernels"};
inline constexpr Citation kVerda{Confidence::kAssumed, "a cloud provider's description (datacrunch, B200 180 GB)"};
inline constexpr Citation kMoorePress{Confidence::kAssumed, "press and product pages"};
inline constexpr Citation kMusaCode{Confidence::kDocumented,
                                    "public MUSA code (tilelang_musa, torch_musa, FlagTree, llama.cpp)"};

inline Sourced number(double value, const Citation& citation, std::string_view note = {}) {
  return Sourced{value, true, citation.confidence, std::string(citation.text), std::string(note)};
}

/// A number measured on another board of the same die or family, which `note` names.
inline Sourced elsewhere(double value, const Citation& citation, std::string_view note) {
  Sourced n = number(value, citation, note);
  n.confidence = Confidence::kAssumed;
  return n;
}

}  // namespace muscope::arch
