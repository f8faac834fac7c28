#include "code/machine_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "code/kernel.h"

namespace muscope::code {
namespace {

using sass::Opcode;

constexpr std::uint32_t kBytes = 16;  ///< of an instruction
constexpr auto kCode = static_cast<std::int64_t>(kCodeWindow);

bool is_conditional(const sass::Instruction& i) {
  if (i.guard.exists()) return true;
  const auto constant = [](const sass::Operand& p) { return !p.exists() || (p.index == sass::kPt && !p.invert); };
  if (i.opcode == Opcode::kBRA) return !constant(i.p0) || !constant(i.p1) || i.a.exists();
  return i.opcode == Opcode::kEXIT && !constant(i.p0);
}

/// Goes on with the next instruction, for some lanes at least.
bool falls_through(const sass::Instruction& i) {
  switch (i.opcode) {
    case Opcode::kBRA:
    case Opcode::kEXIT:
    case Opcode::kRET:
    case Opcode::kBRX:
    case Opcode::kBRXU:
    case Opcode::kJMP:
    case Opcode::kJMX:
    case Opcode::kJMXU:
    case Opcode::kKILL:
    case Opcode::kENDCOLLECTIVE:
      return is_conditional(i);
    default:
      return true;
  }
}

bool uses_table(const sass::Instruction& i) {
  switch (i.opcode) {
    case Opcode::kBRX:
    case Opcode::kBRXU:
    case Opcode::kJMX:
    case Opcode::kJMXU:
      return true;
    default:
      return false;
  }
}

bool calls_by_register(const sass::Instruction& i) { return i.opcode == Opcode::kCALL && i.a.exists(); }

class Finder {
 public:
  explicit Finder(const MachineInput& input) : input_(input), count_(static_cast<std::uint32_t>(input.words.size())) {
    flow_.instructions.resize(count_);
    reached_.assign(count_, false);
    leader_.assign(count_, false);
    loop_.assign(count_, false);
  }

  MachineFlow run() {
    enter(input_.entry / kBytes);
    while (!work_.empty()) {
      const std::uint32_t at = work_.back();
      work_.pop_back();
      walk(at);
    }
    flow_.block_at.assign(count_, kNoBlock);
    for (std::uint32_t n = 0; n < count_; ++n) {
      if (!reached_[n]) continue;
      const bool fresh = leader_[n] || n == 0 || !reached_[n - 1];
      if (fresh) {
        flow_.block_at[n] = static_cast<std::uint32_t>(flow_.blocks.size());
        flow_.blocks.push_back({n, n + 1, loop_[n]});
      } else {
        flow_.blocks.back().end = n + 1;
      }
    }
    return std::move(flow_);
  }

 private:
  void enter(std::uint32_t n) {
    if (n >= count_) {
      flow_.problem = fmt::format("a jump to {:#x} leaves the code", n * kBytes);
      return;
    }
    leader_[n] = true;
    work_.push_back(n);
  }

  /// Where jumps by register lead a program may go round for ever, as at the head of a loop.
  void enter_turn(std::uint32_t n) {
    enter(n);
    if (n < count_) loop_[n] = true;
  }

  /// Targets of a table jump are in the constant bank; every leader that a table could name is taken to be one.
  void enter_tables() {
    if (tables_) return;
    tables_ = true;
    for (const std::uint32_t target : input_.table_targets) enter_turn(target / kBytes);
  }

  void enter_functions() {
    if (functions_) return;
    functions_ = true;
    for (const std::uint32_t function : input_.functions) enter_turn(function / kBytes);
  }

  void walk(std::uint32_t n) {
    for (; n < count_ && !reached_[n]; ++n) {
      reached_[n] = true;
      sass::Instruction& i = flow_.instructions[n];
      i = sass::decode(input_.words[n], n * kBytes, input_.encoding);
      // Absolute targets within the code.
      if ((i.opcode == Opcode::kCALL || i.opcode == Opcode::kJMP) && !i.a.exists() && i.memory.target >= kCode &&
          i.memory.target < kCode + std::int64_t{count_} * kBytes)
        i.memory.target -= kCode;
      if (i.opcode == Opcode::kInvalid) {
        if (flow_.problem.empty())
          flow_.problem = fmt::format("the instruction {:016x}{:016x} at {:#x} is not known", input_.words[n].hi,
                                      input_.words[n].lo, n * kBytes);
        return;
      }
      const bool by_register = (i.opcode == Opcode::kCALL || i.opcode == Opcode::kJMP) && i.a.exists();
      const bool jumps = i.memory.target >= 0 && !by_register &&
                         (i.opcode == Opcode::kBRA || i.opcode == Opcode::kCALL || i.opcode == Opcode::kJMP ||
                          i.opcode == Opcode::kWARPSYNC);
      if (jumps && !input_.externals.contains(static_cast<std::uint64_t>(i.memory.target))) {
        const auto target =
            static_cast<std::uint32_t>(std::min<std::int64_t>(i.memory.target / kBytes, std::int64_t{count_}));
        enter(target);
        if (target <= n && target < count_) loop_[target] = true;
      }
      // Issued once for each target that lanes have: a block of its own.
      if (i.a.exists() && (uses_table(i) || i.opcode == Opcode::kCALL || i.opcode == Opcode::kRET)) leader_[n] = true;
      // Issued again when other lanes leave its barrier; for each mask that lanes hold.
      if (i.opcode == Opcode::kBSYNC || (i.opcode == Opcode::kWARPSYNC && i.a.exists())) leader_[n] = true;
      if (uses_table(i)) enter_tables();
      if (calls_by_register(i)) enter_functions();
      if (ends_block(i) && n + 1 < count_ && falls_through(i)) leader_[n + 1] = true;
      if (!falls_through(i)) return;
    }
  }

  const MachineInput& input_;
  std::uint32_t count_;
  MachineFlow flow_;
  std::vector<bool> reached_, leader_, loop_;
  std::vector<std::uint32_t> work_;
  bool tables_ = false, functions_ = false;
};

}  // namespace

bool ends_block(const sass::Instruction& i) {
  switch (i.opcode) {
    case Opcode::kBRA:
    case Opcode::kBRX:
    case Opcode::kBRXU:
    case Opcode::kJMP:
    case Opcode::kJMX:
    case Opcode::kJMXU:
    case Opcode::kCALL:
    case Opcode::kRET:
    case Opcode::kEXIT:
    case Opcode::kKILL:
    case Opcode::kBSYNC:
    case Opcode::kWARPSYNC:
    case Opcode::kENDCOLLECTIVE:
    case Opcode::kBAR:
    case Opcode::kUCGABAR_ARV:
    case Opcode::kUCGABAR_WAIT:
      return true;
    default:
      return false;
  }
}

MachineFlow find_flow(const MachineInput& input) { return Finder(input).run(); }

}  // namespace muscope::code
