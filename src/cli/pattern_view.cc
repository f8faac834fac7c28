#include "cli/pattern_view.h"

#include <fmt/format.h>

#include <map>

namespace muscope::cli {

using model::Pattern;
using model::PatternOp;
using model::PatternSpace;
using report::Grade;

PatternView view_pattern(arch::GpuSpec gpu, Pattern pattern, bool l1_on) {
  PatternView view;
  view.counts = model::count_pattern(gpu, pattern, l1_on);
  view.passes = model::passes_of(gpu, pattern);
  view.misaligned = model::misaligned_lanes(pattern);
  view.l1_on = l1_on;
  view.gpu = std::move(gpu);
  view.pattern = std::move(pattern);
  return view;
}

GradedReason grade_of(const arch::GpuSpec& gpu, const Pattern& p) {
  const bool atomic = p.op == PatternOp::kRed || p.op == PatternOp::kAtom;
  const bool hopper = gpu.cc_major == 9;
  const bool musa = gpu.cc_major == 0;
  if (musa) return {Grade::kEstimated, "Moore Threads publishes no rules for memory accesses"};
  switch (p.space) {
    case PatternSpace::kGlobal:
      if (atomic && gpu.cc_major >= 7)
        return {Grade::kModelled,
                "the rule for atomics gives the H200's sectors in 96 % of probes, one or two too few in the others"};
      switch (gpu.global.confidence) {
        case arch::Confidence::kMeasured:
          return {Grade::kCounted, "the rule gives the H200's counters in every probe"};
        case arch::Confidence::kDocumented:
          return {Grade::kModelled, "documented by NVIDIA, not checked on this GPU"};
        case arch::Confidence::kAssumed:
          break;
      }
      return {Grade::kEstimated, "pieced together: " + gpu.global.source};
    case PatternSpace::kShared:
      if (hopper) return {Grade::kCounted, "the rule gives the H200's counters in every probe"};
      if (p.bytes <= 4 && !atomic && gpu.shared.bank_bytes == 4)
        return {Grade::kModelled, "documented by NVIDIA, not checked on this GPU"};
      return {gpu.cc_major >= 7 ? Grade::kModelled : Grade::kEstimated, gpu.shared.source};
    case PatternSpace::kConst:
      if (hopper && p.bytes <= 4) return {Grade::kCounted, "the rule gives the H200's counters in every probe"};
      return {Grade::kModelled, p.bytes > 4 ? "measured for 4-byte loads only" : "measured on an H200 only"};
    case PatternSpace::kLocal:
      break;
  }
  if (hopper && p.bytes == 4) return {Grade::kCounted, "the rule gives the H200's counters in every probe"};
  return {Grade::kModelled,
          hopper ? "measured for 4-byte slots only" : "documented by NVIDIA, not checked on this GPU"};
}

std::string lane_list(const std::vector<unsigned>& lanes) {
  std::string out;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t end = i + 1;
    while (end < lanes.size() && lanes[end] == lanes[end - 1] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += end - i == 1   ? std::to_string(lanes[i])
           : end - i == 2 ? fmt::format("{}, {}", lanes[i], lanes[i + 1])
                          : fmt::format("{}-{}", lanes[i], lanes[end - 1]);
    i = end;
  }
  return out;
}

namespace {

struct Meeting {
  std::map<std::uint64_t, std::vector<unsigned>> lanes_of_word;
};

/// The words that active lanes first .. end - 1 touch, by bank.
std::map<std::uint64_t, Meeting> meetings(const Pattern& p, unsigned first, unsigned end, bool atomic) {
  std::map<std::uint64_t, Meeting> banks;
  for (unsigned lane = first; lane < end; ++lane) {
    if (!p.mask.test(lane)) continue;
    const std::uint64_t begin = p.addresses[lane] / model::kBankBytes;
    const std::uint64_t last = atomic ? begin : (p.addresses[lane] + p.bytes - 1) / model::kBankBytes;
    for (std::uint64_t word = begin; word <= last; ++word)
      banks[word % model::kBanks].lanes_of_word[word].push_back(lane);
  }
  return banks;
}

std::string shared_collisions(const PatternView& view) {
  const Pattern& p = view.pattern;
  const bool atomic = p.op == PatternOp::kRed || p.op == PatternOp::kAtom;
  const unsigned group = model::group_lanes(p);
  const auto lanes = static_cast<unsigned>(p.addresses.size());
  std::string out;
  for (unsigned first = 0; first < lanes; first += group) {
    const unsigned end = std::min(first + group, lanes);
    const auto banks = meetings(p, first, end, atomic);
    const auto cost = [&](const Meeting& m) {
      std::size_t n = m.lanes_of_word.size();
      if (atomic) {
        n = 0;
        for (const auto& [word, at] : m.lanes_of_word) n += at.size();
      }
      return n;
    };
    std::size_t most = 0, how_many = 0;
    std::uint64_t worst = 0;
    for (const auto& [bank, meeting] : banks) {
      if (cost(meeting) > most) {
        most = cost(meeting);
        worst = bank;
        how_many = 0;
      }
      how_many += cost(meeting) == most;
    }
    if (most <= 1) continue;
    if (!out.empty()) out += '\n';
    const std::string who = group >= lanes ? "" : fmt::format("lanes {}-{}: ", first, end - 1);
    out += fmt::format("{}{}-way in bank {}", who, most, worst);
    if (how_many > 1) out += fmt::format(" and {} other{}", how_many - 1, how_many == 2 ? "" : "s");
    out += ": ";
    std::size_t listed = 0;
    for (const auto& [word, at] : banks.at(worst).lanes_of_word) {
      if (listed++ == 6) {
        out += fmt::format(", and {} more words", banks.at(worst).lanes_of_word.size() - 6);
        break;
      }
      out +=
          fmt::format("{}word {} (lane{} {})", listed == 1 ? "" : ", ", word, at.size() == 1 ? "" : "s", lane_list(at));
    }
    if (out.size() > 4000) break;
  }
  return out;
}

}  // namespace

std::string pattern_collisions(const PatternView& view) {
  if (view.pattern.space == PatternSpace::kShared && !view.counts.cas_loop) return shared_collisions(view);
  return {};
}

}  // namespace muscope::cli
