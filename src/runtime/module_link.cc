#include "runtime/module_link.h"

#include <set>
#include <unordered_map>
#include <utility>

namespace muscope::runtime {
namespace {

using ptx::kNoIndex;

// Where the entities of one input module went in the linked one.
struct Renumbering {
  std::vector<std::uint32_t> variables, functions;
  std::uint32_t files = 0, locs = 0;  // added to indices
};

std::uint32_t moved(std::uint32_t index, const std::vector<std::uint32_t>& map) {
  return index < map.size() ? map[index] : index;
}

void renumber(ptx::Operand& operand, const Renumbering& to) {
  if (operand.symbol_kind == ptx::SymbolKind::kModuleVariable) operand.symbol = moved(operand.symbol, to.variables);
  if (operand.symbol_kind == ptx::SymbolKind::kFunction) operand.symbol = moved(operand.symbol, to.functions);
  for (ptx::Operand& element : operand.elements) renumber(element, to);
}

void renumber(ptx::Variable& variable, const Renumbering& to) {
  for (ptx::Relocation& relocation : variable.relocations) {
    const bool function = relocation.symbol_kind == ptx::SymbolKind::kFunction;
    if (function || relocation.symbol_kind == ptx::SymbolKind::kModuleVariable) {
      relocation.symbol = moved(relocation.symbol, function ? to.functions : to.variables);
    }
  }
}

void renumber(ptx::Function& function, const Renumbering& to) {
  for (ptx::Variable& variable : function.variables) renumber(variable, to);
  for (ptx::TargetList& list : function.target_lists) {
    for (std::uint32_t& target : list.functions) target = moved(target, to.functions);
  }
  for (ptx::Instruction& instruction : function.body) {
    if (instruction.loc != kNoIndex) instruction.loc += to.locs;
    for (ptx::Operand& operand : instruction.operands) renumber(operand, to);
  }
}

bool defines(const ptx::Variable& variable) { return variable.linkage != ptx::Linkage::kExtern; }
bool defines(const ptx::Function& function) { return function.has_body; }

// A strong definition goes before a weak or common one, that before a declaration; the largest common one counts.
template <typename Entity>
int rank(const Entity& entity) {
  if (!defines(entity)) return 0;
  return entity.linkage == ptx::Linkage::kWeak || entity.linkage == ptx::Linkage::kCommon ? 1 : 2;
}

bool shared_name(const ptx::Variable& variable) { return variable.linkage != ptx::Linkage::kInternal; }
// `.extern` and bodiless declarations of functions that other modules define have no linkage word of their own
// sometimes.
bool shared_name(const ptx::Function& function) {
  return function.linkage != ptx::Linkage::kInternal || !function.has_body;
}

// Puts entities of one kind into the linked list and says where each went.
template <typename Entity>
class Table {
 public:
  explicit Table(std::vector<Entity>& out) : out_(out) {}

  std::vector<std::uint32_t> add(std::vector<Entity>& entities,
                                 std::vector<std::pair<std::uint32_t, std::size_t>>& placed, std::size_t module) {
    std::vector<std::uint32_t> map;
    for (Entity& entity : entities) {
      if (shared_name(entity)) {
        const auto [known, fresh] = shared_.try_emplace(entity.name, static_cast<std::uint32_t>(out_.size()));
        if (!fresh) {
          map.push_back(known->second);
          if (rank(entity) > rank(out_[known->second])) {
            out_[known->second] = std::move(entity);
            placed.push_back({known->second, module});
          }
          continue;
        }
      }
      if (!names_.insert(entity.name).second && !shared_name(entity)) {
        entity.name.append(1, '@').append(std::to_string(module + 1));
        names_.insert(entity.name);
      }
      map.push_back(static_cast<std::uint32_t>(out_.size()));
      placed.push_back({static_cast<std::uint32_t>(out_.size()), module});
      out_.push_back(std::move(entity));
    }
    return map;
  }

 private:
  std::vector<Entity>& out_;
  std::unordered_map<std::string, std::uint32_t> shared_;
  std::set<std::string> names_;
};

}  // namespace

ptx::Module link_modules(std::vector<ptx::Module> modules, const std::string& name) {
  if (modules.size() == 1) return std::move(modules.front());
  ptx::Module out;
  if (modules.empty()) return out;
  out.name = "linked PTX of " + name;
  out.version_major = modules.front().version_major;
  out.version_minor = modules.front().version_minor;
  out.target = modules.front().target;
  out.address_size = modules.front().address_size;

  std::vector<Renumbering> to(modules.size());
  // Which module each entity of the linked one came from last: its indices are that module's.
  std::vector<std::pair<std::uint32_t, std::size_t>> variables, functions;
  Table<ptx::Variable> variable_table(out.variables);
  Table<ptx::Function> function_table(out.functions);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    ptx::Module& module = modules[i];
    to[i].files = static_cast<std::uint32_t>(out.files.size());
    to[i].locs = static_cast<std::uint32_t>(out.locs.size());
    to[i].variables = variable_table.add(module.variables, variables, i);
    to[i].functions = function_table.add(module.functions, functions, i);
    for (ptx::Loc& loc : module.locs) {
      loc.file += to[i].files;
      if (loc.inlined_at != kNoIndex) loc.inlined_at += to[i].locs;
      out.locs.push_back(std::move(loc));
    }
    out.files.insert(out.files.end(), module.files.begin(), module.files.end());
  }
  std::vector<std::size_t> owner(out.variables.size());
  for (const auto& [index, module] : variables) owner[index] = module;
  for (std::size_t i = 0; i < owner.size(); ++i) renumber(out.variables[i], to[owner[i]]);
  owner.assign(out.functions.size(), 0);
  for (const auto& [index, module] : functions) owner[index] = module;
  for (std::size_t i = 0; i < owner.size(); ++i) renumber(out.functions[i], to[owner[i]]);
  return out;
}

}  // namespace muscope::runtime
