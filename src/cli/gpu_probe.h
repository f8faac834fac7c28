// `muscope gpu s4000 --probe`: a program for owners of a card that prints its properties as a description for --gpu
// FILE.json.
#pragma once

#include <string>

#include "arch/gpu_spec.h"

namespace muscope::cli {

/// Source of a MUSA program (.mu) for a Moore Threads GPU, of a CUDA program (.cu) for others. It prints JSON (schema
/// muscope.gpu/1) that rests on `gpu` and has what musaGetDeviceProperties and musaDeviceGetAttribute say instead, as
/// measured.
std::string probe_source(const arch::GpuSpec& gpu);

}  // namespace muscope::cli
