// A202: shared memory that no thread but its writer reads.
#include <fmt/format.h>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

views::SharedUse use_of(const Context& context, bool& complete) {
  views::SharedUse sum;
  for (const views::WitnessBlock& block : context.samples().witnesses) {
    complete = complete && block.complete;
    sum.words += block.shared.words;
    sum.written += block.shared.written;
    sum.own_reads += block.shared.own_reads;
    sum.warp_reads += block.shared.warp_reads;
    sum.block_reads += block.shared.block_reads;
    sum.blind_reads += block.shared.blind_reads;
  }
  return sum;
}

std::string witnesses_text(const Context& context) {
  const std::uint64_t followed = context.samples().witnesses.size();
  return fmt::format("{} {} followed word by word", report::of_blocks_text(followed, context.blocks()),
                     followed == 1 ? "was" : "were");
}

/// Only plain loads and stores of shared memory are followed by word.
bool is_followed(const Context& context) {
  for (const Site* site : context.sites_in(trace::Space::kShared))
    if (!site->is_load() && !site->is_store()) return false;
  return true;
}

}  // namespace

void find_private_shared(const Context& context, Advices& out) {
  std::vector<const Site*> sites = context.sites_in(trace::Space::kShared);
  if (sites.empty() || !is_followed(context)) return;
  bool complete = true;
  const views::SharedUse use = use_of(context, complete);
  if (!complete || use.written == 0 || use.own_reads == 0) return;
  if (use.warp_reads + use.block_reads + use.blind_reads > 0) return;
  report::AdviceReport advice = advice_at(context, sites);
  advice.text =
      fmt::format("every word of shared memory is read by the thread that wrote it alone ({} reads of {} words)",
                  report::grouped(use.own_reads), report::grouped(use.words));
  advice.change =
      "keep the values in registers: shared memory passes nothing between threads here, and its barriers, accesses and "
      "space can go. Arrays that are indexed at run time may stay, as the cheaper kind of local memory";
  advice.unit = "wavefronts";
  for (const Site* site : sites) advice.before += static_cast<double>(site->counts->wavefronts);
  advice.after = 0;
  advice.grade = report::Grade::kModelled;
  advice.reason = witnesses_text(context);
  advice.saves = advice.before;
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
