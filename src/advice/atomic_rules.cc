// A501: atomics of one warp, or of the whole grid, that meet at few addresses.
#include <fmt/format.h>

#include <algorithm>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr double kMeet = 1.5;               ///< lanes per address of a request
constexpr double kHotShare = 0.25;          ///< of all lanes of the launch
constexpr double kReuse = 2;                ///< updates of a block per address from which bins of its own pay
constexpr std::uint64_t kMostBins = 49152;  ///< bytes of static shared memory that a block can have

/// "1 in 20 % of the requests, 2 in 70 %, 3 to 4 in 10 %"
std::string most_text(const views::AtomicMeetings& m) {
  constexpr const char* kNames[] = {"1 lane",       "2 lanes",       "3 to 4 lanes",
                                    "5 to 8 lanes", "9 to 16 lanes", "17 to 32 lanes"};
  std::string text;
  for (std::size_t i = 0; i < m.by_most.size(); ++i)
    if (m.by_most[i] > 0)
      text += fmt::format("{}{} in {:.0f} %{}", text.empty() ? "" : ", ", kNames[i],
                          100 * static_cast<double>(m.by_most[i]) / static_cast<double>(m.requests),
                          text.empty() ? " of the requests" : "");
  return text;
}

/// Addresses between the lowest and the highest one, of elements as wide as the access.
std::uint64_t addresses_of(const Site& site) {
  return site.bytes() == 0 ? 0 : (site.samples->high - site.samples->low + site.bytes() - 1) / site.bytes();
}

/// All updates of the launch go to one address.
void say_counter(const Context& context, const Site& site, double meet, Advices& out) {
  const views::AtomicMeetings& m = site.samples->meetings;
  report::AdviceReport advice = advice_at(context, {&site});
  advice.text = fmt::format("all {} updates of the launch go to one address, {}", report::grouped(m.lanes),
                            meet >= kMeet ? fmt::format("{} of a request at once on average", report::grouped(meet, 1))
                                          : "one after the other");
  advice.change =
      meet >= kMeet
          ? "sum up in the warp first (__reduce_add_sync; to count, __popc(__ballot_sync(...))), then the warps "
            "of the block in shared memory, and let one thread per block do the atomic"
          : "sum up the warps of the block in shared memory first, and let one thread per block do the atomic";
  advice.unit = "requested updates";
  advice.before = static_cast<double>(m.lanes);
  advice.after = static_cast<double>(std::min(m.requests, context.blocks()));
  advice.grade = report::Grade::kModelled;
  advice.reason = "one update for each block";
  advice.saves = advice.before - advice.after;
  if (advice.after < advice.before) out.push_back(std::move(advice));
}

/// Few bins take many updates, though few of them at once: a histogram in global memory. False: it is none.
bool say_histogram(const Context& context, const Site& site, Advices& out) {
  const views::AtomicMeetings& m = site.samples->meetings;
  const std::uint64_t bins = addresses_of(site), bytes = bins * site.bytes();
  const std::uint64_t blocks = std::max<std::uint64_t>(1, context.blocks());
  const std::uint64_t after = blocks * ((bytes + 31) / 32);
  if (bins < 2 || bytes > kMostBins || static_cast<double>(m.lanes) < kReuse / 2 * static_cast<double>(blocks * bins) ||
      static_cast<double>(after) > kEfficient * static_cast<double>(site.counts->sectors))
    return false;
  report::AdviceReport advice = advice_at(context, {&site});
  advice.text =
      fmt::format("{} updates go to at most {} addresses, {} sectors per request where {} would hold neighbours",
                  report::grouped(m.lanes), report::grouped(bins),
                  report::average_text(site.counts->sectors, site.counts->requests),
                  report::average_text(site.counts->ideal_sectors, site.counts->requests));
  advice.change = fmt::format(
      "privatisation: give each block a histogram in shared memory ({}), and add it to the global one once, by "
      "neighbouring threads, at the end; fewer blocks that do more each have fewer histograms to add",
      report::format_bytes(bytes));
  advice.unit = "sectors";
  advice.before = static_cast<double>(site.counts->sectors);
  advice.after = static_cast<double>(after);
  advice.grade = report::Grade::kModelled;
  advice.reason = "each block adds each bin once, by neighbouring lanes";
  advice.bound = "the updates go to shared memory instead, where lanes that meet at a bank still wait for each other";
  advice.saves = advice.before - advice.after;
  out.push_back(std::move(advice));
  return true;
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
    if (!shared && m.requests >= 8 && addresses_of(site) == 1) {
      say_counter(context, site, meet, out);
      continue;
    }
    if (!shared && meet < 8 && say_histogram(context, site, out)) continue;
    if (meet < kMeet && !(hot >= kHotShare && m.hot_is_one && many_warps)) continue;
    // The hardware adds up ones of equal address at once: lanes that meet cost nothing there.
    if (shared && site.counts->wavefronts <= site.counts->ideal_wavefronts) continue;
    report::AdviceReport advice = advice_at(context, {&site});
    advice.text = fmt::format("{} lanes of a request per address on average; at the fullest address meet {}",
                              report::grouped(meet, 1), most_text(m));
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
