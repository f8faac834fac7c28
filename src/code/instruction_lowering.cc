// Arithmetic, moves, comparisons, warp-wide and control instructions -> ops.
#include <algorithm>

#include "code/function_lowering.h"
#include "code/operands.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Type;

void read_rounding(Op& op, const ptx::Instruction& i) {
  for (Mod m : i.mods) switch (m) {
      case Mod::k_rn:
        op.rounding = Rounding::kNearest, op.explicit_rounding = true;
        break;
      case Mod::k_rz:
        op.rounding = Rounding::kZero, op.explicit_rounding = true;
        break;
      case Mod::k_rm:
        op.rounding = Rounding::kDown, op.explicit_rounding = true;
        break;
      case Mod::k_rp:
        op.rounding = Rounding::kUp, op.explicit_rounding = true;
        break;
      case Mod::k_rni:
        op.rounding = Rounding::kNearest, op.integer_rounding = true;
        break;
      case Mod::k_rzi:
        op.rounding = Rounding::kZero, op.integer_rounding = true;
        break;
      case Mod::k_rmi:
        op.rounding = Rounding::kDown, op.integer_rounding = true;
        break;
      case Mod::k_rpi:
        op.rounding = Rounding::kUp, op.integer_rounding = true;
        break;
      case Mod::k_ftz:
        op.ftz = true;
        break;
      case Mod::k_sat:
        op.sat = true;
        break;
      case Mod::k_approx:
        op.approx = true;
        break;
      default:
        break;
    }
}

Compare compare_of(const ptx::Instruction& i) {
  for (Mod m : i.mods) switch (m) {
      case Mod::k_eq:
        return Compare::kEq;
      case Mod::k_ne:
        return Compare::kNe;
      case Mod::k_lt:
        return Compare::kLt;
      case Mod::k_le:
        return Compare::kLe;
      case Mod::k_gt:
        return Compare::kGt;
      case Mod::k_ge:
        return Compare::kGe;
      case Mod::k_lo:
        return Compare::kLo;
      case Mod::k_ls:
        return Compare::kLs;
      case Mod::k_hi:
        return Compare::kHi;
      case Mod::k_hs:
        return Compare::kHs;
      case Mod::k_equ:
        return Compare::kEqu;
      case Mod::k_neu:
        return Compare::kNeu;
      case Mod::k_ltu:
        return Compare::kLtu;
      case Mod::k_leu:
        return Compare::kLeu;
      case Mod::k_gtu:
        return Compare::kGtu;
      case Mod::k_geu:
        return Compare::kGeu;
      case Mod::k_num:
        return Compare::kNum;
      case Mod::k_nan:
        return Compare::kNan;
      default:
        break;
    }
  return Compare::kEq;
}

Logic logic_of(const ptx::Instruction& i) {
  for (Mod m : i.mods) switch (m) {
      case Mod::k_and:
        return Logic::kAnd;
      case Mod::k_or:
        return Logic::kOr;
      case Mod::k_xor:
        return Logic::kXor;
      default:
        break;
    }
  return Logic::kNone;
}

/// The operand that a product with a literal 1, or a quotient that is a product, leaves as it is: ptxas 13.0 removes
/// the multiplication, so that payloads of what is not a number survive. Null when there is none.
const ptx::Operand* times_one(const ptx::Instruction& i) {
  const bool rounds = i.has(Mod::k_rn) || i.has(Mod::k_rz) || i.has(Mod::k_rm) || i.has(Mod::k_rp);
  const bool product = i.opcode == Opcode::k_mul && !rounds;
  const bool quotient = i.opcode == Opcode::k_div && (i.has(Mod::k_approx) || i.has(Mod::k_full));
  if (!(product || quotient) || i.types.size() != 1 || i.operands.size() != 3) return nullptr;
  if (i.has(Mod::k_ftz) || i.has(Mod::k_sat) || (i.types[0] != Type::kF32 && i.types[0] != Type::kF64)) return nullptr;
  const auto is_one = [](const ptx::Operand& o) {
    if (o.kind != OperandKind::kImmediate) return false;
    return o.literal == ptx::Literal::kF64   ? o.immediate == 0x3ff0000000000000u
           : o.literal == ptx::Literal::kF32 ? o.immediate == 0x3f800000u
                                             : false;
  };
  if (is_one(i.operands[2])) return &i.operands[1];
  return product && is_one(i.operands[1]) ? &i.operands[2] : nullptr;
}

/// Type of source operand `k` (1 = first source) where it differs from the instruction's.
Type source_type(const ptx::Instruction& i, std::size_t k) {
  const Type type = i.types.empty() ? Type::kB32 : i.types[0];
  switch (i.opcode) {
    case Opcode::k_shl:
    case Opcode::k_shr:
      return k == 2 ? Type::kU32 : type;
    case Opcode::k_mapa:
      return k == 2 ? Type::kU32 : type;
    case Opcode::k_bfe:
      return k >= 2 ? Type::kU32 : type;
    case Opcode::k_bfi:
      return k >= 3 ? Type::kU32 : type;
    case Opcode::k_bmsk:
    case Opcode::k_szext:
      return Type::kU32;
    case Opcode::k_mad:
    case Opcode::k_mad24:
      if (k == 3 && i.has(Mod::k_wide)) return ptx::size_of(type) == 2 ? Type::kB32 : Type::kB64;
      return type;
    case Opcode::k_cvt:
      return i.types.size() > 1 ? i.types[1] : type;
    case Opcode::k_set:
    case Opcode::k_slct: {
      const Type second = i.types.size() > 1 ? i.types[1] : type;
      if (i.opcode == Opcode::k_set) return second;
      return k == 3 ? second : type;
    }
    case Opcode::k_dp4a:
    case Opcode::k_dp2a:
      return Type::kB32;
    default:
      return type;
  }
}

}  // namespace

void FunctionLowering::unsupported(const ptx::Instruction& i) { emit(OpKind::kPtx, &i).opcode = Opcode::kInvalid; }

void FunctionLowering::lower(const ptx::Instruction& i) {
  // What became a constant place needs no op.
  if (!i.operands.empty() && i.operands[0].kind == OperandKind::kRegister && i.guard == ptx::kNoIndex &&
      i.operands[0].reg < alias_.size() && alias_[i.operands[0].reg].known && destination_count(i) > 0)
    return;
  const std::size_t first = k_.ops.size();
  missing_ = false;
  switch (i.opcode) {
    case Opcode::kInvalid:
      unsupported(i);
      break;
    case Opcode::k_mov:
      lower_mov(i);
      break;
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
    case Opcode::k_atom:
    case Opcode::k_red:
    case Opcode::k_tex:
    case Opcode::k_tld4:
    case Opcode::k_prefetch:
    case Opcode::k_prefetchu:
      lower_memory(i);
      break;
    case Opcode::k_griddepcontrol:
      break;  // grids of a stream run one after another
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
      lower_surface(i);
      break;
    case Opcode::k_txq:
    case Opcode::k_suq:
      lower_query(i);
      break;
    case Opcode::k_istypep:
      lower_kind_test(i);
      break;
    case Opcode::k_call:
      lower_call(i);
      break;
    case Opcode::k_createpolicy:
      lower_policy(i);
      break;
    case Opcode::k_applypriority:
    case Opcode::k_discard:  // of lines in L2, whose contents may be anything afterwards
      break;
    case Opcode::k_cp:
      lower_async(i);
      break;
    case Opcode::k_mbarrier:
      lower_mbarrier(i);
      break;
    case Opcode::k_mma:
      lower_mma(i);
      break;
    case Opcode::k_wmma:
      i.has(Mod::k_mma) ? lower_mma(i) : lower_fragment_access(i);
      break;
    case Opcode::k_ldmatrix:
    case Opcode::k_stmatrix:
      lower_matrix_access(i);
      break;
    default: {
      Op& op = emit(OpKind::kPtx, &i);
      if (const ptx::Operand* factor = times_one(i); factor && i.operands[0].kind == OperandKind::kRegister) {
        op.opcode = Opcode::k_mov;
        op.type = i.types[0];
        op.dst = place_of_register(i.operands[0].reg);
        op.dst_lane_bytes = static_cast<std::uint8_t>(ptx::size_of(op.type));
        op.a = place(*factor, op.type);
        break;
      }
      op.opcode = i.opcode;
      if (!i.types.empty()) op.type = i.types[0];
      if (i.types.size() > 1) op.type2 = i.types[1];
      read_rounding(op, i);
      switch (i.opcode) {
        case Opcode::k_setp:
        case Opcode::k_set:
          lower_compare(op, i);
          break;
        case Opcode::k_shfl:
        case Opcode::k_vote:
        case Opcode::k_match:
        case Opcode::k_redux:
        case Opcode::k_activemask:
        case Opcode::k_elect:
        case Opcode::k_bar:
        case Opcode::k_barrier:
          lower_warp(op, i);
          break;
        default:
          lower_plain(op, i);
      }
    }
  }
  if (missing_)
    for (std::size_t k = first; k < k_.ops.size(); ++k)
      k_.ops[k].kind = OpKind::kPtx, k_.ops[k].opcode = Opcode::kInvalid;
  if (i.guard != ptx::kNoIndex && !strip_guard_)
    for (std::size_t k = first; k < k_.ops.size(); ++k) {
      k_.ops[k].guard = place_of_register(i.guard);
      k_.ops[k].guard_negated = i.guard_negated;
    }
}

void FunctionLowering::lower_plain(Op& op, const ptx::Instruction& i) {
  Place* const sources[] = {&op.a, &op.b, &op.c, &op.d};
  std::size_t next = 0;
  const bool has_destination = i.opcode != Opcode::k_nanosleep && i.opcode != Opcode::k_membar &&
                               i.opcode != Opcode::k_fence && i.opcode != Opcode::k_trap &&
                               i.opcode != Opcode::k_brkpt && i.opcode != Opcode::k_pmevent;
  if (i.opcode == Opcode::k_nanosleep) op.polls = true;
  if (i.opcode == Opcode::k_lop3 && i.operands.size() > 4)
    op.offset = static_cast<std::int64_t>(i.operands[4].immediate);
  if (i.opcode == Opcode::k_cvta || i.opcode == Opcode::k_isspacep || i.opcode == Opcode::k_mapa ||
      i.opcode == Opcode::k_getctarank) {
    op.space = i.space();
    op.cluster = i.has(Mod::k_shared_cluster);
  }
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    const ptx::Operand& o = i.operands[k];
    if (k == 0 && has_destination) {
      if (o.kind == OperandKind::kPair && o.elements.size() == 2) {
        op.dst = place_of_register(o.elements[0].reg);
        op.dst2 = place_of_register(o.elements[1].reg);
      } else if (o.kind == OperandKind::kRegister) {
        op.dst = place_of_register(o.reg);
        op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(o, op.type));
      }
      continue;
    }
    if (next >= 4) break;
    if (i.opcode == Opcode::k_lop3 && k == 4) {
      // lop3 with a predicate: d|p, a, b, c, table, q
      op.logic = logic_of(i);
      if (i.operands.size() > 5) op.d = predicate(i.operands[5], op.negate_c);
      break;
    }
    if (op.type == Type::kPred || (i.opcode == Opcode::k_selp && k == 3)) {
      bool negated = false;
      *sources[next] = predicate(o, negated);
      if (next == 0)
        op.a_negated = negated;
      else if (next == 1)
        op.b_negated = negated;
      else
        op.negate_c = negated;
      ++next;
      continue;
    }
    const Type type = source_type(i, k);
    *sources[next] = place(o, type);
    if (next == 0) op.a_lane_bytes = static_cast<std::uint8_t>(lane_bytes(o, type));
    ++next;
  }
}

void FunctionLowering::lower_mov(const ptx::Instruction& i) {
  if (i.operands.size() < 2) return unsupported(i);
  const ptx::Operand& to = i.operands[0];
  const ptx::Operand& from = i.operands[1];
  const Type type = i.types.empty() ? Type::kB32 : i.types[0];
  if (ptx::size_of(type) > 8) return unsupported(i);
  Op op;
  op.opcode = Opcode::k_mov;
  op.type = type;
  if (to.kind == OperandKind::kVector || from.kind == OperandKind::kVector) {
    // Pack and unpack: parts of equal width, lowest first.
    const ptx::Operand& whole = to.kind == OperandKind::kVector ? from : to;
    const ptx::Operand& parts = to.kind == OperandKind::kVector ? to : from;
    if (parts.elements.empty() || parts.elements.size() > 8) return unsupported(i);
    op.vector = static_cast<std::uint8_t>(parts.elements.size());
    const unsigned part_bytes = static_cast<unsigned>(ptx::size_of(type)) / op.vector;
    const Type part = part_bytes == 4 ? Type::kB32 : part_bytes == 2 ? Type::kB16 : Type::kB8;
    for (const ptx::Operand& e : parts.elements)
      op.list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, part));
    op.type2 = part;
    (to.kind == OperandKind::kVector ? op.a : op.dst) = place(whole, type);
    op.dst_lane_bytes = static_cast<std::uint8_t>(parts.elements.empty() ? 2 : lane_bytes(parts.elements[0], part));
  } else {
    if (to.kind != OperandKind::kRegister) return;
    op.dst = place_of_register(to.reg);
    op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(to, type));
    if (type == Type::kPred) {
      op.a = predicate(from, op.a_negated);
    } else if (from.kind == OperandKind::kSymbol && is_local_symbol(from)) {
      op.kind = OpKind::kLocalAddress;
      op.offset = from.offset + local_offset(from);
    } else if (from.kind == OperandKind::kSpecial && !special_place(from)) {
      op.special = from.special;
      op.polls = true;
    } else if (from.kind == OperandKind::kSpecial && ptx::size_of(type) != 4) {
      // Special registers have 32-bit lanes.
      op.opcode = Opcode::k_cvt;
      op.type = ptx::size_of(type) == 8 ? Type::kU64 : Type::kU16;
      op.type2 = Type::kU32;
      op.a = place(from, Type::kU32);
    } else {
      op.a = place(from, type);
      if (!op.a.exists()) return unsupported(i);
    }
  }
  const OpKind kind = op.kind;
  Op& placed = emit(kind, &i);
  op.source = placed.source;
  op.frame = placed.frame;
  placed = std::move(op);
}

void FunctionLowering::lower_compare(Op& op, const ptx::Instruction& i) {
  op.compare = compare_of(i);
  op.logic = logic_of(i);
  const bool is_set = i.opcode == Opcode::k_set;
  op.type = i.types.empty() ? Type::kB32 : is_set && i.types.size() > 1 ? i.types[1] : i.types[0];
  op.type2 = is_set && !i.types.empty() ? i.types[0] : Type::kPred;
  const ptx::Operand& to = i.operands[0];
  if (to.kind == OperandKind::kPair && to.elements.size() == 2) {
    if (to.elements[0].kind == OperandKind::kRegister) op.dst = place_of_register(to.elements[0].reg);
    if (to.elements[1].kind == OperandKind::kRegister) op.dst2 = place_of_register(to.elements[1].reg);
  } else if (to.kind == OperandKind::kRegister) {
    op.dst = place_of_register(to.reg);
    op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(to, op.type2));
  }
  if (i.operands.size() > 1) op.a = place(i.operands[1], op.type);
  if (i.operands.size() > 2) op.b = place(i.operands[2], op.type);
  if (i.operands.size() > 3) op.c = predicate(i.operands[3], op.negate_c);
}

void FunctionLowering::lower_call(const ptx::Instruction& i) {
  using C = ptx::CallOperands;
  if (i.operands.size() <= C::kCallee) return unsupported(i);
  auto details = std::make_shared<CallDetails>();
  const ptx::Operand& callee = i.operands[C::kCallee];
  if (callee.kind == OperandKind::kSymbol && callee.symbol_kind == ptx::SymbolKind::kFunction) {
    const ptx::Function& target = b_.ptx_function(callee.symbol);
    if (target.has_body) {
      const auto at = b_.function_index.find(callee.symbol);
      if (at == b_.function_index.end()) return unsupported(i);
      details->callee = at->second;
    } else {
      details->builtin = target.name;
    }
  } else if (callee.kind == OperandKind::kRegister) {
    details->target = place_of_register(callee.reg);
  } else {
    return unsupported(i);
  }
  const auto transfer = [&](const ptx::Operand& o) {
    CallDetails::Transfer t;
    if (o.kind == OperandKind::kRegister || o.kind == OperandKind::kImmediate) {
      t.is_register = true;
      const Type type = o.kind == OperandKind::kRegister ? f_.registers[o.reg].type : Type::kB64;
      t.caller_place = place(o, type);
      t.bytes = static_cast<std::uint32_t>(std::max(2, ptx::size_of(type)));
    } else {
      t.caller_local = local_offset(o);
      if (o.symbol_kind == ptx::SymbolKind::kLocalVariable && o.symbol < f_.variables.size())
        t.bytes = static_cast<std::uint32_t>(f_.variables[o.symbol].size);
      else if (o.symbol_kind == ptx::SymbolKind::kParameter && o.symbol < f_.params.size())
        t.bytes = static_cast<std::uint32_t>(f_.params[o.symbol].size);
      else if (o.symbol_kind == ptx::SymbolKind::kReturnParameter && o.symbol < f_.returns.size())
        t.bytes = static_cast<std::uint32_t>(f_.returns[o.symbol].size);
    }
    return t;
  };
  for (const ptx::Operand& o : i.operands[C::kReturns].elements) details->results.push_back(transfer(o));
  if (i.operands.size() > C::kArguments)
    for (const ptx::Operand& o : i.operands[C::kArguments].elements) details->arguments.push_back(transfer(o));
  Op& op = emit(OpKind::kCall, &i);
  op.opcode = Opcode::k_call;
  op.call = std::move(details);
}

}  // namespace muscope::code
