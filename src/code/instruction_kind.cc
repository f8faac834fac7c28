#include "code/lower.h"

namespace muscope::code {
namespace {

using ptx::Opcode;
using ptx::Type;
using views::InstructionKind;

InstructionKind arithmetic(Type type, InstructionKind half, InstructionKind single, InstructionKind dbl) {
  switch (type) {
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBF16:
    case Type::kBF16x2:
      return half;
    case Type::kF32:
      return single;
    case Type::kF64:
      return dbl;
    default:
      return InstructionKind::kInteger;
  }
}

}  // namespace

InstructionKind kind_of(const ptx::Instruction& i) {
  const Type type = i.types.empty() ? Type::kNone : i.types.back();
  switch (i.opcode) {
    case Opcode::k_add:
    case Opcode::k_sub:
      return arithmetic(type, InstructionKind::kFp16Add, InstructionKind::kFp32Add, InstructionKind::kFp64Add);
    case Opcode::k_mul:
      return arithmetic(type, InstructionKind::kFp16Mul, InstructionKind::kFp32Mul, InstructionKind::kFp64Mul);
    case Opcode::k_fma:
    case Opcode::k_mad:
      return arithmetic(type, InstructionKind::kFp16Fma, InstructionKind::kFp32Fma, InstructionKind::kFp64Fma);
    case Opcode::k_div:
    case Opcode::k_rem:
    case Opcode::k_abs:
    case Opcode::k_neg:
    case Opcode::k_min:
    case Opcode::k_max:
    case Opcode::k_setp:
    case Opcode::k_set:
      return is_float(type) ? InstructionKind::kOtherFloat : InstructionKind::kInteger;
    case Opcode::k_rcp:
    case Opcode::k_sqrt:
    case Opcode::k_rsqrt:
    case Opcode::k_sin:
    case Opcode::k_cos:
    case Opcode::k_lg2:
    case Opcode::k_ex2:
    case Opcode::k_tanh:
    case Opcode::k_copysign:
    case Opcode::k_testp:
      return InstructionKind::kOtherFloat;
    case Opcode::k_mad24:
    case Opcode::k_mul24:
    case Opcode::k_sad:
    case Opcode::k_addc:
    case Opcode::k_subc:
    case Opcode::k_madc:
    case Opcode::k_dp4a:
    case Opcode::k_dp2a:
      return InstructionKind::kInteger;
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor:
    case Opcode::k_not:
    case Opcode::k_cnot:
    case Opcode::k_lop3:
    case Opcode::k_shl:
    case Opcode::k_shr:
    case Opcode::k_shf:
    case Opcode::k_prmt:
    case Opcode::k_popc:
    case Opcode::k_clz:
    case Opcode::k_bfind:
    case Opcode::k_brev:
    case Opcode::k_bfe:
    case Opcode::k_bfi:
    case Opcode::k_bmsk:
    case Opcode::k_szext:
    case Opcode::k_fns:
      return InstructionKind::kBit;
    case Opcode::k_cvt:
    case Opcode::k_cvta:
      return InstructionKind::kConvert;
    case Opcode::k_bra:
    case Opcode::k_brx:
    case Opcode::k_call:
    case Opcode::k_ret:
    case Opcode::k_exit:
    case Opcode::k_trap:
    case Opcode::k_nanosleep:
      return InstructionKind::kControl;
    case Opcode::k_ld:
    case Opcode::k_st:
    case Opcode::k_ldu:
    case Opcode::k_atom:
    case Opcode::k_red:
    case Opcode::k_tex:
    case Opcode::k_tld4:
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
    case Opcode::k_prefetch:
    case Opcode::k_cp:
      return InstructionKind::kMemory;
    case Opcode::k_bar:
    case Opcode::k_barrier:
    case Opcode::k_shfl:
    case Opcode::k_vote:
    case Opcode::k_match:
    case Opcode::k_redux:
    case Opcode::k_membar:
    case Opcode::k_fence:
    case Opcode::k_activemask:
      return InstructionKind::kCommunicate;
    case Opcode::k_mov:
    case Opcode::k_selp:
    case Opcode::k_slct:
      return InstructionKind::kMove;
    default:
      return InstructionKind::kOther;
  }
}

}  // namespace muscope::code
