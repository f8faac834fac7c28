// cp.async, cp.async.bulk and mbarrier of PTX -> kAsync ops.
#include "code/async.h"
#include "code/function_lowering.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

}  // namespace

/// Number of the operation in atomics of machine code (sass/atomics.cc), which exec/ reads.
std::uint8_t reduction_number(const ptx::Instruction& i) {
  static constexpr Mod kByNumber[] = {Mod::k_add, Mod::k_min, Mod::k_max, Mod::k_inc,
                                      Mod::k_dec, Mod::k_and, Mod::k_or,  Mod::k_xor};
  for (std::size_t n = 0; n < std::size(kByNumber); ++n)
    if (i.has(kByNumber[n])) return static_cast<std::uint8_t>(n);
  return 0;
}

AsyncAddress FunctionLowering::async_address(const ptx::Operand& operand, Space space, bool cluster) {
  Op op;
  op.opcode = ptx::Opcode::k_cp;  // address() takes it away when it cannot say
  address(op, operand);
  if (operand.kind != OperandKind::kAddress || op.opcode == ptx::Opcode::kInvalid || op.local_relative) missing_ = true;
  AsyncAddress out;
  out.base = op.a;
  out.base_bytes = op.address_is_64 ? 8 : 4;
  out.offset = op.offset;
  out.space = space;
  out.cluster = cluster;
  return out;
}

Op& FunctionLowering::emit_async(const ptx::Instruction& i, const AsyncDetails& details) {
  Op& op = emit(OpKind::kAsync, &i);
  op.opcode = i.opcode;
  op.async = std::make_shared<const AsyncDetails>(details);
  return op;
}

/// cp.async.ca and .cg: [d], [a], cp-size{, src-size or ignore-src}{, cache-policy}
void FunctionLowering::lower_async_copy(const ptx::Instruction& i) {
  const std::size_t operands = i.operands.size() - (i.has(Mod::k_L2_cache_hint) ? 1 : 0);
  if (operands < 3 || i.operands[2].kind != OperandKind::kImmediate) return unsupported(i);
  const std::uint64_t bytes = i.operands[2].immediate;
  if (bytes != 16 && (i.has(Mod::k_cg) || (bytes != 4 && bytes != 8))) return unsupported(i);
  AsyncDetails copy;
  copy.kind = AsyncKind::kCopy;
  copy.bytes = static_cast<std::uint8_t>(bytes);
  copy.bypass = i.has(Mod::k_cg);
  copy.to = async_address(i.operands[0], Space::kShared, false);
  copy.from = async_address(i.operands[1], Space::kGlobal, false);
  if (operands > 3) {
    const ptx::Operand& last = i.operands[3];
    const bool is_predicate = last.kind == OperandKind::kRegister && last.reg < f_.registers.size() &&
                              f_.registers[last.reg].type == Type::kPred;
    if (is_predicate) {  // ignore-src
      copy.condition = predicate(last, copy.condition_negated);
      copy.condition_negated = !copy.condition_negated;
    } else {
      copy.amount = place(last, Type::kU32);
    }
  }
  emit_async(i, copy);
  const std::uint32_t site = add_site(i, static_cast<unsigned>(bytes));
  k_.ops.back().site = site;
}

/// cp.async.bulk and cp.reduce.async.bulk: [d], [a], size, [mbar] with a shared destination, else [d], [a], size.
void FunctionLowering::lower_bulk_copy(const ptx::Instruction& i) {
  if (i.has(Mod::k_cp_mask) || i.operands.size() < 3) return unsupported(i);
  AsyncDetails copy;
  copy.kind = AsyncKind::kBulkCopy;
  if (i.has(Mod::k_reduce)) {
    copy.kind = AsyncKind::kBulkReduce;
    copy.type = i.types.empty() ? Type::kNone : i.types.back();
    copy.reduction = reduction_number(i);
    const bool half = copy.type == Type::kF16 || copy.type == Type::kBF16;
    if (half && !i.has(Mod::k_add)) return unsupported(i);
  }
  const bool to_global = i.has(Mod::k_bulk_group), from_global = !to_global && i.has(Mod::k_global);
  copy.to = async_address(i.operands[0], to_global ? Space::kGlobal : Space::kShared, i.has(Mod::k_shared_cluster));
  copy.from = async_address(i.operands[1], from_global ? Space::kGlobal : Space::kShared, false);
  copy.amount = place(i.operands[2], Type::kU32);
  if (!to_global) {
    if (i.operands.size() < 4) return unsupported(i);
    copy.barrier = async_address(i.operands[3], Space::kShared, i.has(Mod::k_shared_cluster));
    copy.has_barrier = true;
    if (i.has(Mod::k_multicast_cluster)) {
      if (i.operands.size() < 5) return unsupported(i);
      copy.multicast = place(i.operands[4], Type::kU16);
    }
  }
  emit_async(i, copy);
  const std::uint32_t site = add_site(i, 0);
  k_.ops.back().site = site;
}

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile mode: [d], [map, {c...}], [mbar]{, mask}, or
/// [map, {c...}], [a].
void FunctionLowering::lower_tensor_copy(const ptx::Instruction& i) {
  if (i.has(Mod::k_prefetch)) return;
  const bool store = i.has(Mod::k_bulk_group);
  for (const Mod mod : {Mod::k_im2col, Mod::k_im2col_w, Mod::k_im2col_w_128, Mod::k_im2col_no_offs, Mod::k_tile_gather4,
                        Mod::k_tile_scatter4})
    if (i.has(mod)) return unsupported(i);
  if (i.operands.size() < (store ? 2u : 3u)) return unsupported(i);
  const ptx::Operand& tensor = i.operands[store ? 0 : 1];
  if (tensor.kind != OperandKind::kTexture || tensor.elements.size() != 2) return unsupported(i);
  AsyncDetails copy;
  copy.kind = AsyncKind::kTensor;
  copy.has_barrier = !store;
  copy.to = async_address(i.operands[store ? 1 : 0], Space::kShared, i.has(Mod::k_shared_cluster));
  copy.from.space = Space::kGlobal;
  copy.from.base_bytes = 8;
  copy.from.base = place(tensor.elements[0], Type::kB64);
  const ptx::Operand& coordinates = tensor.elements[1];
  if (coordinates.kind == OperandKind::kVector)
    for (const ptx::Operand& c : coordinates.elements) copy.values.push_back(place(c, Type::kU32));
  else
    copy.values.push_back(place(coordinates, Type::kU32));
  if (!store) copy.barrier = async_address(i.operands[2], Space::kShared, i.has(Mod::k_shared_cluster));
  if (i.has(Mod::k_multicast_cluster)) {
    // Behind what only patches have, and before the cache policy.
    const std::size_t at = i.operands.size() - (i.has(Mod::k_L2_cache_hint) ? 2 : 1);
    if (at < 3) return unsupported(i);
    const ptx::Operand& mask = i.operands[at];
    copy.multicast =
        place(mask.kind == OperandKind::kVector && mask.elements.size() == 1 ? mask.elements[0] : mask, Type::kU16);
  }
  copy.reduces = i.has(Mod::k_reduce);
  copy.reduction = reduction_number(i);
  emit_async(i, copy);
  const std::uint32_t site = add_site(i, 0);
  k_.ops.back().site = site;
}

void FunctionLowering::lower_async(const ptx::Instruction& i) {
  if (i.has(Mod::k_tensor)) return lower_tensor_copy(i);
  if (i.has(Mod::k_mbarrier)) {
    // The arrival of copies that are over already. Without .noinc the phase expects one more for it: no change.
    if (!i.has(Mod::k_noinc)) return;
    AsyncDetails arrival;
    arrival.kind = AsyncKind::kArrive;
    arrival.barrier = async_address(i.operands[0], i.space(), false);
    arrival.amount = b_.pool.literal(1, 4);
    emit_async(i, arrival);
    return;
  }
  if (i.has(Mod::k_commit_group) || i.has(Mod::k_wait_group) || i.has(Mod::k_wait_all)) return;  // copies are over
  if (i.has(Mod::k_prefetch)) return;
  if (i.has(Mod::k_bulk)) return lower_bulk_copy(i);
  lower_async_copy(i);
}

/// st.async: [a], b or {b...}, [mbar]; red.async: [a], b, [mbar].
void FunctionLowering::lower_async_store(const ptx::Instruction& i) {
  if (i.operands.size() < 3 || i.types.empty()) return unsupported(i);
  AsyncDetails d;
  d.kind = i.opcode == ptx::Opcode::k_red ? AsyncKind::kReduce : AsyncKind::kStore;
  d.type = i.types.back();
  d.reduction = reduction_number(i);
  d.value_bytes = static_cast<std::uint8_t>(ptx::size_of(d.type));
  const ptx::Operand& value = i.operands[1];
  if (value.kind == OperandKind::kVector)
    for (const ptx::Operand& e : value.elements) d.values.push_back(place(e, d.type));
  else
    d.values.push_back(place(value, d.type));
  d.bytes = static_cast<std::uint8_t>(d.value_bytes * d.values.size());
  if (d.value_bytes < 4 || d.bytes > 16) return unsupported(i);
  d.to = async_address(i.operands[0], Space::kShared, true);
  d.barrier = async_address(i.operands[2], Space::kShared, true);
  emit_async(i, d);
}

void FunctionLowering::lower_mbarrier(const ptx::Instruction& i) {
  AsyncDetails d;
  const bool cluster = i.has(Mod::k_shared_cluster);
  const auto amount = [&](std::size_t k) {
    return k < i.operands.size() ? place(i.operands[k], Type::kU32) : b_.pool.literal(1, 4);
  };
  const ptx::Operand* result = nullptr;
  if (i.has(Mod::k_pending_count)) {
    d.kind = AsyncKind::kPendingCount;
    d.state = place(i.operands[1], Type::kB64);
    d.state_bytes = 8;
    result = &i.operands[0];
  } else if (i.has(Mod::k_inval)) {
    return;  // the memory may hold anything from here on
  } else if (i.has(Mod::k_init)) {
    d.kind = AsyncKind::kInit;
    d.barrier = async_address(i.operands[0], i.space(), cluster);
    d.amount = amount(1);
  } else if (i.has(Mod::k_test_wait) || i.has(Mod::k_try_wait)) {
    const bool parity = i.has(Mod::k_parity);
    d.kind = AsyncKind::kWait;
    d.barrier = async_address(i.operands[1], i.space(), cluster);
    d.state = place(i.operands[2], parity ? Type::kU32 : Type::kB64);
    d.state_bytes = parity ? 4 : 8;
    result = &i.operands[0];
  } else if (i.has(Mod::k_arrive) || i.has(Mod::k_arrive_drop)) {
    d.kind = AsyncKind::kArrive;
    d.drops = i.has(Mod::k_arrive_drop);
    d.barrier = async_address(i.operands[1], i.space(), cluster);
    if (i.has(Mod::k_expect_tx)) {
      d.expects = amount(2);
      d.amount = b_.pool.literal(1, 4);
    } else {
      d.amount = amount(2);
    }
    result = &i.operands[0];
  } else if (i.has(Mod::k_expect_tx) || i.has(Mod::k_complete_tx)) {
    d.kind = AsyncKind::kTransactions;
    d.completes = i.has(Mod::k_complete_tx);
    d.barrier = async_address(i.operands[0], i.space(), cluster);
    d.amount = amount(1);
  } else {
    return unsupported(i);
  }
  Op& op = emit_async(i, d);
  if (result && result->kind == OperandKind::kRegister) op.dst = place_of_register(result->reg);
}

}  // namespace muscope::code
