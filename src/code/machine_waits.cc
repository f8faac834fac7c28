// Loops whose end other threads decide: they read, again and again, what others write meanwhile, or swap until they
// were first, or watch the clock. How often they turn depends on timing, on hardware from run to run.
#include <array>

#include "code/machine_builder.h"
#include "sass/special_registers.h"

namespace muscope::code {
namespace {

using sass::Instruction;
using sass::Opcode;
using sass::Operand;
using sass::OperandKind;
using sass::SpecialRegister;

constexpr std::uint8_t kStrong = 2, kExchange = 8, kSwap = 9;  // sass/instruction.h, MemoryForm

/// Whether its result is of others' making.
bool asks_others(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kLD:
    case Opcode::kLDG:
      return i.memory.strength >= kStrong;
    case Opcode::kATOM:
    case Opcode::kATOMG:
      return i.memory.atomic == kExchange || i.memory.atomic == kSwap;
    case Opcode::kS2R:
    case Opcode::kS2UR:
    case Opcode::kCS2R:
      switch (static_cast<SpecialRegister>(i.integer.special)) {
        case SpecialRegister::kCLOCK:
        case SpecialRegister::kCLOCKLO:
        case SpecialRegister::kCLOCKHI:
        case SpecialRegister::kGLOBALTIMERLO:
        case SpecialRegister::kGLOBALTIMERHI:
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

bool reads_memory(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLD:
    case Opcode::kLDG:
    case Opcode::kLDS:
    case Opcode::kLDL:
    case Opcode::kATOM:
    case Opcode::kATOMG:
    case Opcode::kATOMS:
      return true;
    default:
      return false;
  }
}

/// Follows values of others' making through the code of one loop, in its order.
class Loop {
 public:
  Loop(const Instruction* first, const Instruction* last) : first_(first), last_(last) {}

  bool ends_by_others() {
    // Twice: what the end of the body leaves in registers is read at its begin.
    for (int turn = 0; turn < 2; ++turn)
      for (const Instruction* i = first_; i <= last_; ++i) {
        if (decides_the_end(*i) && (made(i->guard) || made(i->p0) || made(i->p1))) return true;
        pass_on(*i);
      }
    return false;
  }

 private:
  bool decides_the_end(const Instruction& i) const {
    if (i.opcode == Opcode::kEXIT || i.opcode == Opcode::kBREAK) return true;
    if (i.opcode != Opcode::kBRA || i.memory.target < 0) return false;
    return &i == last_ || i.memory.target < std::int64_t{first_->pc} || i.memory.target > std::int64_t{last_->pc};
  }

  void pass_on(const Instruction& i) {
    if (i.opcode == Opcode::kInvalid) return;
    bool of_others = asks_others(i);
    if (!reads_memory(i.opcode))
      for (const Operand* source : {&i.a, &i.b, &i.c, &i.p0, &i.p1}) of_others = of_others || made(*source);
    const bool kept = i.guard.exists();
    of_others = of_others || (kept && made(i.guard));
    for (const Operand* result : {&i.dst, &i.pdst0, &i.pdst1}) mark(*result, of_others, kept);
  }

  bool made(const Operand& o) const {
    bool found = false;
    for (unsigned n = 0; n < o.words && o.index + n < kMost; ++n) found = found || place(o, n);
    return found;
  }
  void mark(const Operand& o, bool of_others, bool kept) {
    if (o.kind == OperandKind::kRegister && o.index == sass::kRz) return;
    if (o.kind == OperandKind::kUniform && o.index == sass::kUrz) return;
    if ((o.kind == OperandKind::kPredicate || o.kind == OperandKind::kUniformPredicate) && o.index == sass::kPt) return;
    for (unsigned n = 0; n < o.words && o.index + n < kMost; ++n)
      if (bool* const at = slot(o, n); at != nullptr && (of_others || !kept)) *at = of_others;
  }
  bool place(const Operand& o, unsigned n) const {
    const bool* const at = const_cast<Loop*>(this)->slot(o, n);
    return at != nullptr && *at;
  }
  bool* slot(const Operand& o, unsigned n) {
    switch (o.kind) {
      case OperandKind::kRegister:
        return &registers_[o.index + n];
      case OperandKind::kUniform:
        return &uniform_[o.index + n];
      case OperandKind::kPredicate:
        return &predicates_[o.index + n];
      case OperandKind::kUniformPredicate:
        return &uniform_predicates_[o.index + n];
      default:
        return nullptr;
    }
  }

  static constexpr unsigned kMost = 256;
  const Instruction* first_;
  const Instruction* last_;
  std::array<bool, kMost> registers_{}, uniform_{}, predicates_{}, uniform_predicates_{};
};

}  // namespace

bool waits_for_others(const MachineFlow& flow) {
  for (const Instruction& jump : flow.instructions) {
    if (jump.opcode != Opcode::kBRA || jump.memory.target < 0 || jump.memory.target > std::int64_t{jump.pc}) continue;
    const auto first = static_cast<std::size_t>(jump.memory.target) / 16;
    if (first >= flow.instructions.size()) continue;
    if (Loop(&flow.instructions[first], &jump).ends_by_others()) return true;
  }
  return false;
}

}  // namespace muscope::code
