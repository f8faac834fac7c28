#include "driver/proc_table.h"

#include <cstring>

#define MUSCOPE_DRIVER(symbol, base, since, target) extern "C" void muscope_##target();
#define MUSCOPE_DRIVER_MISSING(symbol, base, since) extern "C" void muscope_##symbol##_missing();
#include "driver/api.inc"
#undef MUSCOPE_DRIVER
#undef MUSCOPE_DRIVER_MISSING

namespace muscope::driver {
namespace {

struct Row {
  const char* base;
  int since;
  void (*function)();
};

#define MUSCOPE_DRIVER(symbol, base, since, target) {#base, since, muscope_##target},
#define MUSCOPE_DRIVER_MISSING(symbol, base, since) {#base, since, muscope_##symbol##_missing},
constexpr Row kRows[] = {
#include "driver/api.inc"
};

}  // namespace

void* function_of(const char* symbol, int version, bool& newer) {
  const Row* best = nullptr;
  newer = false;
  for (const Row& row : kRows) {
    if (row.since == 0 || std::strcmp(row.base, symbol) != 0) continue;
    if (row.since > version) {
      newer = true;
    } else if (best == nullptr || row.since > best->since) {
      best = &row;
    }
  }
  return best ? reinterpret_cast<void*>(best->function) : nullptr;
}

}  // namespace muscope::driver
