// A501: atomics of one warp, or of the whole grid, that meet at few addresses.
#include <fmt/format.h>

#include <algorithm>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr double kMeet = 1.5;       ///< lanes per address of a request
constexpr double kHotShare = 0.25;  ///< of all lanes of the launch

std::string histogram_text(const views::AtomicMeetings& m) {
  constexpr const char* kNames[] = {"1", "2", "3-4", "5-8", "9-16", "17-32"};
  std::string text;
  for (std::size_t i = 0; i < m.by_most.size(); ++i)
    if (m.by_most[i] > 0)
      text += fmt::format("{}{}: {:.0f} %", text.empty() ? "" : ", ", kNames[i],
                          100 * static_cast<double>(m.by_most[i]) / static_cast<double>(m.requests));
  return text;
}

}  // namespace

void find_atomic_contention(const Context& context, Advices& out) {
  for (const Site& site : context.sites()) {
    if (!site.is_atomic() || site.samples == nullptr || site.samples->meetings.requests == 0) continue;
    const views::AtomicMeetings& m = site.samples->meetings;
    const bool shared = site.counts->space == trace::Space::kShared;
    const double meet = static_cast<double>(m.lanes) / static_cast<double>(m.addresses);
    const double hot = static_cast<double>(m.hot_lanes) / static_cast<double>(m.lanes);
    const bool many_warps = m.requests >= 8;
    if (meet < kMeet && !(hot >= kHotShare && m.hot_is_one && many_warps)) continue;
    // The hardware adds up ones of equal address at once: lanes that meet cost nothing there.
    if (shared && site.counts->wavefronts <= site.counts->ideal_wavefronts) continue;
    report::AdviceReport advice = advice_at(context, {&site});
    advice.text = fmt::format("{} lanes of a request per address on average (the most on one address, of requests: {})",
                              report::grouped(meet, 1), histogram_text(m));
    if (m.hot_is_one && hot >= kHotShare)
      advice.text += fmt::format("; {:.0f} % of all of the launch go to one address", 100 * hot);
    const std::uint64_t before = shared ? site.counts->wavefronts : site.counts->sectors;
    if (shared) {
      // Additions of one in shared memory are combined by hardware or cost a wavefront a lane; a warp's own combining
      // costs more than it saves for integers.
      advice.change =
          "give each warp (or each lane, by the bank of its number) bins of its own and add them up once per block; do "
          "not combine integers in the warp first, that costs more than it saves";
      advice.unit = "wavefronts";
      advice.after = static_cast<double>(site.counts->ideal_wavefronts);
      advice.grade = report::Grade::kEstimated;
      advice.reason = "no two lanes of a warp at one bank";
    } else {
      if (meet >= 8)
        advice.change =
            "sum the lanes of equal address in the warp first (a segmented sum for sorted keys, __reduce_add_sync for "
            "one "
            "address), and let one lane of each run do the atomic";
      else
        advice.change =
            "gather in shared memory first (privatisation): one histogram per block, added to the global one at the "
            "end";
      advice.unit = "requested updates";
      advice.before = static_cast<double>(m.lanes);
      advice.after = static_cast<double>(m.addresses);
      grade_replay(context, advice, true, "one update for each distinct address of a request");
    }
    if (shared) advice.before = static_cast<double>(before);
    advice.saves = std::max(0.0, advice.before - advice.after);
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
