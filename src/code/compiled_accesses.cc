#include "code/compiled_accesses.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

namespace muscope::code {
namespace {

using sass::Opcode;
using views::LocalUse;

constexpr std::uint8_t kStackPointer = 1;

std::optional<AccessType> type_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLD:
    case Opcode::kLDG:
    case Opcode::kLDS:
    case Opcode::kLDL:
      return AccessType::kLoad;
    case Opcode::kST:
    case Opcode::kSTG:
    case Opcode::kSTS:
    case Opcode::kSTL:
      return AccessType::kStore;
    case Opcode::kATOM:
    case Opcode::kATOMG:
    case Opcode::kATOMS:
    case Opcode::kRED:
    case Opcode::kREDG:
      return AccessType::kAtomic;
    default:
      return std::nullopt;
  }
}

std::optional<AccessType> type_of(const ptx::Instruction& i) {
  switch (i.opcode) {
    case ptx::Opcode::k_ld:
    case ptx::Opcode::k_ldu:
      return AccessType::kLoad;
    case ptx::Opcode::k_st:
      return AccessType::kStore;
    case ptx::Opcode::k_atom:
    case ptx::Opcode::k_red:
      return AccessType::kAtomic;
    default:
      return std::nullopt;
  }
}

std::uint32_t bytes_of(const ptx::Instruction& i) {
  const std::uint32_t one = i.types.empty() ? 0 : static_cast<std::uint32_t>(ptx::size_of(i.types.back()));
  return one * (i.has(ptx::Mod::k_v8) ? 8 : i.has(ptx::Mod::k_v4) ? 4 : i.has(ptx::Mod::k_v2) ? 2 : 1);
}

/// By instruction: whether a branch behind it leads to before it.
std::vector<bool> in_loops(const ptx::Function& f) {
  std::vector<std::uint32_t> farthest(f.body.size() + 1, 0);  // by target: the last branch behind it that goes there
  const auto branch = [&](std::size_t from, std::uint32_t label) {
    if (label >= f.labels.size()) return;
    const std::size_t to = f.labels[label].position;
    if (to <= from) farthest[to] = std::max(farthest[to], static_cast<std::uint32_t>(from + 1));
  };
  for (std::size_t n = 0; n < f.body.size(); ++n) {
    const ptx::Instruction& i = f.body[n];
    if (i.opcode != ptx::Opcode::k_bra && i.opcode != ptx::Opcode::k_brx) continue;
    for (const ptx::Operand& o : i.operands) {
      if (o.kind == ptx::OperandKind::kLabel) branch(n, o.label);
      if (o.symbol_kind == ptx::SymbolKind::kBranchTargets && o.symbol < f.target_lists.size())
        for (const std::uint32_t label : f.target_lists[o.symbol].labels) branch(n, label);
    }
  }
  std::vector<bool> inside(f.body.size());
  std::uint32_t end = 0;
  for (std::size_t n = 0; n < f.body.size(); ++n) {
    end = std::max(end, farthest[n]);
    inside[n] = n < end;
  }
  return inside;
}

/// Several PTX texts that were linked: lines of one are not those of another, and functions of two overlap.
bool of_several_texts(const ptx::Module& module) {
  std::vector<std::pair<int, int>> ranges;
  for (const ptx::Function& f : module.functions)
    if (f.has_body && !f.body.empty()) ranges.emplace_back(f.body.front().ptx_line, f.body.back().ptx_line);
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t n = 1; n < ranges.size(); ++n)
    if (ranges[n].first <= ranges[n - 1].second) return true;
  return false;
}

class Pairing {
 public:
  Pairing(std::string_view kernel, const ptx::Module& module, const cubin::CodeSection& section)
      : kernel_(kernel), module_(module), section_(section) {}

  PairedAccesses run() {
    for (const cubin::PtxRow& row : section_.ptx_lines) out_.has_lines |= row.line > 0;
    read_machine_code();
    collect_ptx();
    find_spills();
    pair();
    return std::move(out_);
  }

 private:
  void read_machine_code() {
    for (std::size_t pc = 0; pc + 16 <= section_.bytes.size(); pc += 16) {
      sass::Word word;
      std::memcpy(&word.lo, section_.bytes.data() + pc, 8);
      std::memcpy(&word.hi, section_.bytes.data() + pc + 8, 8);
      MachineAccess access;
      access.instruction = sass::decode(word, static_cast<std::uint32_t>(pc));
      const cubin::PtxRow* row = cubin::ptx_line_at(section_, pc);
      access.ptx_line = row == nullptr ? 0 : static_cast<int>(row->line);
      if (access.ptx_line > 0) lines_.insert(access.ptx_line);
      const Opcode opcode = access.instruction.opcode;
      if (opcode == Opcode::kVOTE || opcode == Opcode::kVOTEU || opcode == Opcode::kREDUX)
        votes_.insert(access.ptx_line);
      if (opcode == Opcode::kPOPC || opcode == Opcode::kUPOPC || opcode == Opcode::kREDUX)
        sums_.insert(access.ptx_line);
      const auto type = type_of(opcode);
      if (!type) continue;
      access.type = *type;
      const cubin::ImageSymbol* function = section_.function_at(pc);
      access.in_entry = function == nullptr || function->name == kernel_;
      out_.machine.push_back(access);
    }
  }

  /// The kernel, and the functions that code of its section was made from. Linked code has others in sections of their
  /// own, of which nothing is said.
  void collect_ptx() {
    for (const ptx::Function& f : module_.functions) {
      if (!f.has_body || f.body.empty()) continue;
      const auto first = lines_.lower_bound(f.body.front().ptx_line);
      const bool used = first != lines_.end() && *first <= f.body.back().ptx_line;
      if (f.is_entry ? f.name == kernel_ : used) collect(f);
    }
  }

  void collect(const ptx::Function& f) {
    const std::vector<bool> loops = in_loops(f);
    for (std::size_t n = 0; n < f.body.size(); ++n) {
      const ptx::Instruction& i = f.body[n];
      takes_stack_ |= i.opcode == ptx::Opcode::k_alloca;
      const auto type = type_of(i);
      if (!type || i.operands.size() < 2) continue;
      const ptx::Space space = i.space();
      if (space == ptx::Space::kConst) continue;
      if (space == ptx::Space::kParam) {
        // Parameters of a kernel are constants, those of calls may be on the stack.
        const bool of_kernel = f.is_entry && std::any_of(i.operands.begin(), i.operands.end(), [](const auto& o) {
                                 return o.symbol_kind == ptx::SymbolKind::kParameter;
                               });
        if (!of_kernel) arguments_.insert(i.ptx_line);
        continue;
      }
      PtxAccess access;
      access.function = &f;
      access.instruction = &i;
      access.type = *type;
      access.space = space;
      access.bytes = bytes_of(i);
      access.in_loop = loops[n];
      const auto [at, fresh] = by_line_.emplace(i.ptx_line, out_.ptx.size());
      if (!fresh) access.certain = out_.ptx[at->second].certain = false;
      out_.ptx.push_back(std::move(access));
    }
  }

  static bool at_stack_pointer(const sass::MemoryForm& m) {
    return m.base.kind == sass::OperandKind::kRegister && m.base.index == kStackPointer &&
           (!m.uniform.exists() || m.uniform.index == sass::kUrz);
  }

  /// Whether the PTX at the line may access local memory.
  bool may_be_local(int ptx_line) const {
    if (arguments_.contains(ptx_line)) return true;
    const auto found = by_line_.find(ptx_line);
    if (found == by_line_.end()) return false;
    const ptx::Space space = out_.ptx[found->second].space;
    return space == ptx::Space::kGeneric || space == ptx::Space::kLocal;
  }

  void find_spills() {
    bool has_variables = takes_stack_;
    for (const PtxAccess& a : out_.ptx)
      for (const ptx::Variable& v : a.function->variables) has_variables |= v.space == ptx::Space::kLocal;
    const bool known = out_.has_lines || (!has_variables && arguments_.empty());
    std::set<std::int32_t> words[2];  // offsets in the frame that spills use: of the kernel, of functions
    const auto each_word = [](const MachineAccess& a, auto visit) {
      for (unsigned n = 0; n < a.instruction.memory.bytes; n += 4)
        visit(a.instruction.memory.offset + static_cast<std::int32_t>(n));
    };
    for (int pass = 0; pass < 3; ++pass) {
      for (MachineAccess& a : out_.machine) {
        const bool local = a.instruction.opcode == Opcode::kLDL || a.instruction.opcode == Opcode::kSTL;
        if (!local || a.use == LocalUse::kSpill || a.use == LocalUse::kSaved) continue;
        std::set<std::int32_t>& own = words[a.in_entry ? 0 : 1];
        bool spill = false;
        if (known && at_stack_pointer(a.instruction.memory)) {
          bool shared = true;
          each_word(a, [&](std::int32_t word) { shared &= own.contains(word); });
          spill = shared || (out_.has_lines ? !may_be_local(a.ptx_line) : true);
        }
        a.use = !spill ? LocalUse::kArray : a.in_entry ? LocalUse::kSpill : LocalUse::kSaved;
        if (spill) each_word(a, [&](std::int32_t word) { own.insert(word); });
      }
    }
    bool fixed_array = false;
    for (MachineAccess& a : out_.machine) {
      if (a.use != LocalUse::kArray) continue;
      fixed_array |= a.in_entry && at_stack_pointer(a.instruction.memory);
      if (!known) a.use = LocalUse::kNone, out_.local_in_doubt = true;
    }
    if (fixed_array && !words[0].empty()) out_.local_in_doubt = true;
  }

  void pair() {
    for (PtxAccess& a : out_.ptx)
      if (a.type == AccessType::kAtomic)
        a.sums_warp = votes_.contains(a.instruction->ptx_line) && sums_.contains(a.instruction->ptx_line);
    for (const MachineAccess& m : out_.machine) {
      if (m.use == LocalUse::kSpill || m.use == LocalUse::kSaved) continue;
      const auto found = by_line_.find(m.ptx_line);
      if (found == by_line_.end()) {
        if (!arguments_.contains(m.ptx_line)) out_.unplaced[static_cast<int>(m.type)] = true;
        continue;
      }
      PtxAccess& ptx = out_.ptx[found->second];
      if (ptx.type == m.type || ptx.type == AccessType::kAtomic)
        ptx.machine.push_back(&m);
      else
        ptx.certain = false;
    }
  }

  bool takes_stack_ = false;
  std::string_view kernel_;
  const ptx::Module& module_;
  const cubin::CodeSection& section_;
  PairedAccesses out_;
  std::set<int> lines_, votes_, sums_, arguments_;  // PTX lines
  std::map<int, std::size_t> by_line_;              // PTX line to access
};

}  // namespace

const ptx::Operand& PtxAccess::address() const {
  const bool second = type == AccessType::kLoad || instruction->opcode == ptx::Opcode::k_atom;
  return instruction->operands[second && instruction->operands.size() > 1 ? 1 : 0];
}

PairedAccesses pair_accesses(std::string_view kernel, const ptx::Module& module, const cubin::CodeImage& image,
                             const cubin::CodeSection& section) {
  if (image.ptx_texts.size() > 1 || of_several_texts(module)) {
    cubin::CodeSection without = section;
    without.ptx_lines.clear();
    return Pairing(kernel, module, without).run();
  }
  return Pairing(kernel, module, section).run();
}

}  // namespace muscope::code
