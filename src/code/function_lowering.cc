#include "code/function_lowering.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "code/lower.h"
#include "code/operands.h"

namespace muscope::code {
namespace {

using ptx::Opcode;
using ptx::OperandKind;

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

constexpr std::uint32_t kMaxFrame = 1u << 28;

}  // namespace

FunctionLowering::FunctionLowering(KernelBuilder& builder, std::uint32_t ptx_index)
    : b_(builder),
      k_(*builder.kernel),
      ptx_index_(ptx_index),
      f_(builder.ptx_function(ptx_index)),
      entry_(f_.is_entry) {}

void FunctionLowering::run() {
  graph_ = build_flow_graph(f_);
  lay_out_locals();
  find_aliases();
  std::vector<bool> skip(f_.registers.size());
  for (std::size_t r = 0; r < skip.size(); ++r) skip[r] = alias_[r].known;
  registers_ = assign_registers(f_, graph_, skip);

  const std::uint32_t index = b_.function_index.at(ptx_index_);
  op_of_raw_.assign(graph_.blocks.size(), kNone);
  {
    Function& function = k_.functions[index];
    function.name = f_.name;
    function.frame_bytes = registers_.frame_bytes;
    function.local_bytes = align_up(local_bytes_, 16);
    function.zero_slots = registers_.zero_slots;
    function.predicate_slots = registers_.predicate_slots;
    function.entry = static_cast<std::uint32_t>(k_.ops.size());
    const auto formal = [&](const ptx::Parameter& p, std::uint32_t local) {
      Function::Formal out;
      out.is_register = p.is_register;
      out.bytes = static_cast<std::uint32_t>(p.size);
      out.local = local;
      if (p.is_register && p.reg < f_.registers.size()) out.place = place_of_register(p.reg);
      return out;
    };
    std::uint32_t at = 0;
    for (const auto& p : f_.params)
      function.params.push_back(formal(p, entry_ ? 0 : (at = align_up(at, std::max(p.alignment, 1)), at))),
          at += entry_ ? 0 : static_cast<std::uint32_t>(p.size);
    for (const auto& p : f_.returns)
      function.returns.push_back(formal(p, (at = align_up(at, std::max(p.alignment, 1)), at))),
          at += static_cast<std::uint32_t>(p.size);
  }
  for (std::size_t i = 0; i < graph_.order.size(); ++i) emit_block(graph_.order[i], i);
  for (const auto& [op, unused] : fixups_) {
    Op& o = k_.ops[op];
    o.target = op_of_raw_[o.target];
    if (o.kind == OpKind::kBranch) o.target2 = op_of_raw_[o.target2];
    for (std::uint32_t& t : o.targets) t = op_of_raw_[t];
  }
  k_.estimated_registers = std::max(k_.estimated_registers, registers_.pressure);
}

void FunctionLowering::lay_out_locals() {
  // Own parameters and results first (device functions), in the order that run() gives their formals.
  if (!entry_) {
    for (const auto& p : f_.params)
      local_bytes_ = align_up(local_bytes_, std::max(p.alignment, 1)) + static_cast<std::uint32_t>(p.size);
    for (const auto& p : f_.returns)
      local_bytes_ = align_up(local_bytes_, std::max(p.alignment, 1)) + static_cast<std::uint32_t>(p.size);
  }
  variable_local_.assign(f_.variables.size(), 0);
  for (std::size_t v = 0; v < f_.variables.size(); ++v) {
    const ptx::Variable& variable = f_.variables[v];
    if (variable.space != ptx::Space::kLocal && variable.space != ptx::Space::kParam) continue;
    local_bytes_ = align_up(local_bytes_, static_cast<std::uint32_t>(std::max(variable.alignment, 1)));
    variable_local_[v] = local_bytes_;
    if (variable.size > kMaxFrame || local_bytes_ > kMaxFrame)
      fail("D312", "local variables of '" + demangle(f_.name) + "' take more than 256 MiB per thread",
           "make the array smaller or move it to global memory", {b_.module->name, variable.ptx_line, 0});
    local_bytes_ += static_cast<std::uint32_t>(variable.size);
    if (variable.space == ptx::Space::kLocal) k_.info.local_bytes += static_cast<std::uint32_t>(variable.size);
  }
}

/// Registers that hold one constant for good: set once, from a literal, a parameter, a special register that a launch
/// or warp fixes, or a conversion that changes nothing.
void FunctionLowering::find_aliases() {
  alias_.assign(f_.registers.size(), Alias{});
  uses_.assign(f_.registers.size(), 0);
  defs_.assign(f_.registers.size(), 0);
  for (const ptx::Instruction& i : f_.body)
    for_each_register(i, [&](std::uint32_t r) { ++uses_[r]; }, [&](std::uint32_t r) { ++defs_[r]; });
  for (const auto& p : f_.params)
    if (p.is_register && p.reg < defs_.size()) ++defs_[p.reg];
  for (const ptx::Instruction& i : f_.body) {
    if (i.guard != ptx::kNoIndex || i.operands.size() < 2 || i.operands[0].kind != OperandKind::kRegister) continue;
    const std::uint32_t r = i.operands[0].reg;
    if (defs_[r] != 1 || f_.registers[r].type == ptx::Type::kPred) continue;
    const unsigned width = static_cast<unsigned>(std::max(2, ptx::size_of(f_.registers[r].type)));
    if (width > 8) continue;
    const ptx::Operand& from = i.operands[1];
    std::optional<Place> found;
    if (i.opcode == Opcode::k_mov) {
      if (from.kind == OperandKind::kSpecial && width == 4)
        found = special_place(from);
      else if (from.kind == OperandKind::kImmediate && !i.types.empty())
        found = place(from, i.types[0]);
      else if (from.kind == OperandKind::kSymbol) {
        found = symbol_place(from, width);
      }
    } else if (i.opcode == Opcode::k_ld && i.space() == ptx::Space::kParam && entry_ &&
               from.kind == OperandKind::kAddress && from.symbol_kind == ptx::SymbolKind::kParameter &&
               from.reg == ptx::kNoIndex && from.symbol < k_.params.size()) {
      const std::int64_t at = static_cast<std::int64_t>(k_.params[from.symbol].offset) + from.offset;
      const unsigned bytes = static_cast<unsigned>(ptx::size_of(i.types.back()));
      if (at >= 0 && bytes >= 1 && bytes <= width && at + bytes <= k_.param_bytes)
        found = b_.pool.parameter(static_cast<std::uint32_t>(at), bytes, ptx::is_signed(i.types.back()), width);
    } else if (i.opcode == Opcode::k_cvta && (i.space() == ptx::Space::kGlobal || i.space() == ptx::Space::kConst) &&
               from.kind == OperandKind::kRegister && alias_[from.reg].known && width == 8) {
      found = alias_[from.reg].place;
    }
    if (found) alias_[r] = {*found, true};
  }
}

Op& FunctionLowering::emit(OpKind kind, const ptx::Instruction* source) {
  Op& op = k_.ops.emplace_back();
  op.kind = kind;
  op.source = source;
  if (source) op.frame = b_.frames.of(*source);
  return op;
}

void FunctionLowering::count(const ptx::Instruction& instruction, std::uint32_t guarded_op) {
  k_.counted.push_back({block_, b_.frames.of(instruction), kind_of(instruction), guarded_op});
  ++k_.blocks[block_].instructions;
}

void FunctionLowering::emit_block(std::uint32_t raw, std::size_t order_index) {
  const RawBlock& block = graph_.blocks[raw];
  block_ = static_cast<std::uint32_t>(k_.blocks.size());
  op_of_raw_[raw] = static_cast<std::uint32_t>(k_.ops.size());
  k_.blocks.push_back({op_of_raw_[raw], 0, graph_.loop_header[raw]});
  Op& enter = emit(OpKind::kEnter, nullptr);
  enter.offset = block_;
  // A position for messages about the block: its first instruction's.
  if (block.begin < block.end)
    enter.frame = b_.frames.of(f_.body[block.begin]);
  else if (block.source != kNone)
    enter.frame = b_.frames.of(f_.body[block.source]);
  strip_guard_ = block.strip_guard;
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    const std::size_t before = k_.ops.size();
    lower(f_.body[i]);
    const bool guarded = f_.body[i].guard != ptx::kNoIndex && !strip_guard_;
    count(f_.body[i], guarded && k_.ops.size() > before ? static_cast<std::uint32_t>(before) : kNone);
  }
  strip_guard_ = false;
  emit_terminator(block, order_index);
}

void FunctionLowering::emit_terminator(const RawBlock& block, std::size_t order_index) {
  const ptx::Instruction* source = block.source != kNone ? &f_.body[block.source] : nullptr;
  if (source) count(*source, kNone);
  const std::uint32_t next = order_index + 1 < graph_.order.size() ? graph_.order[order_index + 1] : kNone;
  const std::uint32_t at = static_cast<std::uint32_t>(k_.ops.size());
  switch (block.terminator) {
    case Terminator::kFall:
    case Terminator::kJump:
      if (block.successors[0] == next) return;
      emit(OpKind::kJump, source).target = block.successors[0];
      fixups_.push_back({at, 0});
      return;
    case Terminator::kBranch: {
      Op& op = emit(OpKind::kBranch, source);
      op.guard = place_of_register(block.condition);
      op.guard_negated = block.condition_negated;
      op.target = block.successors[0];
      op.target2 = block.successors[1];
      fixups_.push_back({at, 0});
      return;
    }
    case Terminator::kSwitch: {
      const Place index = place(source->operands[0], ptx::Type::kU32);
      if (!index.exists()) {
        emit(OpKind::kPtx, source).opcode = Opcode::kInvalid;
        return;
      }
      Op& op = emit(OpKind::kSwitch, source);
      op.a = index;
      op.targets = block.successors;
      op.target = block.successors[0];
      fixups_.push_back({at, 0});
      return;
    }
    case Terminator::kExit:
      emit(entry_ || block.ends_thread ? OpKind::kExit : OpKind::kReturn, source);
      return;
  }
}

}  // namespace muscope::code
