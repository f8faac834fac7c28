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

enum Shims { BOTH, ONLY12, ONLY13 };

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
  const Shims other = major >= 13 ? ONLY12 : ONLY13;
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& row) { return row.name == name && row.shims != other; });
  return found == std::end(kRows) ? nullptr : reinterpret_cast<void*>(found->function);
}

}  // namespace muscope::runtime
