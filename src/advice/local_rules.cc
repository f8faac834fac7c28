// A303: local memory because an array is indexed at run time or its address is taken. A304: registers that did not fit.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/rules.h"
#include "model/occupancy.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

std::vector<const Site*> local_sites(const Context& context, bool spills) {
  std::vector<const Site*> found;
  for (const Site* site : context.sites_in(trace::Space::kLocal)) {
    const bool spill = site->counts->local_use == views::LocalUse::kSpill;
    if (spill == spills && site->counts->local_use != views::LocalUse::kSaved) found.push_back(site);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Site* a, const Site* b) { return a->counts->sectors > b->counts->sectors; });
  return found;
}

std::uint64_t sectors_of(const std::vector<const Site*>& sites) {
  std::uint64_t sum = 0;
  for (const Site* site : sites) sum += site->counts->sectors;
  return sum;
}

/// The sites of the line with most sectors first.
void put_worst_line_first(std::vector<const Site*>& sites) {
  std::map<const report::LineReport*, std::uint64_t> by_line;
  for (const Site* site : sites) by_line[site->line] += site->counts->sectors;
  std::stable_sort(sites.begin(), sites.end(),
                   [&](const Site* a, const Site* b) { return by_line[a->line] > by_line[b->line]; });
}

/// "; most of it in line 9: 1,200 of 2,000 sectors"; empty where all is in one line.
std::string worst_line_text(const std::vector<const Site*>& sites) {
  if (sites.empty() || sites.front()->line->at.file.empty()) return {};
  std::uint64_t worst = 0;
  std::set<const report::LineReport*> lines;
  for (const Site* site : sites) {
    lines.insert(site->line);
    if (site->line == sites.front()->line) worst += site->counts->sectors;
  }
  if (lines.size() < 2) return {};
  return fmt::format("; most of it in {}: {} of {} local sectors, by {} lines", lines_text({sites.front()}),
                     report::grouped(worst), report::grouped(sectors_of(sites)), lines.size());
}

/// What gives a thread more registers, below the 255 that it can have.
std::string more_registers_text(const Context& context, std::uint64_t registers) {
  const std::uint64_t threads = context.threads_per_block();
  model::LaunchShape shape;
  shape.threads_per_block = static_cast<int>(threads);
  shape.registers_per_thread = static_cast<int>(registers);
  if (threads > 256 && registers > 0 && model::occupancy(context.gpu(), shape).limit_registers == 1)
    return fmt::format(
        "one block of {} threads with {} registers each already takes most of the SM's registers, so bounds cannot "
        "ask for fewer blocks: make blocks smaller. With __launch_bounds__(256) and launches of 256 threads a thread "
        "can have up to 255 registers; whether that pays is to be measured, occupancy alone does not tell",
        report::grouped(threads), registers);
  return fmt::format(
      "the limit comes from __launch_bounds__ or -maxrregcount: with {} threads per block, {} registers allow {} "
      "threads per SM. Fewer blocks per SM in the bounds give more registers; whether that pays is to be "
      "measured, occupancy alone does not tell",
      threads, registers, registers == 0 ? 0 : 65536 / ((registers + 7) / 8 * 8));
}

}  // namespace

void find_local_arrays(const Context& context, Advices& out) {
  const std::vector<const Site*> sites = local_sites(context, false);
  if (sites.empty()) return;
  const std::uint64_t sectors = sectors_of(sites);
  report::AdviceReport advice = advice_at(context, sites);
  const report::CodeReport& code = context.launch().code;
  std::uint64_t requests = 0, per_thread = 0;
  for (const Site* site : sites) {
    requests += site->counts->requests;
    per_thread += site->counts->lanes * site->bytes();
  }
  const std::uint64_t threads = std::max<std::uint64_t>(1, context.blocks() * context.threads_per_block());
  advice.text = fmt::format(
      "an array in local memory is indexed at run time or its address is taken{}: {} {} per request, "
      "{} moved per thread",
      code.known
          ? fmt::format(" ({} B per thread; {} B of spills)", code.frame_bytes, code.spill_store_bytes.as_double())
          : std::string(),
      report::average_text(sectors, requests), sectors == requests ? "sector" : "sectors",
      bytes_text(per_thread / threads));
  advice.change =
      "unroll the loops that index it so that every index is known when compiling (#pragma unroll); select by "
      "branches instead of an index; put it into shared memory, one column per thread; parameters: "
      "__grid_constant__ or a const reference keeps a structure where it is";
  advice.unit = "local sectors";
  advice.before = static_cast<double>(sectors);
  advice.after = 0;
  advice.grade = report::Grade::kEstimated;
  advice.reason = "if all of it goes to registers";
  advice.bound =
      "local memory is cached in L1: it costs DRAM traffic only where L1 does not hold it. More registers may cost "
      "occupancy";
  advice.saves = advice.before / 4;
  out.push_back(std::move(advice));
}

void find_spills(const Context& context, Advices& out) {
  const report::CodeReport& code = context.launch().code;
  if (!code.known || code.spill_store_bytes.as_double() + code.spill_load_bytes.as_double() == 0) return;
  std::vector<const Site*> sites = local_sites(context, true);
  put_worst_line_first(sites);
  const std::uint64_t sectors = sectors_of(sites);
  report::AdviceReport advice = advice_at(context, sites);
  const std::uint64_t registers = context.count("launch__registers_per_thread");
  advice.text = fmt::format(
      "registers do not suffice: {:.0f} B of spill stores and {:.0f} B of spill loads per thread in the "
      "code, with {} registers per thread",
      code.spill_store_bytes.as_double(), code.spill_load_bytes.as_double(), registers);
  advice.text += worst_line_text(sites);
  if (registers >= 255)
    advice.change =
        "255 registers are all that a thread can have: split the kernel, or keep less alive at once (smaller tiles, "
        "less unrolling)";
  else
    advice.change = more_registers_text(context, registers);
  advice.unit = "local sectors";
  advice.before = static_cast<double>(sectors);
  advice.after = 0;
  advice.grade = report::Grade::kEstimated;
  advice.reason = "if all registers fit";
  if (sectors == 0) advice.bound = "this launch did not execute the spills";
  advice.saves = advice.before / 4;
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
