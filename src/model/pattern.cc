#include "model/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/atomic_passes.h"
#include "model/constant.h"
#include "model/local.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

constexpr std::pair<PatternSpace, std::string_view> kSpaces[] = {{PatternSpace::kGlobal, "global"},
                                                                 {PatternSpace::kShared, "shared"},
                                                                 {PatternSpace::kConst, "const"},
                                                                 {PatternSpace::kLocal, "local"}};
constexpr std::pair<PatternOp, std::string_view> kOps[] = {{PatternOp::kLoad, "LD"},      {PatternOp::kLoadCg, "LD_CG"},
                                                           {PatternOp::kLoadNc, "LD_NC"}, {PatternOp::kStore, "ST"},
                                                           {PatternOp::kRed, "RED"},      {PatternOp::kAtom, "ATOM"}};

bool is_atomic(PatternOp op) { return op == PatternOp::kRed || op == PatternOp::kAtom; }
bool is_cas_loop(const Pattern& p) { return p.space == PatternSpace::kShared && is_atomic(p.op) && p.bytes > 4; }

SharedOp shared_op(PatternOp op) {
  return is_atomic(op) ? SharedOp::kAtomic : op == PatternOp::kStore ? SharedOp::kStore : SharedOp::kLoad;
}

/// The set hash was read off an H200; another chip of the same compute capability is taken to have it.
bool has_known_t_stage(const arch::GpuSpec& gpu) { return gpu.cc_major == 9 && gpu.cc_minor == 0; }

void count_global(const arch::GpuSpec& gpu, const Pattern& pattern, bool l1_on, PatternCounts& counts) {
  const LaneAddresses lanes = pattern.lanes();
  const SectorCounts sectors = is_atomic(pattern.op) ? count_atomic_sectors(lanes) : count_sectors(lanes);
  // ld.nc goes through the texture path on cc 3.5 to 6.x, ld.cg past the L1: both fetch sectors.
  const bool cached = l1_on && pattern.op == PatternOp::kLoad;
  counts.transactions = count_transactions(gpu.global, lanes, pattern.kind(), cached);
  counts.requests = counts.transactions->requests;
  counts.sectors = sectors.sectors;
  counts.ideal_sectors = sectors.ideal;
  counts.lines = sectors.lines;
  if (gpu.cc_major >= 1 && gpu.cc_major < 7)
    counts.sectors = static_cast<std::uint32_t>(counts.transactions->bytes_moved / 32);
  if (has_known_t_stage(gpu))
    counts.t_wavefronts = is_atomic(pattern.op) ? count_atomic_passes(lanes).wavefronts : count_t_wavefronts(lanes);
}

void count_shared(const arch::GpuSpec& gpu, const Pattern& pattern, PatternCounts& counts) {
  counts.requests = pattern.mask.none() ? 0 : 1;
  if (is_cas_loop(pattern)) {
    const CasLoopCounts loop = count_cas_loop(pattern.lanes());
    counts.cas_loop = loop;
    counts.requests = 2 * loop.rounds;
    counts.wavefronts = loop.atom_wavefronts;
    counts.ideal_wavefronts = loop.atom_wavefronts;
    counts.bank_conflicts = loop.load_wavefronts - loop.load_ideal;
    return;
  }
  const BankCounts banks = count_banks(gpu.shared, pattern.lanes(), shared_op(pattern.op));
  counts.wavefronts = banks.wavefronts;
  counts.ideal_wavefronts = banks.ideal;
  counts.bank_conflicts = banks.conflicts();
}

/// Passes of one shared group: the k-th word of a bank goes into pass k.
std::uint32_t group_passes(const Pattern& p, unsigned first, unsigned end, std::uint32_t done,
                           std::vector<std::uint32_t>& pass) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> words_of;  // by bank
  std::map<std::uint64_t, std::uint32_t> lanes_of_bank;
  std::uint32_t most = 0;
  for (unsigned lane = first; lane < end; ++lane) {
    if (!p.mask.test(lane)) continue;
    std::uint32_t own = 0;
    const std::uint64_t begin = p.addresses[lane] / kBankBytes, last = (p.addresses[lane] + p.bytes - 1) / kBankBytes;
    for (std::uint64_t word = begin; word <= last; ++word) {
      if (is_atomic(p.op)) {
        if (word == begin) own = ++lanes_of_bank[word % kBanks];
        continue;
      }
      std::vector<std::uint64_t>& words = words_of[word % kBanks];
      auto found = std::find(words.begin(), words.end(), word);
      if (found == words.end()) found = words.insert(words.end(), word);
      own = std::max(own, static_cast<std::uint32_t>(found - words.begin()) + 1);
    }
    pass[lane] = done + own;
    most = std::max(most, own);
  }
  return done + most;
}

}  // namespace

std::string_view name_of(PatternSpace space) { return kSpaces[static_cast<std::size_t>(space)].second; }
std::string_view name_of(PatternOp op) { return kOps[static_cast<std::size_t>(op)].second; }

std::optional<PatternSpace> space_of(std::string_view name) {
  for (const auto& [space, text] : kSpaces)
    if (name == text || (name == "constant" && space == PatternSpace::kConst)) return space;
  return std::nullopt;
}

std::optional<PatternOp> op_of(std::string_view name) {
  std::string upper;
  for (const char c : name.substr(0, 16)) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const auto& [op, text] : kOps)
    if (upper == text) return op;
  return std::nullopt;
}

trace::Kind Pattern::kind() const {
  switch (op) {
    case PatternOp::kStore:
      return trace::Kind::kStore;
    case PatternOp::kRed:
      return trace::Kind::kRed;
    case PatternOp::kAtom:
      return trace::Kind::kAtom;
    default:
      return trace::Kind::kLoad;
  }
}

std::string why_invalid(const Pattern& p) {
  if (p.bytes == 0 || p.bytes > 32 || !std::has_single_bit(p.bytes))
    return fmt::format("an access has 1, 2, 4, 8, 16 or 32 bytes per lane, not {}", p.bytes);
  const auto no = [&] { return fmt::format("{} memory has no {}", name_of(p.space), name_of(p.op)); };
  if (is_atomic(p.op)) {
    if (p.space == PatternSpace::kConst || p.space == PatternSpace::kLocal) return no();
    if (p.bytes < 4 || p.bytes > 8)
      return fmt::format("{} is counted for 4 and 8 bytes, not {}", name_of(p.op), p.bytes);
  }
  if ((p.op == PatternOp::kLoadCg || p.op == PatternOp::kLoadNc) && p.space != PatternSpace::kGlobal) return no();
  if (p.space == PatternSpace::kConst) {
    if (p.op != PatternOp::kLoad) return no();
    if (p.bytes > 8) return "an indexed constant load has at most 8 bytes";
  }
  if (p.space != PatternSpace::kGlobal && p.bytes > 16)
    return fmt::format("{} accesses have at most 16 bytes", name_of(p.space));
  return {};
}

std::vector<unsigned> misaligned_lanes(const Pattern& pattern) {
  std::vector<unsigned> lanes;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    if (pattern.addresses[lane] % pattern.bytes != 0) lanes.push_back(lane);
  });
  return lanes;
}

PatternCounts count_pattern(const arch::GpuSpec& gpu, const Pattern& pattern, bool l1_on) {
  PatternCounts counts;
  counts.lanes = pattern.mask.count();
  counts.bytes_asked = std::uint64_t{counts.lanes} * pattern.bytes;
  switch (pattern.space) {
    case PatternSpace::kGlobal:
      count_global(gpu, pattern, l1_on, counts);
      break;
    case PatternSpace::kShared:
      count_shared(gpu, pattern, counts);
      break;
    case PatternSpace::kConst: {
      const ConstantCounts constant = count_constant(pattern.lanes());
      counts.constant_requests = constant.requests;
      counts.constant_lines = constant.lines;
      break;
    }
    case PatternSpace::kLocal: {
      const SectorCounts local = count_local_sectors(pattern.lanes());
      counts.requests = pattern.mask.none() ? 0 : 1;
      counts.sectors = local.sectors;
      counts.ideal_sectors = local.ideal;
      counts.lines = local.lines;
      break;
    }
  }
  return counts;
}

unsigned group_lanes(const Pattern& pattern) {
  if (is_atomic(pattern.op)) return kGroupLanes;
  const unsigned group = lanes_per_bank_group(pattern.bytes);
  return pattern.op != PatternOp::kStore && group < kGroupLanes && merges_pairs(pattern.lanes()) ? group * 2 : group;
}

std::vector<std::uint32_t> passes_of(const arch::GpuSpec& gpu, const Pattern& p) {
  const auto lanes = static_cast<unsigned>(p.addresses.size());
  std::vector<std::uint32_t> pass(lanes, 0);
  if (p.space == PatternSpace::kShared) {
    std::uint32_t done = 0;
    const unsigned group = group_lanes(p);
    for (unsigned first = 0; first < lanes; first += group)
      done = group_passes(p, first, std::min(first + group, lanes), done, pass);
    return pass;
  }
  std::map<std::uint64_t, std::uint32_t> unit_pass;
  std::array<std::uint32_t, 4> in_set{};
  for_each_lane(p.mask, [&](unsigned lane) {
    std::uint64_t unit = p.addresses[lane] / (p.space == PatternSpace::kConst ? std::max(4u, p.bytes) : 128u);
    if (p.space == PatternSpace::kLocal) unit = p.addresses[lane] / 4;
    const auto [at, fresh] = unit_pass.try_emplace(unit, 0);
    if (fresh && p.space == PatternSpace::kGlobal && has_known_t_stage(gpu)) {
      at->second = ++in_set[t_stage_set(unit)];
    } else if (fresh) {
      at->second = static_cast<std::uint32_t>(unit_pass.size());
    }
    pass[lane] = at->second;
  });
  return pass;
}

}  // namespace muscope::model
