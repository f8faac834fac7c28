#include "driver/launch_params.h"

#include <cstdint>

#include "runtime/runtime.h"

namespace muscope::driver {
namespace {

constexpr int kMostExtra = 16;  // pairs; more is no list that ends

CUresult read_extra(void** extra, std::uint8_t*& block, std::size_t& bytes) {
  bool sized = false;
  for (int i = 0; i < kMostExtra; ++i, extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_END) return block != nullptr && sized ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      block = static_cast<std::uint8_t*>(extra[1]);
    } else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr) {
      bytes = *static_cast<const std::size_t*>(extra[1]);
      sized = true;
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult find_parameters(runtime::Runtime& runtime, runtime::KernelEntry& kernel, void** params, void** extra,
                         std::vector<void*>& pointers) {
  const auto code = runtime.modules().load(runtime, kernel, runtime.current_device().index());
  if (!code) return CUDA_ERROR_INVALID_HANDLE;
  const auto& wanted = code->params;
  if (params != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (wanted.empty()) return CUDA_SUCCESS;
  if (params != nullptr) {
    pointers.assign(params, params + wanted.size());
    for (const void* const pointer : pointers)
      if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  }
  if (extra == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::uint8_t* block = nullptr;
  std::size_t bytes = 0;
  if (const CUresult result = read_extra(extra, block, bytes)) return result;
  for (const code::Param& param : wanted) {
    // In machine code offsets count from the start of the constant bank.
    const std::size_t offset = param.offset - wanted.front().offset;
    if (offset + param.bytes > bytes) return CUDA_ERROR_INVALID_VALUE;
    pointers.push_back(block + offset);
  }
  return CUDA_SUCCESS;
}

}  // namespace muscope::driver
