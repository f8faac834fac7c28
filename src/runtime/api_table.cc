#include "runtime/api_table.h"

#include <algorithm>
#include <iterator>

#define MUSCOPE_API(shims, name, target) extern "C" void muscope_##target();
#define MUSCOPE_MISSING(shims, name) extern "C" void muscope_##name##_missing();
#include "runtime/api.inc"
#undef MUSCOPE_API
#undef MUSCOPE_MISSING

namespace muscope::runtime {
namespace {

/// The sonames that have a function, as a set of bits.
enum Shims {
  ONLY11 = 1,
  ONLY12 = 2,
  ONLY13 = 4,
  UNTIL12 = ONLY11 | ONLY12,
  SINCE12 = ONLY12 | ONLY13,
  ALL = UNTIL12 | ONLY13
};

struct Row {
  std::string_view name;
  void (*function)();
  Shims shims;
};

#define MUSCOPE_API(shims, name, target) {#name, muscope_##target, shims},
#define MUSCOPE_MISSING(shims, name) {#name, muscope_##name##_missing, shims},
constexpr Row kRows[] = {
#include "runtime/api.inc"
};

}  // namespace

void* api_function(std::string_view name, int major) {
  const Shims own = major >= 13 ? ONLY13 : major == 12 ? ONLY12 : ONLY11;
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& row) { return row.name == name && (row.shims & own) != 0; });
  return found == std::end(kRows) ? nullptr : reinterpret_cast<void*>(found->function);
}

}  // namespace muscope::runtime
