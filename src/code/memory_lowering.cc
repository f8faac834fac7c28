// Loads, stores and atomics -> ops with sites.
#include <algorithm>

#include "code/function_lowering.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

unsigned vector_of(const ptx::Instruction& i) {
  return i.has(Mod::k_v2) ? 2 : i.has(Mod::k_v4) ? 4 : i.has(Mod::k_v8) ? 8 : 1;
}

bool is_ordering(const ptx::Instruction& i) {
  return i.has(Mod::k_volatile) || i.has(Mod::k_relaxed) || i.has(Mod::k_acquire) || i.has(Mod::k_mmio);
}

}  // namespace

std::uint32_t FunctionLowering::add_site(const ptx::Instruction& i, unsigned bytes) {
  views::Site site;
  site.text = i.text();
  site.ptx_line = i.ptx_line;
  site.frame = b_.frames.of(i);
  site.bytes = static_cast<std::uint8_t>(bytes);
  k_.info.sites.push_back(std::move(site));
  return static_cast<std::uint32_t>(k_.info.sites.size() - 1);
}

bool FunctionLowering::result_is_used(const ptx::Instruction& i) const {
  const ptx::Operand& to = i.operands[0];
  if (to.kind == OperandKind::kSink) return false;
  if (to.kind == OperandKind::kVector)
    return std::any_of(to.elements.begin(), to.elements.end(),
                       [&](const ptx::Operand& e) { return e.kind == OperandKind::kRegister && uses_[e.reg] > 0; });
  return to.kind == OperandKind::kRegister && uses_[to.reg] > 0;
}

/// ld.param of an entry at a constant offset: moves from the const bank. False when the address is computed.
bool FunctionLowering::lower_entry_param(const ptx::Instruction& i) {
  const ptx::Operand& from = i.operands[1];
  if (!entry_ || from.symbol_kind != ptx::SymbolKind::kParameter || from.reg != ptx::kNoIndex ||
      from.symbol >= k_.params.size())
    return false;
  const Type type = i.types.back();
  const unsigned bytes = static_cast<unsigned>(ptx::size_of(type));
  const std::int64_t at = static_cast<std::int64_t>(k_.params[from.symbol].offset) + from.offset;
  const ptx::Operand& to = i.operands[0];
  const std::size_t count = to.kind == OperandKind::kVector ? to.elements.size() : 1;
  if (at < 0 || at + static_cast<std::int64_t>(bytes * count) > k_.param_bytes || bytes == 0 || bytes > 8) return false;
  for (std::size_t e = 0; e < count; ++e) {
    const ptx::Operand& element = to.kind == OperandKind::kVector ? to.elements[e] : to;
    if (element.kind != OperandKind::kRegister || alias_[element.reg].known) continue;
    const unsigned width = std::max(bytes, lane_bytes(element, type));
    const Place from_place = b_.pool.parameter(static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(e) * bytes,
                                               bytes, ptx::is_signed(type), width);
    Op& op = emit(OpKind::kPtx, &i);
    op.opcode = Opcode::k_mov;
    op.type = width == 8 ? Type::kB64 : width == 4 ? Type::kB32 : Type::kB16;
    op.dst = place_of_register(element.reg);
    op.dst_lane_bytes = static_cast<std::uint8_t>(width);
    op.a = from_place;
  }
  return true;
}

void FunctionLowering::lower_memory(const ptx::Instruction& i) {
  const bool store = i.opcode == Opcode::k_st;
  const bool reduction = i.opcode == Opcode::k_red;
  if (i.opcode == Opcode::k_prefetch || i.opcode == Opcode::k_prefetchu)
    return;  // a hint: moves no data that a counter of ours sees
  if (i.operands.size() < 2 || i.types.empty()) return unsupported(i);
  if ((store || reduction) && i.has(Mod::k_async) && i.space() != Space::kGlobal) return lower_async_store(i);
  Space space = i.space();
  const bool is_load = i.opcode == Opcode::k_ld || i.opcode == Opcode::k_ldu;
  if (is_load && space == Space::kParam && lower_entry_param(i)) return;

  Op op;
  op.opcode = i.opcode;
  op.type = i.types.back();
  if (i.opcode == Opcode::k_tex || i.opcode == Opcode::k_tld4) {
    lower_texture(op, i);
  } else {
    const ptx::Operand& where = i.operands[store || reduction ? 0 : 1];
    if (where.kind != OperandKind::kAddress) return unsupported(i);
    if (space == Space::kParam && !(entry_ && where.symbol_kind == ptx::SymbolKind::kParameter) &&
        (is_local_symbol(where) || !entry_)) {
      space = Space::kLocal;
    } else if (space != Space::kParam) {
      op.site = add_site(i, static_cast<unsigned>(ptx::size_of(op.type)) * vector_of(i));
    }
    if (space == Space::kParam) op.site = add_site(i, static_cast<unsigned>(ptx::size_of(op.type)) * vector_of(i));
    op.space = space;
    op.cluster = i.has(Mod::k_shared_cluster);
    address(op, where);
    if (op.opcode == Opcode::kInvalid) return unsupported(i);
    op.vector = static_cast<std::uint8_t>(vector_of(i));
    op.polls = is_load && is_ordering(i);
    if (is_load || store) {
      const ptx::Operand& data = i.operands[store ? 1 : 0];
      const auto is_sink = [](const ptx::Operand& o) { return o.kind == OperandKind::kSink; };
      if (store && (is_sink(data) || std::any_of(data.elements.begin(), data.elements.end(), is_sink)))
        return unsupported(i);
      if (data.kind == OperandKind::kVector) {
        if (data.elements.size() != op.vector) return unsupported(i);
        for (const ptx::Operand& e : data.elements)
          op.list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, op.type));
        op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(data.elements[0], op.type));
      } else {
        if (op.vector != 1) return unsupported(i);
        op.list.push_back(data.kind == OperandKind::kSink ? Place{} : place(data, op.type));
        op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(data, op.type));
      }
      if (ptx::size_of(op.type) > 8) return unsupported(i);
    } else {
      lower_atomic(op, i);
    }
    if (space == Space::kGlobal || space == Space::kGeneric) {
      const bool device_order = op.polls || (op.opcode == Opcode::k_atom && op.result_used) || i.has(Mod::k_exch) ||
                                i.has(Mod::k_cas) ||
                                ((op.opcode == Opcode::k_atom || op.opcode == Opcode::k_red) && ptx::is_float(op.type));
      if (device_order) k_.ordered = true;
    }
  }
  if (op.opcode == Opcode::kInvalid) return unsupported(i);
  Op& placed = emit(OpKind::kPtx, &i);
  op.source = placed.source;
  op.frame = placed.frame;
  placed = std::move(op);
}

/// The places of a vector's elements; those that are thrown away have none.
void FunctionLowering::vector_places(Op& op, const ptx::Operand& vector) {
  for (const ptx::Operand& e : vector.elements)
    op.list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, op.type));
}

/// atom.global.add.v4.f32: what was there, then the operands.
bool FunctionLowering::lower_vector_atomic(Op& op, const ptx::Instruction& i) {
  const bool atom = i.opcode == Opcode::k_atom;
  const ptx::Operand* const operands = i.operands.size() > (atom ? 2u : 1u) ? &i.operands[atom ? 2 : 1] : nullptr;
  if (!operands || !i.has(Mod::k_add) || operands->kind != OperandKind::kVector ||
      operands->elements.size() != op.vector)
    return false;
  const auto is_sink = [](const ptx::Operand& o) { return o.kind == OperandKind::kSink; };
  if (std::any_of(operands->elements.begin(), operands->elements.end(), is_sink)) return false;
  if (atom && i.operands[0].kind == OperandKind::kVector) {
    if (i.operands[0].elements.size() != op.vector) return false;
    vector_places(op, i.operands[0]);
  } else if (atom && i.operands[0].kind != OperandKind::kSink) {
    return false;
  } else {
    op.list.assign(op.vector, Place{});
  }
  vector_places(op, *operands);
  return true;
}

void FunctionLowering::lower_atomic(Op& op, const ptx::Instruction& i) {
  const bool atom = i.opcode == Opcode::k_atom;
  op.result_used = atom && result_is_used(i);
  op.polls = op.result_used;
  if (vector_of(i) != 1) {
    if (!lower_vector_atomic(op, i)) op.opcode = Opcode::kInvalid;
    return;
  }
  std::size_t k = 1;
  if (atom) {
    const ptx::Operand& to = i.operands[0];
    if (to.kind == OperandKind::kVector) {
      op.opcode = Opcode::kInvalid;
      return;
    }
    if (to.kind == OperandKind::kRegister) op.dst = place_of_register(to.reg);
    k = 2;
  }
  if (k >= i.operands.size() || i.operands[k].kind == OperandKind::kVector || ptx::size_of(op.type) > 8) {
    op.opcode = Opcode::kInvalid;
    return;
  }
  op.b = place(i.operands[k], op.type);
  if (i.has(Mod::k_cas) && k + 1 < i.operands.size()) op.c = place(i.operands[k + 1], op.type);
}

}  // namespace muscope::code
