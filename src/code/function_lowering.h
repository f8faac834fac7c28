// Lowers one PTX function into a Kernel under construction. Internal to code/.
#pragma once

#include <map>
#include <optional>

#include "code/constants.h"
#include "code/control_flow.h"
#include "code/kernel.h"
#include "code/loaded_module.h"
#include "code/registers.h"
#include "code/source_frames.h"

namespace muscope::code {

struct AsyncAddress;
struct TextureForm;

/// What the functions of one kernel share while it is built.
struct KernelBuilder {
  KernelBuilder(std::shared_ptr<const ptx::Module> m, const LoadedModule& l)
      : module(std::move(m)), loaded(l), frames(*module), kernel(std::make_shared<Kernel>()) {}

  std::shared_ptr<const ptx::Module> module;
  const LoadedModule& loaded;
  SourceFrames frames;
  ConstantPool pool;
  std::shared_ptr<Kernel> kernel;
  std::map<std::uint32_t, std::uint32_t> function_index;  ///< ptx function -> Kernel::functions
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      shared_offset;  ///< (ptx function or kNone for module scope, variable) -> offset in the window

  const ptx::Function& ptx_function(std::uint32_t index) const { return module->functions[index]; }
};

class FunctionLowering {
 public:
  FunctionLowering(KernelBuilder& builder, std::uint32_t ptx_index);
  void run();

 private:
  struct Alias {
    Place place;
    bool known = false;
  };

  // Layout of the activation (function_lowering.cc).
  void lay_out_locals();
  void find_aliases();
  void emit_block(std::uint32_t raw, std::size_t order_index);
  void emit_terminator(const RawBlock& block, std::size_t order_index);
  Op& emit(OpKind kind, const ptx::Instruction* source);
  void count(const ptx::Instruction& instruction, std::uint32_t guarded_op);

  // Operands (operand_lowering.cc).
  Place place_of_register(std::uint32_t reg) const;
  Place place(const ptx::Operand& operand, ptx::Type type);
  Place predicate(const ptx::Operand& operand, bool& negated);
  std::optional<std::uint64_t> symbol_value(const ptx::Operand& operand) const;
  /// The place of that value, in lanes of `lane_bytes`. Addresses of shared variables hold the block's rank.
  std::optional<Place> symbol_place(const ptx::Operand& operand, unsigned lane_bytes);
  std::optional<Place> special_place(const ptx::Operand& operand);
  unsigned lane_bytes(const ptx::Operand& operand, ptx::Type type) const;
  void address(Op& op, const ptx::Operand& operand);
  std::uint32_t local_offset(const ptx::Operand& operand) const;
  bool is_local_symbol(const ptx::Operand& operand) const;

  // Asynchronous copies and mbarriers (async_lowering.cc).
  void lower_async(const ptx::Instruction& i);
  void lower_async_copy(const ptx::Instruction& i);
  void lower_bulk_copy(const ptx::Instruction& i);
  void lower_mbarrier(const ptx::Instruction& i);
  void lower_tensor_copy(const ptx::Instruction& i);
  void lower_async_store(const ptx::Instruction& i);
  AsyncAddress async_address(const ptx::Operand& operand, ptx::Space space, bool cluster);
  Op& emit_async(const ptx::Instruction& i, const AsyncDetails& details);
  // Matrices (matrix_lowering.cc).
  void lower_mma(const ptx::Instruction& i);
  void lower_matrix_access(const ptx::Instruction& i);
  void lower_fragment_access(const ptx::Instruction& i);

  // Instructions (instruction_lowering.cc, memory_lowering.cc).
  void lower(const ptx::Instruction& i);
  void lower_plain(Op& op, const ptx::Instruction& i);
  void lower_mov(const ptx::Instruction& i);
  void lower_compare(Op& op, const ptx::Instruction& i);
  void lower_warp(Op& op, const ptx::Instruction& i);
  void lower_memory(const ptx::Instruction& i);
  bool lower_entry_param(const ptx::Instruction& i);
  void lower_atomic(Op& op, const ptx::Instruction& i);
  void lower_policy(const ptx::Instruction& i);
  bool lower_vector_atomic(Op& op, const ptx::Instruction& i);
  void vector_places(Op& op, const ptx::Operand& vector);
  // Textures and surfaces (texture_lowering.cc).
  void lower_texture(Op& op, const ptx::Instruction& i);
  void lower_surface(const ptx::Instruction& i);
  void lower_query(const ptx::Instruction& i);
  void lower_kind_test(const ptx::Instruction& i);
  /// The handle and coordinates, into `a` and `list`; false when the operand is of another kind.
  bool lower_image(Op& op, const ptx::Operand& where, const TextureForm& form, ptx::Type coordinate);
  /// Appends the first `count` elements to `list`.
  bool add_elements(Op& op, const ptx::Operand& operand, std::size_t count, ptx::Type first, ptx::Type rest);
  void lower_call(const ptx::Instruction& i);
  void unsupported(const ptx::Instruction& i);
  std::uint32_t add_site(const ptx::Instruction& i, unsigned bytes);
  bool result_is_used(const ptx::Instruction& i) const;

  KernelBuilder& b_;
  Kernel& k_;
  std::uint32_t ptx_index_;
  const ptx::Function& f_;
  bool entry_;
  FlowGraph graph_;
  RegisterMap registers_;
  std::vector<Alias> alias_;
  std::vector<std::uint32_t> uses_, defs_;     ///< per register
  std::vector<std::uint32_t> variable_local_;  ///< Function::variables -> offset in the local frame (.local and .param)
  std::uint32_t local_bytes_ = 0;
  std::vector<std::uint32_t> op_of_raw_;               ///< raw block -> op index of its kEnter
  std::vector<std::pair<std::uint32_t, int>> fixups_;  ///< ops whose targets are still raw block numbers
  std::uint32_t block_ = 0;                            ///< Kernel::blocks index being filled
  bool strip_guard_ = false;
  bool missing_ = false;  ///< an operand of the instruction being lowered has no place: it cannot be executed
};

}  // namespace muscope::code
