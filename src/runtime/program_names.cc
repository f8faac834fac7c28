#include "runtime/program_names.h"

#include <atomic>

#include "base/musa_names.h"

namespace muscope::runtime {
namespace {

std::atomic<bool> g_speaks_musa{false};

}  // namespace

void speak_musa() noexcept { g_speaks_musa.store(true, std::memory_order_relaxed); }

bool speaks_musa() noexcept { return g_speaks_musa.load(std::memory_order_relaxed); }

std::string in_program_names(const std::string& text) { return speaks_musa() ? with_musa_names(text) : text; }

}  // namespace muscope::runtime
