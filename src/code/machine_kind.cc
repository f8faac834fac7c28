// What a machine instruction counts as, by ncu's split of thread-level instructions.
#include "code/machine_builder.h"

namespace muscope::code {
namespace {

bool is_zero(const sass::Operand& o) {
  return (o.kind == sass::OperandKind::kRegister && o.index == sass::kRz) ||
         (o.kind == sass::OperandKind::kImmediate && o.value == 0);
}

/// HFMA2.MMA R7, -RZ, RZ, 0, 1.1e-5: the third operand goes to the result as it is.
bool only_moves(const sass::Instruction& i) {
  if (i.opcode == sass::Opcode::kHFMA2) return is_zero(i.a) && is_zero(i.b);
  return is_zero(i.a) || is_zero(i.b);
}

}  // namespace

views::InstructionKind kind_of(const sass::Instruction& i) {
  using sass::Opcode;
  using views::InstructionKind;
  switch (i.opcode) {
    case Opcode::kFADD:
      return InstructionKind::kFp32Add;
    case Opcode::kFMUL:
      return InstructionKind::kFp32Mul;
    case Opcode::kFFMA:
      return InstructionKind::kFp32Fma;
    case Opcode::kDADD:
      return InstructionKind::kFp64Add;
    case Opcode::kDMUL:
      return InstructionKind::kFp64Mul;
    case Opcode::kDFMA:
      return InstructionKind::kFp64Fma;
    case Opcode::kHADD2:
      return only_moves(i) ? InstructionKind::kFp16AddMove : InstructionKind::kFp16Add;
    case Opcode::kHMUL2:
      return InstructionKind::kFp16Mul;
    case Opcode::kHFMA2:
      return only_moves(i) ? InstructionKind::kFp16FmaMove : InstructionKind::kFp16Fma;
    case Opcode::kFMNMX:
    case Opcode::kFSEL:
    case Opcode::kFSET:
    case Opcode::kFSETP:
    case Opcode::kFCHK:
    case Opcode::kFSWZADD:
    case Opcode::kMUFU:
    case Opcode::kDSETP:
    case Opcode::kDMNMX:
    case Opcode::kHMNMX2:
    case Opcode::kHSET2:
    case Opcode::kHSETP2:
      return InstructionKind::kOtherFloat;
    case Opcode::kIADD3:
    case Opcode::kIMAD:
    case Opcode::kIABS:
    case Opcode::kIMNMX:
    case Opcode::kVIMNMX:
    case Opcode::kVIADD:
    case Opcode::kVIADDMNMX:
    case Opcode::kISETP:
    case Opcode::kLEA:
    case Opcode::kIDP:
    case Opcode::kVABSDIFF:
    case Opcode::kVABSDIFF4:
      return InstructionKind::kInteger;
    case Opcode::kLOP3:
    case Opcode::kSHF:
    case Opcode::kSHL:
    case Opcode::kSHR:
    case Opcode::kBMSK:
    case Opcode::kBREV:
    case Opcode::kFLO:
    case Opcode::kPOPC:
    case Opcode::kSGXT:
    case Opcode::kPLOP3:
      return InstructionKind::kBit;
    case Opcode::kF2F:
    case Opcode::kF2I:
    case Opcode::kI2F:
    case Opcode::kI2I:
    case Opcode::kFRND:
    case Opcode::kF2FP:
    case Opcode::kI2FP:
    case Opcode::kF2IP:
    case Opcode::kI2IP:
      return InstructionKind::kConvert;
    case Opcode::kBRA:
    case Opcode::kBRX:
    case Opcode::kBRXU:
    case Opcode::kBSSY:
    case Opcode::kBSYNC:
    case Opcode::kBREAK:
    case Opcode::kCALL:
    case Opcode::kRET:
    case Opcode::kEXIT:
    case Opcode::kBAR:
    case Opcode::kWARPSYNC:
    case Opcode::kNANOSLEEP:
    case Opcode::kYIELD:
      return InstructionKind::kControl;
    case Opcode::kSHFL:
    case Opcode::kVOTE:
    case Opcode::kVOTEU:
    case Opcode::kMATCH:
    case Opcode::kREDUX:
      return InstructionKind::kCommunicate;
    case Opcode::kMOV:
    case Opcode::kSEL:
    case Opcode::kPRMT:
    case Opcode::kS2R:
    case Opcode::kS2UR:
    case Opcode::kCS2R:
    case Opcode::kR2UR:
    case Opcode::kP2R:
    case Opcode::kR2P:
      return InstructionKind::kMove;
    case Opcode::kLDGSTS:
    case Opcode::kUBLKCP:
      return InstructionKind::kMemory;
    case Opcode::kLDSM:
    case Opcode::kSTSM:
      return InstructionKind::kMemory;
    case Opcode::kMOVM:
      return InstructionKind::kMove;
    default:
      return is_memory_instruction(i) ? InstructionKind::kMemory : InstructionKind::kOther;
  }
}

}  // namespace muscope::code
