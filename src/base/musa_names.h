// CUDA's names as MUSA spells them, for what MUSA programs are told. `muscope port` has rules for source code; messages
// hold the runtime's and the driver's names only.
#pragma once

#include <string>
#include <string_view>

namespace muscope {

/// A text with musaMalloc for cudaMalloc, MUSA_ERROR_... for CUDA_ERROR_..., muInit for cuInit, MUdevice for CUdevice:
/// whole names of the runtime and the driver. File names (cuda_runtime.h) and the word CUDA stay.
std::string with_musa_names(std::string_view text);

/// A compiler's messages: with_musa_names, except in the lines of source that it quotes ("   12 | code").
std::string messages_with_musa_names(std::string_view text);

}  // namespace muscope
