// Kernel -> Program: a handler and places for every op.
#include <algorithm>

#include "code/async.h"
#include "exec/async.h"
#include "exec/atomics.h"
#include "exec/block_run.h"
#include "exec/cluster.h"
#include "exec/control.h"
#include "exec/machine.h"
#include "exec/op_table.h"
#include "exec/program.h"
#include "exec/texture_ops.h"
#include "exec/warp_ops.h"

namespace muscope::exec {
namespace {

using code::OpKind;
using ptx::Mod;
using ptx::Opcode;

/// Recursive kernels get this much stack beyond one activation of every function.
constexpr std::uint32_t kRecursionRegisters = 256 * 1024;
constexpr std::uint32_t kRecursionLocal = 16 * 1024;

std::uint8_t pick(const ptx::Instruction& i, std::initializer_list<std::pair<Mod, int>> modes, int otherwise) {
  for (const auto& [mod, value] : modes)
    if (i.has(mod)) return static_cast<std::uint8_t>(value);
  return static_cast<std::uint8_t>(otherwise);
}

/// Family specific fields: imm8 and flags.
void encode(XOp& x, const code::Op& op) {
  if (!op.source) return;
  const ptx::Instruction& i = *op.source;
  switch (op.opcode) {
    case Opcode::k_lop3:
      x.imm8 = static_cast<std::uint8_t>(op.offset);
      x.flags = static_cast<std::uint8_t>(op.logic);
      return;
    case Opcode::k_prmt:
      x.imm8 = pick(
          i, {{Mod::k_f4e, 1}, {Mod::k_b4e, 2}, {Mod::k_rc8, 3}, {Mod::k_ecl, 4}, {Mod::k_ecr, 5}, {Mod::k_rc16, 6}},
          0);
      return;
    case Opcode::k_shfl:
      x.imm8 = pick(i, {{Mod::k_up, 0}, {Mod::k_down, 1}, {Mod::k_bfly, 2}}, 3);
      return;
    case Opcode::k_vote:
      x.imm8 = pick(i, {{Mod::k_all, 0}, {Mod::k_any, 1}, {Mod::k_uni, 2}}, 3);
      return;
    case Opcode::k_redux:
      x.imm8 = pick(i, {{Mod::k_add, 0}, {Mod::k_min, 1}, {Mod::k_max, 2}, {Mod::k_and, 3}, {Mod::k_or, 4}}, 5);
      return;
    case Opcode::k_testp:
      x.imm8 = pick(
          i, {{Mod::k_finite, 0}, {Mod::k_infinite, 1}, {Mod::k_number, 2}, {Mod::k_notanumber, 3}, {Mod::k_normal, 4}},
          5);
      return;
    case Opcode::k_bar:
    case Opcode::k_barrier:
      x.imm8 = pick(i, {{Mod::k_popc, 1}, {Mod::k_and, 2}, {Mod::k_or, 3}, {Mod::k_arrive, 4}}, 0);
      x.flags = op.opcode == Opcode::k_bar || i.has(Mod::k_aligned) ? 1 : 0;
      return;
    case Opcode::k_setp:
    case Opcode::k_set:
      x.imm8 = static_cast<std::uint8_t>(op.logic);
      x.flags = op.ftz ? 1 : 0;
      if (op.type == ptx::Type::kF16x2 || op.type == ptx::Type::kBF16x2) {
        x.vector = static_cast<std::uint8_t>(op.compare);
        if (op.opcode == Opcode::k_set)
          x.flags = static_cast<std::uint8_t>(x.flags | (ptx::is_float(op.type2) ? 2u : 6u));
      } else if (op.opcode == Opcode::k_set) {
        x.vector = op.type2 == ptx::Type::kF32    ? 1
                   : op.type2 == ptx::Type::kF16  ? 3
                   : op.type2 == ptx::Type::kBF16 ? 4
                   : ptx::size_of(op.type2) == 2  ? 2
                                                  : 0;
      }
      return;
    case Opcode::k_addc:
    case Opcode::k_subc:
    case Opcode::k_madc:
      x.flags |= 1;
      [[fallthrough]];
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mul:
    case Opcode::k_mad:
      if (!ptx::is_float(op.type)) {
        if (i.has(Mod::k_cc)) x.flags |= 2;
        if (op.opcode == Opcode::k_sub || op.opcode == Opcode::k_subc) x.flags |= 4;
        if ((op.opcode == Opcode::k_mad && i.has(Mod::k_cc)) || op.opcode == Opcode::k_madc)
          x.flags = static_cast<std::uint8_t>(x.flags | (i.has(Mod::k_hi) ? 16u : 8u));
        return;
      }
      break;
    default:
      break;
  }
  if (op.type == ptx::Type::kF32 || op.type == ptx::Type::kF64)
    x.flags = static_cast<std::uint8_t>(static_cast<unsigned>(op.rounding) | (op.ftz ? 4u : 0u) | (op.sat ? 8u : 0u));
  else if (ptx::is_float(op.type))
    x.flags = static_cast<std::uint8_t>((op.ftz ? 1u : 0u) | (op.sat ? 2u : 0u) | (i.has(Mod::k_relu) ? 4u : 0u) |
                                        (i.has(Mod::k_xorsign) ? 8u : 0u));
}

/// Ops of machine code that are executed as their PTX counterparts.
void encode_machine(XOp& x, const code::Op& op) {
  if (op.opcode == Opcode::k_isspacep) {
    x.offset = op.offset;
    x.imm8 = op.vector;
    x.flags = static_cast<std::uint8_t>((op.address_is_pair ? kAddressPair : 0) | (op.uniform_bytes == 8   ? kUniform64
                                                                                   : op.uniform_bytes == 4 ? kUniform32
                                                                                                           : 0));
    x.has_base = op.a.exists();
  }
  if (op.opcode != Opcode::k_bar) return;
  x.imm8 = op.vector;  // the lowering's choice: 0 wait, 1 to 3 reduce, 4 arrive
  x.flags = 1;
  // Number and thread count in one register (sass/barriers.cc).
  if (op.sass->a.kind == sass::OperandKind::kRegister && op.sass->a == op.sass->b) x.flags |= kPackedBarrier;
}

bool is_memory(Opcode opcode) {
  return opcode == Opcode::k_ld || opcode == Opcode::k_ldu || opcode == Opcode::k_st || opcode == Opcode::k_atom ||
         opcode == Opcode::k_red || opcode == Opcode::k_tex || opcode == Opcode::k_ldmatrix ||
         opcode == Opcode::k_stmatrix || opcode == Opcode::k_wmma;
}

void encode_memory(XOp& x, const code::Op& op) {
  x.bytes = static_cast<std::uint8_t>(static_cast<unsigned>(std::max(1, ptx::size_of(op.type))) * op.vector);
  x.vector = op.vector;
  x.flags = static_cast<std::uint8_t>((op.address_is_64 ? 1 : 0) | (op.space == ptx::Space::kGeneric ? 2 : 0));
  x.has_base = op.a.exists();
  x.local_relative = op.local_relative;
  if (op.address_is_pair) x.flags |= kAddressPair;
  if (op.uniform_bytes == 4) x.flags |= kUniform32;
  if (op.uniform_bytes == 8) x.flags |= kUniform64;
  if (op.opcode == Opcode::k_ldmatrix || op.opcode == Opcode::k_stmatrix) x.bytes = 16;
  if (op.opcode == Opcode::k_wmma) x.bytes = 4;
  if (op.opcode == Opcode::k_atom || op.opcode == Opcode::k_red) {
    x.imm8 = op.sass ? atomic_operation(*op.sass) : atomic_operation(*op.source);
    if (op.sass && op.sass->opcode == sass::Opcode::kATOMS && op.sass->memory.atomic == kPopcInc) x.flags |= 4;
  }
}

std::int64_t window_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared:
      return static_cast<std::int64_t>(code::kSharedWindow);
    case ptx::Space::kLocal:
      return static_cast<std::int64_t>(code::kLocalWindow);
    case ptx::Space::kParam:
      return static_cast<std::int64_t>(code::kParamWindow);
    default:
      return 0;
  }
}

Handler find_ptx(const code::Op& op, DataHandler* data) {
  const OpTable& table = op_table();
  switch (op.opcode) {
    case Opcode::kInvalid:
      return nullptr;
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
      return table.memory(op, data);
    case Opcode::k_ldmatrix:
    case Opcode::k_stmatrix:
    case Opcode::k_wmma:
      return table.matrix_memory(op);
    case Opcode::k_mma:
    case Opcode::k_movmatrix:
      return table.matrix(op);
    case Opcode::k_atom:
    case Opcode::k_red:
      return find_atomic(op);
    case Opcode::k_tex:
      return run_texture;
    case Opcode::k_txq:
      return run_size_query;
    case Opcode::k_istypep:
      return run_kind_test;
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
      return run_surface;
    case Opcode::k_createpolicy:
      return run_create_policy;
    case Opcode::k_trap:
      return run_trap;
    case Opcode::k_nanosleep:
      return run_nanosleep;
    case Opcode::k_membar:
    case Opcode::k_fence:
    case Opcode::k_brkpt:
    case Opcode::k_pmevent:
      return run_nothing;
    case Opcode::k_bar:
    case Opcode::k_barrier:
      if (op.sass) return run_barrier;
      if (op.source->has(Mod::k_cluster)) return op.source->has(Mod::k_wait) ? run_cluster_wait : run_cluster_arrive;
      if (!op.source->has(Mod::k_warp)) return run_barrier;
      break;
    default:
      break;
  }
  // Machine code borrows moves, the combination of two predicates and shifts.
  if (op.source == nullptr)
    return op.opcode == Opcode::k_mov        ? table.move(op)
           : op.opcode == Opcode::k_shl      ? table.bits(op)
           : op.opcode == Opcode::k_and      ? run_predicate_and
           : op.opcode == Opcode::k_isspacep ? run_query_space
                                             : nullptr;
  if (const Handler h = find_warp(op)) return h;
  if (const Handler h = find_cluster_address(op)) return h;
  for (const auto family :
       {table.integer, table.bits, table.floating, table.half, table.compare, table.convert, table.move})
    if (const Handler h = family(op)) return h;
  return nullptr;
}

Handler find_sass(const sass::Instruction& instruction) {
  const OpTable& table = op_table();
  for (const auto family :
       {table.sass_integer, table.sass_logic, table.sass_float, table.sass_convert, table.sass_matrix})
    if (const Handler h = family(instruction)) return h;
  return nullptr;
}

Handler find(const code::Op& op, const code::Kernel& kernel, DataHandler* data) {
  switch (op.kind) {
    case OpKind::kEnter:
      if (kernel.machine_code)
        return kernel.blocks[static_cast<std::size_t>(op.offset)].loop_header ? run_enter_machine_loop
                                                                              : run_enter_machine;
      return kernel.blocks[static_cast<std::size_t>(op.offset)].loop_header ? run_enter_loop : run_enter;
    case OpKind::kJump:
      return run_jump;
    case OpKind::kBranch:
      return run_branch;
    case OpKind::kSwitch:
      return run_switch;
    case OpKind::kExit:
      return run_exit;
    case OpKind::kReturn:
      return run_return;
    case OpKind::kCall:
      return run_call;
    case OpKind::kLocalAddress:
      return op_table().move(op);
    case OpKind::kSass:
      return find_sass(*op.sass);
    case OpKind::kMachine:
      return find_machine(op);
    case OpKind::kAsync:
      return find_async(op);
    case OpKind::kPtx:
      break;
  }
  return find_ptx(op, data);
}

}  // namespace

bool can_execute(const sass::Instruction& instruction) { return find_sass(instruction) != nullptr; }

std::shared_ptr<const Program> decode(std::shared_ptr<const code::Kernel> kernel) {
  auto program = std::make_shared<Program>();
  program->ops.resize(kernel->ops.size());
  std::uint32_t block = 0;
  for (std::size_t n = 0; n < kernel->ops.size(); ++n) {
    const code::Op& op = kernel->ops[n];
    XOp& x = program->ops[n];
    x.source = &op;
    x.dst = op.dst.bits;
    x.dst2 = op.dst2.bits;
    x.has_dst2 = op.dst2.exists();
    x.a = op.a.bits, x.b = op.b.bits, x.c = op.c.bits, x.d = op.d.bits;
    x.dst3 = op.dst3.bits, x.e = op.e.bits;
    x.sass = op.sass;
    x.a_negated = op.a_negated, x.b_negated = op.b_negated, x.c_negated = op.negate_c;
    x.guard = op.guard.bits;
    x.guard_negated = op.guard_negated;
    x.offset = op.offset;
    x.site = op.site;
    x.polls = op.polls;
    x.target = op.target, x.target2 = op.target2;
    if (op.kind == OpKind::kEnter) {
      block = static_cast<std::uint32_t>(op.offset);
      x.instructions = kernel->blocks[block].instructions;
    }
    x.block = block;
    if (op.kind == OpKind::kPtx) {
      if (is_memory(op.opcode))
        encode_memory(x, op);
      else if (op.sass)
        encode_machine(x, op);
      else
        encode(x, op);
      if (op.sass == nullptr && (op.opcode == Opcode::k_cvta || op.opcode == Opcode::k_isspacep))
        x.offset = window_of(op.space);
      // Addresses of parameters are generic from the start.
      if (op.opcode == Opcode::k_cvta && op.space == ptx::Space::kParam) x.offset = 0;
      if (op.opcode == Opcode::k_mov && op.special != ptx::Special::kNone) x.bytes = op.dst_lane_bytes;
      if (op.opcode == Opcode::k_isspacep && op.space == ptx::Space::kConst)
        x.offset = static_cast<std::int64_t>(code::kFunctionWindow) + (std::int64_t{1} << 41);
    }
    if (op.kind == OpKind::kLocalAddress || op.kind == OpKind::kMachine) x.bytes = op.dst_lane_bytes;
    if (op.machine == code::MachineKind::kCastSpin) encode_memory(x, op);
    if (op.async) x.bytes = op.async->kind == code::AsyncKind::kCopy ? op.async->bytes : 8;
    if (op.special != ptx::Special::kNone) program->reads_clock = true;
    Handler handler = find(op, *kernel, &x.data);
    // A destination that nobody reads has no register: the op has no effect unless it touches memory or other lanes.
    const bool pure = op.kind == OpKind::kPtx && !is_memory(op.opcode) && op.opcode != Opcode::kInvalid && op.source &&
                      !op.dst.exists() && !op.dst2.exists() && op.list.empty();
    if (pure && handler && handler != run_trap && handler != run_nanosleep && handler != run_barrier &&
        handler != run_cluster_arrive && handler != run_cluster_wait && !find_warp(op))
      handler = run_nothing;
    const bool exchanges = op.opcode == Opcode::k_vote || op.opcode == Opcode::k_redux ||
                           op.opcode == Opcode::k_match || op.opcode == Opcode::k_activemask;
    if (exchanges && handler && !op.dst.exists() && !op.dst2.exists()) handler = run_nothing;
    if (!handler) handler = run_unsupported;
    if (op.uniform) {
      x.body = handler;
      handler = run_uniform;
    }
    const bool guardable = op.kind == OpKind::kPtx || op.kind == OpKind::kLocalAddress || op.kind == OpKind::kSass ||
                           op.kind == OpKind::kAsync ||
                           (op.kind == OpKind::kMachine && (op.machine == code::MachineKind::kCastSpin ||
                                                            op.machine == code::MachineKind::kLeaveBarrier ||
                                                            op.machine == code::MachineKind::kMoveBarrier));
    if (guardable && op.guard.exists()) {
      x.inner = handler;
      handler = run_guarded;
    }
    x.run = handler;
  }
  std::uint32_t registers = 0, local = 0;
  for (const code::Function& f : kernel->functions) {
    program->frame_base.push_back(registers);
    registers += f.frame_bytes, local += f.local_bytes;
  }
  program->static_frames = registers;
  if (kernel->recursive) registers += kRecursionRegisters, local += kRecursionLocal;
  program->register_bytes = std::max(registers, code::kSlotBytes);
  program->local_bytes = local;
  program->function_by_ptx.assign(kernel->module->functions.size(), 0xffffffffu);
  for (std::uint32_t f = 0; f < kernel->functions.size(); ++f) {
    const std::uint64_t number = (kernel->functions[f].address - code::kFunctionWindow) / 16;
    if (number < program->function_by_ptx.size()) program->function_by_ptx[number] = f;
  }
  program->kernel = std::move(kernel);
  return program;
}

}  // namespace muscope::exec
