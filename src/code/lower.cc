#include "code/lower.h"
#include "base/diagnostic.h"

#include <algorithm>
#include <set>

#include "code/function_lowering.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::SymbolKind;

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

/// Calls f(operand) for an operand and everything inside it.
template <typename F>
void for_each_operand(const std::vector<ptx::Operand>& operands, F&& f) {
  for (const ptx::Operand& o : operands) {
    f(o);
    for_each_operand(o.elements, f);
  }
}

/// Functions that the entry can reach, the entry first. Where an indirect call is among them, every function of the
/// module that has a body counts as reachable.
struct Reachable {
  std::vector<std::uint32_t> functions;
  bool indirect = false;
  bool recursive = false;
};

Reachable find_reachable(const ptx::Module& module, std::uint32_t entry) {
  Reachable out;
  std::set<std::uint32_t> seen{entry};
  out.functions.push_back(entry);
  const auto add = [&](std::uint32_t f) {
    if (f < module.functions.size() && module.functions[f].has_body && !module.functions[f].is_entry &&
        seen.insert(f).second)
      out.functions.push_back(f);
  };
  for (std::size_t i = 0; i < out.functions.size(); ++i) {
    for (const ptx::Instruction& instruction : module.functions[out.functions[i]].body) {
      if (instruction.opcode == Opcode::k_call && instruction.operands.size() > ptx::CallOperands::kCallee &&
          instruction.operands[ptx::CallOperands::kCallee].kind == OperandKind::kRegister)
        out.indirect = true;
      for_each_operand(instruction.operands, [&](const ptx::Operand& o) {
        if (o.symbol_kind == SymbolKind::kFunction) add(o.symbol);
      });
    }
    if (out.indirect)
      for (std::uint32_t f = 0; f < module.functions.size(); ++f) add(f);
  }
  // A call to a function that was found no later than the caller may be a cycle: it gets a stack with room.
  std::map<std::uint32_t, std::size_t> rank;
  for (std::size_t i = 0; i < out.functions.size(); ++i) rank[out.functions[i]] = i;
  std::map<std::uint32_t, std::set<std::uint32_t>> calls;
  for (std::uint32_t f : out.functions)
    for (const ptx::Instruction& instruction : module.functions[f].body)
      if (instruction.opcode == Opcode::k_call && instruction.operands.size() > ptx::CallOperands::kCallee) {
        const ptx::Operand& callee = instruction.operands[ptx::CallOperands::kCallee];
        if (callee.symbol_kind == SymbolKind::kFunction && rank.count(callee.symbol)) calls[f].insert(callee.symbol);
      }
  std::map<std::uint32_t, int> state;  // 1 in progress, 2 done
  std::vector<std::pair<std::uint32_t, std::set<std::uint32_t>::const_iterator>> stack;
  for (std::uint32_t root : out.functions) {
    if (state[root]) continue;
    state[root] = 1;
    stack.push_back({root, calls[root].begin()});
    while (!stack.empty()) {
      auto& [f, next] = stack.back();
      if (next == calls[f].end()) {
        state[f] = 2;
        stack.pop_back();
        continue;
      }
      const std::uint32_t callee = *next++;
      if (state[callee] == 1) out.recursive = true;
      if (state[callee] == 0) state[callee] = 1, stack.push_back({callee, calls[callee].begin()});
    }
  }
  return out;
}

void lay_out_params(Kernel& kernel, const ptx::Function& entry) {
  for (const ptx::Parameter& p : entry.params) {
    kernel.param_bytes = align_up(kernel.param_bytes, static_cast<std::uint32_t>(std::max(p.alignment, 1)));
    kernel.params.push_back({kernel.param_bytes, static_cast<std::uint32_t>(p.size)});
    kernel.param_bytes += static_cast<std::uint32_t>(p.size);
  }
  kernel.info.param_bytes = kernel.param_bytes;
}

/// Shared variables that the kernel's functions name, in declaration order after the reserved bytes; `extern` arrays
/// all start after them (PTX ISA, "Kernel Function Parameters" and "Shared State Space").
void lay_out_shared(KernelBuilder& b, const std::vector<std::uint32_t>& functions) {
  std::set<std::uint32_t> module_used;
  std::set<std::pair<std::uint32_t, std::uint32_t>> dynamic;
  std::uint32_t at = kSharedBase, dynamic_alignment = 16;
  const auto place = [&](std::uint32_t function, std::uint32_t index, const ptx::Variable& variable) {
    const std::uint32_t alignment = static_cast<std::uint32_t>(std::max(variable.alignment, 1));
    if (variable.linkage == ptx::Linkage::kExtern || variable.size == 0) {
      dynamic.insert({function, index});
      dynamic_alignment = std::max(dynamic_alignment, alignment);
      return;
    }
    at = align_up(at, alignment);
    b.shared_offset[{function, index}] = at;
    if (variable.size > (1u << 24) || at > (1u << 24))
      fail("D313", "shared memory of '" + demangle(b.kernel->info.mangled) + "' is beyond any GPU's",
           "a block has at most 228 KiB", {b.module->name, variable.ptx_line, 0});
    at += static_cast<std::uint32_t>(variable.size);
  };
  for (std::uint32_t f : functions)
    for (const ptx::Instruction& i : b.ptx_function(f).body)
      for_each_operand(i.operands, [&](const ptx::Operand& o) {
        if (o.symbol_kind == SymbolKind::kModuleVariable && o.symbol < b.module->variables.size() &&
            b.module->variables[o.symbol].space == ptx::Space::kShared)
          module_used.insert(o.symbol);
      });
  for (std::uint32_t v : module_used) place(kNone, v, b.module->variables[v]);
  for (std::uint32_t f : functions) {
    const ptx::Function& function = b.ptx_function(f);
    for (std::uint32_t v = 0; v < function.variables.size(); ++v)
      if (function.variables[v].space == ptx::Space::kShared) place(f, v, function.variables[v]);
  }
  b.kernel->static_shared_bytes = at - kSharedBase;
  b.kernel->info.static_shared = at - kSharedBase;
  b.kernel->dynamic_shared_offset = align_up(at, dynamic_alignment);
  for (const auto& key : dynamic) b.shared_offset[key] = b.kernel->dynamic_shared_offset;
}

}  // namespace

std::shared_ptr<const Kernel> lower(std::shared_ptr<const ptx::Module> module, std::uint32_t entry_index,
                                    const LoadedModule& loaded) {
  const ptx::Function& entry = module->functions.at(entry_index);
  KernelBuilder b(module, loaded);
  Kernel& kernel = *b.kernel;
  kernel.module = module;
  kernel.info.mangled = entry.name;
  kernel.info.name = demangle(entry.name);
  kernel.info.module = module->name;
  kernel.info.ptx_target = module->target;
  kernel.info.minnctapersm = entry.minnctapersm;
  for (int d = 0; d < 3; ++d) kernel.info.maxntid[d] = entry.reqntid[d] ? entry.reqntid[d] : entry.maxntid[d];
  if (!entry.has_body)
    fail("D311", "kernel '" + kernel.info.name + "' has no body in this PTX", "link the file that defines it",
         {module->name, entry.ptx_line, 0});

  const Reachable reachable = find_reachable(*module, entry_index);
  for (std::uint32_t f : reachable.functions)
    b.function_index.emplace(f, static_cast<std::uint32_t>(b.function_index.size()));
  // std::map sorts by key: number in order of discovery instead, the entry first.
  for (std::uint32_t i = 0; i < reachable.functions.size(); ++i) b.function_index[reachable.functions[i]] = i;
  kernel.functions.resize(reachable.functions.size());
  for (std::uint32_t i = 0; i < reachable.functions.size(); ++i)
    kernel.functions[i].address = kFunctionWindow + std::uint64_t{reachable.functions[i]} * 16;
  kernel.recursive = reachable.recursive || reachable.indirect;
  lay_out_params(kernel, entry);
  lay_out_shared(b, reachable.functions);
  loaded.constant_bank(kernel.const_bank_base, kernel.const_bank_size);
  for (std::uint32_t f : reachable.functions) FunctionLowering(b, f).run();
  for (const Op& op : kernel.ops) {
    if (op.kind == OpKind::kCall) {
      kernel.has_calls = true;
      // What these give out depends on who asks first.
      if (op.call->builtin == "malloc" || op.call->builtin == "free" || op.call->builtin.starts_with("__cuda_syscall_"))
        kernel.ordered = true;
    }
    if (op.source && (op.opcode == Opcode::k_membar || op.opcode == Opcode::k_fence) && !op.source->has(Mod::k_cta))
      kernel.ordered = true;
    if (op.opcode == Opcode::k_nanosleep) kernel.ordered = true;
  }
  kernel.constants = b.pool.take();
  kernel.const_bank_bytes = std::max(b.pool.bytes(), kSlotBytes);
  kernel.info.frames = b.frames.take();
  kernel.info.registers = 0;
  return b.kernel;
}

}  // namespace muscope::code
