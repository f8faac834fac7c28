// Special registers of machine code: S2R, S2UR, CS2R.
#include <fmt/format.h>

#include "code/machine_builder.h"
#include "sass/special_registers.h"

namespace muscope::code {
namespace {

using Launch = ConstSlot::Launch;
using sass::SpecialRegister;

Place thread_place(std::uint32_t slot) {
  return Place{(std::uint32_t{kThreadBank} << Place::kBankShift) | slot * kSlotBytes};
}
Place block_place(std::uint32_t slot) {
  return Place{(std::uint32_t{kBlockBank} << Place::kBankShift) | slot * kSlotBytes};
}

}  // namespace

void lower_special_register(MachineBuilder& b, const sass::Instruction& i) {
  const unsigned words = std::max<unsigned>(i.dst.words, 1);
  const auto move = [&](unsigned word, Place from, ptx::Special special = ptx::Special::kNone) {
    Op& op = b.add(OpKind::kPtx, i);
    op.opcode = ptx::Opcode::k_mov;
    op.type = ptx::Type::kB32;
    op.dst = Place{b.result(i.dst).bits + word * kSlotBytes};
    op.a = from;
    op.special = special;
    op.uniform = i.dst.kind == sass::OperandKind::kUniform;
    if (op.uniform && special == ptx::Special::kNone) {
      const std::uint32_t bank = from.bits >> Place::kBankShift;
      if (bank == kThreadBank && i.integer.special != static_cast<std::uint8_t>(SpecialRegister::kVIRTID))
        throw CannotLower("a value per thread in a uniform register");
    }
  };
  const auto same = [&](Place from) {
    move(0, from);
    if (words == 2) move(1, b.literal(0));
  };
  const auto launch = [&](Launch what) { same(b.launch_value(what)); };
  const auto shifted = [&](Place from) {
    move(0, from);
    Op& op = b.kernel().ops.back();
    op.opcode = ptx::Opcode::k_shl;
    op.b = b.literal(8);
    if (words == 2) move(1, b.literal(0));
  };
  switch (static_cast<SpecialRegister>(i.integer.special)) {
    case SpecialRegister::kTID_X:
      return same(thread_place(kTidX));
    case SpecialRegister::kTID_Y:
      return same(thread_place(kTidY));
    case SpecialRegister::kTID_Z:
      return same(thread_place(kTidZ));
    case SpecialRegister::kCTAID_X:
      return same(block_place(kCtaidX));
    case SpecialRegister::kCTAID_Y:
      return same(block_place(kCtaidY));
    case SpecialRegister::kCTAID_Z:
      return same(block_place(kCtaidZ));
    case SpecialRegister::kLANEID:
      return launch(Launch::kLaneId);
    case SpecialRegister::kEQMASK:
      return launch(Launch::kLanemaskEq);
    case SpecialRegister::kLTMASK:
      return launch(Launch::kLanemaskLt);
    case SpecialRegister::kLEMASK:
      return launch(Launch::kLanemaskLe);
    case SpecialRegister::kGTMASK:
      return launch(Launch::kLanemaskGt);
    case SpecialRegister::kGEMASK:
      return launch(Launch::kLanemaskGe);
    case SpecialRegister::kZero:
      return same(b.literal(0));
    case SpecialRegister::kCgaCtaId:
      return same(block_place(kClusterRank));
    case SpecialRegister::kSWINHI:
      return same(b.literal(static_cast<std::uint32_t>(kSharedWindow >> 32)));
    case SpecialRegister::kSMEMSZ:  // %total_smem_size is this without c[0x0][0x114], what the system reserves
      return launch(Launch::kWholeShared);
    case SpecialRegister::kVIRTID:  // %warpid is read as its bits 8 to 14
      return shifted(thread_place(kWarpId));
    case SpecialRegister::kVIRTCFG:  // %nwarpid: bits 8 to 15
      return shifted(b.launch_value(Launch::kNwarpId));
    case SpecialRegister::kVIRTUALSMID:
      return same(block_place(kSmId));
    case SpecialRegister::kCLOCKLO:
      move(0, {}, ptx::Special::kClock);
      if (words == 2) move(1, {}, ptx::Special::kClockHi);
      return;
    case SpecialRegister::kCLOCKHI:
      return move(0, {}, ptx::Special::kClockHi);
    case SpecialRegister::kGLOBALTIMERLO:
      move(0, {}, ptx::Special::kGlobaltimerLo);
      if (words == 2) move(1, {}, ptx::Special::kGlobaltimerHi);
      return;
    case SpecialRegister::kGLOBALTIMERHI:
      return move(0, {}, ptx::Special::kGlobaltimerHi);
    default:
      throw CannotLower(fmt::format("special register {}", i.integer.special));
  }
}

}  // namespace muscope::code
