// A301: constant memory read at different words by the lanes of a warp, which are served one by one. A302: global
// memory that every lane reads at one address and nobody writes, which constant memory serves better.
#include <fmt/format.h>

#include <algorithm>

#include "advice/advice.h"
#include "advice/replay.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr std::uint64_t kConstantBytes = 65536;

/// As global memory would be addressed: the bank's start becomes an aligned array.
bool as_is(const views::AccessPattern&, Lanes&) { return true; }

}  // namespace

void find_divergent_constant(const Context& context, Advices& out) {
  for (const Site* site : context.sites_in(trace::Space::kConst)) {
    const std::uint64_t before = site->counts->requests, loads = site->counts->executed;
    if (before <= loads || static_cast<double>(before - loads) < kWorthChanging * static_cast<double>(before)) continue;
    report::AdviceReport advice = advice_at(context, {site});
    advice.text = fmt::format(
        "lanes read different words of constant memory, which are served one by one: {} requests "
        "per load",
        report::average_text(before, loads));
    const auto sectors = replay(*site, as_is, trace::Space::kGlobal);
    advice.change =
        "read it from global memory through the read-only path (const __restrict__, __ldg), or from shared memory";
    if (sectors)
      advice.change += fmt::format(": {} {} per load", report::average_text(sectors->sum, loads),
                                   sectors->sum == loads ? "sector" : "sectors");
    advice.unit = "constant requests";
    advice.before = static_cast<double>(before);
    advice.after = 0;
    grade_replay(context, advice, sectors && sectors->exact, "the same indices into global memory");
    advice.saves = static_cast<double>(before) - static_cast<double>(sectors ? sectors->sum : loads) / 4;
    advice.picture = picture_of(*site, as_is, trace::Space::kGlobal);
    if (before < 2 * loads) advice.bound = "few lanes differ: the gain is small";
    out.push_back(std::move(advice));
  }
}

void find_uniform_global(const Context& context, Advices& out) {
  for (const Array& array : context.arrays()) {
    if (array.space != trace::Space::kGlobal || array.written() || array.high - array.low > kConstantBytes) continue;
    std::uint64_t requests = 0, uniform = 0, lanes = 0;
    std::vector<const Site*> sites;
    for (const Site* site : array.sites) {
      requests += site->samples->requests;
      lanes += site->counts->lanes;
      for (const views::AccessPattern& p : site->samples->patterns)
        if (!p.scattered() && p.stride == 0) uniform += p.count;
      sites.push_back(site);
    }
    // One lane alone is no broadcast; a warp that reads once what no other warp reads has nothing to cache.
    if (uniform != requests || lanes < 16 * requests || requests < 4 * context.blocks()) continue;
    report::AdviceReport advice = advice_at(context, sites);
    advice.text = fmt::format("all lanes of a warp read one address of these {}, which this launch does not write",
                              report::format_bytes(array.high - array.low));
    advice.change =
        "put it into __constant__ memory or pass it by value as a kernel parameter: a constant read is an operand of "
        "the instruction that uses it, and takes no sector";
    advice.unit = "sectors";
    for (const Site* site : sites) advice.before += static_cast<double>(site->counts->sectors);
    advice.after = 0;
    grade_replay(context, advice, true, "uniform reads");
    advice.bound = "one constant request for each read instead; a gain in instructions and latency, not in bytes";
    advice.saves = advice.before / 4;
    out.push_back(std::move(advice));
  }
}

}  // namespace muscope::advice
