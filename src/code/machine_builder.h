// A kernel under construction from machine code: where registers and constants live, and how ops are added. Internal.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>

#include "code/constants.h"
#include "code/kernel.h"
#include "code/machine_flow.h"
#include "code/machine_input.h"

namespace muscope::code {

/// Thrown inside the lowering for what cannot be executed; the text says what.
struct CannotLower : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Values of MemoryForm::mode that the lowering knows (sass/control.cc, sass/barriers.cc).
inline constexpr std::uint8_t kBranchKind = 3, kBranchPlain = 0, kBranchUniform = 1, kBranchDiverged = 2,
                              kBranchConverged = 3;
inline constexpr std::uint8_t kBranchAnyLane = 4;
inline constexpr std::uint8_t kSleepForBarrier = 1;
inline constexpr std::uint8_t kWarpSyncExclusive = 1, kWarpSyncCollective = 2;
inline constexpr std::uint8_t kBarrierSync = 0, kBarrierArrive = 1, kBarrierPopc = 2, kBarrierAnd = 3, kBarrierOr = 4;
inline constexpr std::uint8_t kBarrierToRegisterResult = 1;

class MachineBuilder {
 public:
  MachineBuilder(const MachineInput& input, const MachineFlow& flow, const Kernel& like);

  Kernel& kernel() { return *kernel_; }
  const MachineInput& input() const { return input_; }
  const MachineFlow& flow() const { return flow_; }

  // Places. Registers that an instruction does not have read zero, predicates read true; results go where nobody looks.
  Place reg(std::uint8_t index) const;
  Place uniform(std::uint8_t index) const;
  Place barrier(std::uint8_t index) const { return slot(kBarrierSlots + index); }
  Place predicate(const sass::Operand& operand);
  Place predicate_result(const sass::Operand& operand) const;
  Place result(const sass::Operand& operand) const;
  /// A value of operand.words registers. Constants and immediates are put into the const bank.
  Place value(const sass::Operand& operand);
  /// Word `n` of it.
  Place word(const sass::Operand& operand, unsigned n);
  Place literal(std::uint32_t bits) { return pool_.literal(bits, 4); }
  Place constant_words(const std::vector<ConstSlot>& words) { return pool_.words(words); }
  Place launch_value(ConstSlot::Launch what) { return pool_.launch(what); }
  Place all_ones() { return pool_.literal(0xffffffffu, 4); }
  /// 32 bits that the op being added may use for itself: a predicate, or a register of `words`.
  Place temporary_predicate() const { return Place{4 * 24}; }
  Place second_temporary_predicate() const { return Place{4 * 25}; }
  Place temporary(unsigned n) const { return slot(kTemporarySlots + n); }
  /// Result of the warp's last reducing barrier: a word per lane, or a predicate.
  Place barrier_result() const { return temporary(3); }

  /// Adds an op for `instruction`, with its source position and guard.
  Op& add(OpKind kind, const sass::Instruction& instruction, bool guarded = true);
  std::uint32_t add_site(const sass::Instruction& instruction, unsigned bytes);
  /// Fills the listing of the kernel.
  void list_code();
  std::shared_ptr<Kernel> finish();

 private:
  static constexpr std::uint32_t kJunkSlots = kBarrierSlots + kBarriers, kTemporarySlots = 21, kUniformSlots = 25;
  static Place slot(std::uint32_t n) { return Place{n * kSlotBytes}; }
  static constexpr std::uint32_t kJunkPredicate = 4 * 23;
  std::uint32_t register_slots() const { return kUniformSlots + uniforms_; }
  Place constant(const sass::Operand& operand, unsigned words);
  ConstSlot constant_word(const sass::Operand& operand, unsigned n) const;

  const MachineInput& input_;
  const MachineFlow& flow_;
  std::shared_ptr<Kernel> kernel_;
  std::shared_ptr<std::vector<sass::Instruction>> code_;
  ConstantPool pool_;
  std::uint32_t uniforms_ = 0, registers_ = 0;
};

// One file each.
void lower_memory_instruction(MachineBuilder& b, const sass::Instruction& i);
/// A register that is scaled in the address ([R6.X4], as before sm_90): an op that shifts it, before the access's own.
void lower_scale(MachineBuilder& b, const sass::Instruction& i);
/// The address of a memory instruction: register, uniform register and offset. After lower_scale.
void lower_address(MachineBuilder& b, const sass::Instruction& i, Op& op);
/// LDSM and STSM; false when the instruction is none.
bool lower_matrix_access(MachineBuilder& b, const sass::Instruction& i);
void lower_space_query(MachineBuilder& b, const sass::Instruction& i);
/// Textures and surfaces; false when the instruction is none.
bool lower_texture_instruction(MachineBuilder& b, const sass::Instruction& i);
/// Asynchronous copies and mbarriers; false when the instruction is none.
bool lower_async_instruction(MachineBuilder& b, const sass::Instruction& i);
void lower_special_register(MachineBuilder& b, const sass::Instruction& i);
/// What hardware decides while it runs, in ways that are not known in full (tests/counters/reasons.tsv); empty:
/// nothing.
std::string doubt_of(const MachineFlow& flow, const Kernel& like);
/// Whether a loop ends by what other threads write meanwhile (strong loads, swaps) or by the clock.
bool waits_for_others(const MachineFlow& flow);
/// What the instruction counts as (views::InstructionKind).
views::InstructionKind kind_of(const sass::Instruction& instruction);
bool is_memory_instruction(const sass::Instruction& instruction);

}  // namespace muscope::code
