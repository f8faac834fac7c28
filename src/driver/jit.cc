#include "driver/jit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace muscope::driver {
namespace {

std::size_t number(const void* value) { return reinterpret_cast<std::uintptr_t>(value) & 0xffffffffu; }

void write(JitLog& log) {
  if (log.buffer == nullptr || log.bytes == 0) return;
  const std::size_t count = std::min(log.text.size(), log.bytes - 1);
  std::memcpy(log.buffer, log.text.data(), count);
  log.buffer[count] = '\0';
  if (log.size_place != nullptr) *log.size_place = reinterpret_cast<void*>(count);
}

}  // namespace

CUresult Jit::read(unsigned count, const CUjit_option* options, void** values) {
  if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    switch (static_cast<int>(options[i])) {
      case CU_JIT_MAX_REGISTERS:
        max_registers_ = static_cast<unsigned>(number(values[i]));
        break;
      case CU_JIT_WALL_TIME:
        wall_time_ = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info_.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.bytes = number(values[i]);
        info_.size_place = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        error_.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.bytes = number(values[i]);
        error_.size_place = &values[i];
        break;
      case CU_JIT_OPTIMIZATION_LEVEL:
        if (number(values[i]) > 4) return CUDA_ERROR_INVALID_VALUE;
        optimization_ = static_cast<int>(number(values[i]));
        break;
      case CU_JIT_GENERATE_LINE_INFO:
        line_info_ = number(values[i]) != 0;
        break;
      default:  // no effect on what is emulated, or on what the chosen GPU is
        if (static_cast<unsigned>(options[i]) >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

std::string Jit::ptxas_options() const {
  std::string out;
  if (max_registers_ != 0) out += fmt::format(" -maxrregcount {}", max_registers_);
  if (optimization_ >= 0 && optimization_ != 4) out += fmt::format(" -O {}", std::min(optimization_, 3));
  if (line_info_) out += " -lineinfo";
  return out.empty() ? out : out.substr(1);
}

void Jit::error(const std::string& line) { error_.text += line + '\n'; }

void Jit::errors(const Error& error) {
  for (const Diagnostic& d : error.diagnostics()) {
    if (d.severity != Severity::kError) continue;
    this->error(d.where.line > 0
                    ? fmt::format("ptxas application ptx input, line {}; error   : {}", d.where.line, d.text)
                    : fmt::format("error   : {}", d.text));
  }
}

void Jit::finish() {
  write(info_);
  write(error_);
  if (wall_time_ != nullptr) {
    const float milliseconds = 0.0f;  // emulated time says nothing
    std::uint32_t bits = 0;
    std::memcpy(&bits, &milliseconds, sizeof bits);
    *wall_time_ = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
  }
}

}  // namespace muscope::driver
