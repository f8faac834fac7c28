#include "code/machine_builder.h"

#include <fmt/format.h>

namespace muscope::code {

using sass::OperandKind;

MachineBuilder::MachineBuilder(const MachineInput& input, const MachineFlow& flow, const Kernel& like)
    : input_(input),
      flow_(flow),
      kernel_(std::make_shared<Kernel>()),
      code_(std::make_shared<std::vector<sass::Instruction>>(flow.instructions)) {
  Kernel& k = *kernel_;
  k.info = like.info;
  k.info.sites.clear();
  k.info.frames = input.frames;
  list_code();
  k.module = like.module;
  k.params = like.params;
  // Aligned in the bank as a whole, not from the first parameter on as in PTX: the cubin says where each lies.
  const bool placed = input.parameters.size() == k.params.size();
  for (std::size_t n = 0; n < k.params.size(); ++n)
    k.params[n].offset = input.parameter_offset + (placed ? input.parameters[n] : k.params[n].offset);
  std::uint32_t end = 0;
  for (const Param& p : k.params) end = std::max(end, p.offset + p.bytes);
  k.param_bytes = std::max({like.param_bytes + input.parameter_offset, input.bank0_bytes, end});
  k.static_shared_bytes = like.static_shared_bytes;
  k.shared_base = input.shared_base;
  k.dynamic_shared_offset = like.dynamic_shared_offset - like.shared_base + k.shared_base;
  if (input.static_shared != 0) {
    k.static_shared_bytes = k.info.static_shared = input.static_shared;
    k.dynamic_shared_offset = std::max(k.dynamic_shared_offset, (k.shared_base + input.static_shared + 15) / 16 * 16);
  }
  k.ordered = like.ordered;
  k.const_bank_base = like.const_bank_base;
  k.const_bank_size = like.const_bank_size;
  k.estimated_registers = like.estimated_registers;
  k.stack_bytes = input.stack_bytes;
  k.deep_stack = like.recursive;
  k.machine_code = code_;
  // The highest numbers, and room for what an operand of four registers reaches beyond.
  const auto see = [this](const sass::Operand& o) {
    if (o.kind == OperandKind::kRegister && o.index != sass::kRz)
      registers_ = std::max<std::uint32_t>(registers_, o.index + std::max<std::uint32_t>(o.words, 1));
    if (o.kind == OperandKind::kUniform && o.index != sass::kUrz)
      uniforms_ = std::max<std::uint32_t>(uniforms_, o.index + std::max<std::uint32_t>(o.words, 1));
  };
  for (const sass::Instruction& i : *code_)
    for (const sass::Operand* o : {&i.dst, &i.a, &i.b, &i.c, &i.memory.base, &i.memory.uniform, &i.memory.second})
      see(*o);
  registers_ = std::max<std::uint32_t>(registers_, 24) + 4;
  uniforms_ += 4;
}

Place MachineBuilder::reg(std::uint8_t index) const { return slot(register_slots() + index); }
Place MachineBuilder::uniform(std::uint8_t index) const { return slot(kUniformSlots + index); }

Place MachineBuilder::predicate(const sass::Operand& operand) {
  if (!operand.exists() || operand.index == sass::kPt) return all_ones();
  return Place{4u * (operand.index + (operand.kind == OperandKind::kUniformPredicate ? 8u : 0u))};
}

Place MachineBuilder::predicate_result(const sass::Operand& operand) const {
  if (!operand.exists() || operand.index == sass::kPt) return Place{kJunkPredicate};
  return Place{4u * (operand.index + (operand.kind == OperandKind::kUniformPredicate ? 8u : 0u))};
}

Place MachineBuilder::result(const sass::Operand& operand) const {
  if (operand.kind == OperandKind::kRegister && operand.index != sass::kRz) return reg(operand.index);
  if (operand.kind == OperandKind::kUniform && operand.index != sass::kUrz) return uniform(operand.index);
  if (operand.kind == OperandKind::kBarrier) return barrier(operand.index);
  return slot(kJunkSlots);
}

ConstSlot MachineBuilder::constant_word(const sass::Operand& operand, unsigned n) const {
  ConstSlot s;
  const std::uint32_t offset = operand.value + 4 * n;
  if (operand.uniform_bank) throw CannotLower("a constant bank by register");
  if (operand.index == 0) {
    s.is_param = true;
    s.param_offset = offset;
    return s;
  }
  if (operand.index >= input_.banks.size() || input_.banks[operand.index] == 0 ||
      offset + 4 > input_.bank_bytes[operand.index])
    throw CannotLower(fmt::format("constant bank {:#x} at {:#x}", operand.index, offset));
  s.launch = ConstSlot::Launch::kMemory;
  s.bits = input_.banks[operand.index] + offset;
  return s;
}

Place MachineBuilder::constant(const sass::Operand& operand, unsigned words) {
  std::vector<ConstSlot> slots;
  for (unsigned n = 0; n < words; ++n) slots.push_back(constant_word(operand, n));
  return pool_.words(slots);
}

Place MachineBuilder::value(const sass::Operand& operand) {
  const unsigned words = std::max<unsigned>(operand.words, 1);
  switch (operand.kind) {
    case OperandKind::kRegister:
      if (operand.index != sass::kRz) return reg(operand.index);
      break;
    case OperandKind::kUniform:
      if (operand.index != sass::kUrz) return uniform(operand.index);
      break;
    case OperandKind::kBarrier:
      return barrier(operand.index);
    case OperandKind::kConstant:
      return constant(operand, words);
    case OperandKind::kImmediate: {
      // Of a 64-bit immediate the instruction holds the high half.
      std::vector<ConstSlot> slots(words);
      slots.back().bits = operand.value;
      return pool_.words(slots);
    }
    default:
      break;
  }
  return pool_.words(std::vector<ConstSlot>(words));
}

Place MachineBuilder::word(const sass::Operand& operand, unsigned n) {
  if (operand.kind == OperandKind::kRegister && operand.index != sass::kRz)
    return reg(static_cast<std::uint8_t>(operand.index + n));
  if (operand.kind == OperandKind::kUniform && operand.index != sass::kUrz)
    return uniform(static_cast<std::uint8_t>(operand.index + n));
  return literal(0);
}

void MachineBuilder::list_code() {
  std::vector<views::CodeLine>& listing = kernel_->info.listing;
  listing.clear();
  std::size_t reached = 0;
  for (const MachineBlock& block : flow_.blocks) reached += block.end - block.first;
  if (reached > views::kLongestListing) return;
  listing.reserve(reached);
  for (const MachineBlock& block : flow_.blocks)
    for (std::uint32_t n = block.first; n < block.end; ++n)
      listing.push_back({static_cast<std::uint32_t>((*code_)[n].pc),
                         n < input_.frame_of.size() ? input_.frame_of[n] : views::kNoFrame, sass::text((*code_)[n])});
}

Op& MachineBuilder::add(OpKind kind, const sass::Instruction& instruction, bool guarded) {
  Op& op = kernel_->ops.emplace_back();
  op.kind = kind;
  const std::size_t n = instruction.pc / 16;
  op.sass = &(*code_)[n];
  op.frame = n < input_.frame_of.size() ? input_.frame_of[n] : views::kNoFrame;
  if (guarded && instruction.guard.exists()) {
    op.guard = predicate(instruction.guard);
    op.guard_negated = instruction.guard.invert;
  }
  return op;
}

std::uint32_t MachineBuilder::add_site(const sass::Instruction& instruction, unsigned bytes) {
  views::Site site;
  site.text = sass::text(instruction);
  const std::size_t n = instruction.pc / 16;
  site.ptx_line = n < input_.ptx_line_of.size() ? input_.ptx_line_of[n] : 0;
  site.frame = n < input_.frame_of.size() ? input_.frame_of[n] : views::kNoFrame;
  site.bytes = static_cast<std::uint8_t>(bytes);
  site.pc = instruction.pc;
  kernel_->info.sites.push_back(std::move(site));
  return static_cast<std::uint32_t>(kernel_->info.sites.size() - 1);
}

std::shared_ptr<Kernel> MachineBuilder::finish() {
  Kernel& k = *kernel_;
  k.constants = pool_.take();
  k.const_bank_bytes = std::max(pool_.bytes(), kSlotBytes);
  Function entry;
  entry.name = k.info.mangled;
  entry.frame_bytes = (register_slots() + registers_) * kSlotBytes;
  entry.local_bytes = input_.stack_bytes;
  entry.zero_slots = {0};
  entry.predicate_slots = 1;
  k.functions.insert(k.functions.begin(), entry);
  return kernel_;
}

}  // namespace muscope::code
