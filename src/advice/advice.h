// advise(): what to change in a program, from a report and the accesses that were recorded with it. One rule a file,
// listed in registry.cc; each has a page (muscope explain A101) and says what its change would do, found by replaying
// recorded accesses under the change where that is possible.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace muscope::advice {

/// Efficiency below which accesses are worth a word: bytes that the lanes ask for, of the bytes of the sectors.
inline constexpr double kEfficient = 0.8;
/// Least share by which a change must lower what it is about.
inline constexpr double kWorthChanging = 0.05;

class Context;

struct Rule {
  std::string_view code;   ///< "A101"
  std::string_view title;  ///< "neighbouring lanes are a stride apart"
  /// Appends what it has to say about one launch; code and title are filled in by the caller.
  void (*find)(const Context& context, std::vector<report::AdviceReport>& out) = nullptr;
  /// For rules about a whole process: what they say stands with its last launch.
  void (*find_in_run)(const report::Report& report, std::size_t process,
                      std::vector<report::AdviceReport>& out) = nullptr;
};

/// All rules, by code.
const std::vector<Rule>& rules();

/// Fills the `advice` of every launch, best first: by what it saves, then by code and place.
void advise(report::Report& report);

}  // namespace muscope::advice
