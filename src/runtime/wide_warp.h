// Findings about kernels on GPUs whose warps are wider than CUDA's, or that hold less shared memory: code/wide_warp.h,
// once for a kernel.
#pragma once

#include <memory>

#include "arch/gpu_spec.h"
#include "code/kernel.h"
#include "views/records.h"

namespace muscope::runtime {

/// Adds them to the record of a launch; nothing on NVIDIA's GPUs.
void add_wide_warp_findings(const arch::GpuSpec& gpu, const std::shared_ptr<const code::Kernel>& kernel,
                            views::LaunchRecord& record);

}  // namespace muscope::runtime
