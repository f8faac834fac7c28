#include "ptx/form.h"

#include <utility>

namespace muscope::ptx {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

/// Splits "ld{.weak}.type d, [a]" into the part with the modifiers and the part with the operands.
std::pair<std::string_view, std::string_view> split_form(std::string_view form) {
  const std::size_t blank = form.find(' ');
  if (blank == std::string_view::npos) return {form, {}};
  return {form.substr(0, blank), form.substr(blank + 1)};
}

void add_members(ModSlot& slot, const OpcodeRow& row, std::vector<std::string>* unknown) {
  std::string_view members = group_members(row, slot.name);
  if (members.empty()) members = slot.name;
  while (!members.empty()) {
    const std::size_t end = members.find(' ');
    const std::string_view name = members.substr(0, end);
    members = end == std::string_view::npos ? std::string_view{} : members.substr(end + 1);
    if (name.empty()) continue;
    const Mod mod = find_mod(name);
    if (mod == Mod::kInvalid) {
      if (unknown != nullptr) unknown->push_back(std::string(row.form) + ": " + std::string(name));
      continue;
    }
    slot.members.set(static_cast<std::size_t>(mod));
  }
}

std::vector<ModSlot> compile_mods(const OpcodeRow& row, std::vector<std::string>* unknown) {
  std::vector<ModSlot> slots;
  const std::string_view head = split_form(row.form).first;
  bool optional = false;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '{') optional = true;
    if (head[i] == '}') optional = false;
    if (head[i] != '.') continue;
    std::size_t end = i + 1;
    while (end < head.size() && is_name_character(head[end])) ++end;
    ModSlot slot;
    slot.name = head.substr(i, end - i);
    slot.optional = optional;
    add_members(slot, row, unknown);
    slots.push_back(slot);
    i = end - 1;
  }
  return slots;
}

/// One operand of a form without its comma, "d[|p]" say.
OperandSlot compile_operand(std::string_view text, bool first) {
  OperandSlot slot;
  slot.written = text == "d" || text.starts_with("d[|") || text.starts_with("d|") || text.starts_with("{d...}") ||
                 (first && (text == "p" || text.starts_with("p[|")));
  if (text.starts_with("[")) {
    slot.kind = text.find(',') == std::string_view::npos ? SlotKind::kAddress : SlotKind::kTexture;
  } else if (text.find("...}") != std::string_view::npos) {
    slot.kind = SlotKind::kVector;
    slot.vector_pair = text.ends_with("[|p]");
  } else if (text.starts_with("{!}") || text == "p") {
    slot.kind = SlotKind::kPredicate;
  } else if (text.ends_with("[|p]") || text.ends_with("[|q]")) {
    slot.kind = SlotKind::kMaybePair;
    slot.first_predicate = text.starts_with("p");
  } else if (text.find('|') != std::string_view::npos) {
    slot.kind = SlotKind::kPair;
  } else if (text == "tgt") {
    slot.kind = SlotKind::kLabel;
  }
  return slot;
}

std::vector<OperandSlot> compile_operands(const OpcodeRow& row) {
  std::vector<OperandSlot> slots;
  if (row.opcode == Opcode::k_call) return {OperandSlot{.kind = SlotKind::kCall}};
  std::string_view rest = split_form(row.form).second;
  while (!rest.empty()) {
    bool optional = false;
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ',')) rest.remove_prefix(1);
    if (rest.starts_with("{,")) {
      optional = true;
      rest.remove_prefix(2);
      while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    }
    int depth = 0;
    std::size_t end = 0;
    for (; end < rest.size(); ++end) {
      const char c = rest[end];
      if (depth == 0 && (c == ',' || c == '}' || (c == '{' && rest.substr(end, 2) == "{,"))) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
    }
    OperandSlot slot = compile_operand(rest.substr(0, end), slots.empty());
    slot.optional = optional;
    slots.push_back(slot);
    rest.remove_prefix(end);
    if (optional && !rest.empty() && rest.front() == '}') rest.remove_prefix(1);
  }
  return slots;
}

struct Table {
  std::vector<std::vector<Form>> forms;
  std::vector<std::string> unknown;
};

const Table& table() {
  static const Table compiled = [] {
    Table out;
    for (const OpcodeRow& row : opcode_rows()) {
      const auto index = static_cast<std::size_t>(row.opcode);
      if (index >= out.forms.size()) out.forms.resize(index + 1);
      Form form;
      form.row = &row;
      form.mods = compile_mods(row, &out.unknown);
      form.operands = compile_operands(row);
      for (const ModSlot& slot : form.mods) {
        form.any_scalar_predicate |= slot.members.test(static_cast<std::size_t>(Mod::k_pred));
      }
      out.forms[index].push_back(std::move(form));
    }
    return out;
  }();
  return compiled;
}

/// What the operand matcher looks at, so that its recursion stays small.
struct Matcher {
  std::span<const OperandSlot> slots;
  std::span<const Operand> operands;
  std::span<const Register> registers;
  bool predicates_anywhere;
  bool allows_minus;  ///< vmad alone: -a, -b, -c (PTX ISA, "vmad"; ptxas refuses it elsewhere)

  bool is_predicate(const Operand& operand) const {
    if (operand.kind == OperandKind::kSpecial) return operand.special == Special::kIsExplicitCluster;
    return operand.kind == OperandKind::kRegister && registers[operand.reg].type == Type::kPred;
  }
  bool fits_scalar(const Operand& operand, bool written, bool predicate) const {
    switch (operand.kind) {
      case OperandKind::kSink:
        return written;
      case OperandKind::kRegister:
        if (operand.negated && (written || (!is_predicate(operand) && !allows_minus))) return false;
        return predicates_anywhere || is_predicate(operand) == predicate;
      case OperandKind::kImmediate:
        return !written;
      case OperandKind::kSpecial:
        return !written && (predicates_anywhere || is_predicate(operand) == predicate);
      case OperandKind::kSymbol:
        return !written && !predicate;
      default:
        return false;
    }
  }
  bool fits_vector(const Operand& operand, bool written) const {
    if (operand.kind == OperandKind::kRegister) return !operand.negated && !is_predicate(operand);
    if (operand.kind != OperandKind::kVector || operand.elements.empty()) return false;
    for (const Operand& element : operand.elements) {
      if (!fits_scalar(element, written, false)) return false;
    }
    return true;
  }
  bool fits(const OperandSlot& slot, const Operand& operand) const {
    switch (slot.kind) {
      case SlotKind::kScalar:
        return fits_scalar(operand, slot.written, false);
      case SlotKind::kPredicate:
        return fits_scalar(operand, slot.written, true);
      case SlotKind::kMaybePair:
        if (operand.kind != OperandKind::kPair) return fits_scalar(operand, slot.written, slot.first_predicate);
        [[fallthrough]];
      case SlotKind::kPair:
        return operand.kind == OperandKind::kPair && fits_scalar(operand.elements[0], true, slot.first_predicate) &&
               fits_scalar(operand.elements[1], true, true);
      case SlotKind::kAddress:
        return operand.kind == OperandKind::kAddress || (operand.kind == OperandKind::kSymbol && operand.indexed);
      case SlotKind::kTexture:
        return operand.kind == OperandKind::kTexture;
      case SlotKind::kVector:
        if (slot.vector_pair && operand.kind == OperandKind::kPair) {
          return fits_vector(operand.elements[0], true) && fits_scalar(operand.elements[1], true, true);
        }
        return fits_vector(operand, slot.written);
      case SlotKind::kLabel:
        return operand.kind == OperandKind::kLabel;
      case SlotKind::kCall:
        return true;
    }
    return false;
  }
  /// Depth is bounded by the number of slots of a row, at most a dozen.
  bool match(std::size_t slot, std::size_t operand, std::uint32_t& used) const {
    if (slot == slots.size()) return operand == operands.size();
    if (operand < operands.size() && fits(slots[slot], operands[operand])) {
      used |= 1u << slot;
      if (match(slot + 1, operand + 1, used)) return true;
      used &= ~(1u << slot);
    }
    return slots[slot].optional && match(slot + 1, operand, used);
  }
};

}  // namespace

Mismatch Form::match_mods(std::span<const Mod> wanted) const {
  Mismatch out;
  std::uint64_t filled = 0;
  std::size_t first_for_types = 0;
  for (const Mod mod : wanted) {
    const bool typed = type_of(mod) != Type::kNone;
    bool found = false;
    for (std::size_t i = typed ? first_for_types : 0; i < mods.size() && !found; ++i) {
      if ((filled >> i & 1) != 0 || !mods[i].members.test(static_cast<std::size_t>(mod))) continue;
      filled |= std::uint64_t{1} << i;
      if (typed) first_for_types = i + 1;
      found = true;
    }
    if (!found) {
      out.kind = Mismatch::Kind::kModifier;
      out.mod = mod;
      return out;
    }
    ++out.matched;
  }
  for (std::size_t i = 0; i < mods.size(); ++i) {
    if (mods[i].optional || (filled >> i & 1) != 0) continue;
    out.kind = Mismatch::Kind::kMissing;
    out.missing = mods[i].name;
    return out;
  }
  return out;
}

bool Form::match_operands(std::vector<Operand>& given, std::span<const Register> registers, bool is_predicate) const {
  if (operands.size() == 1 && operands[0].kind == SlotKind::kCall) return true;
  if (given.size() > operands.size()) return false;
  const Matcher matcher{operands, given, registers, any_scalar_predicate && is_predicate,
                        row->opcode == Opcode::k_vmad};
  std::uint32_t used = 0;
  if (!matcher.match(0, 0, used)) return false;
  std::size_t next = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((used >> i & 1) == 0) continue;
    Operand& operand = given[next++];
    if (operands[i].kind == SlotKind::kAddress) operand.kind = OperandKind::kAddress;  // name[3] is [name+12]
    if (operands[i].kind == SlotKind::kVector && operand.kind == OperandKind::kRegister) {
      Operand vector;
      vector.kind = OperandKind::kVector;
      vector.elements.push_back(std::move(operand));
      operand = std::move(vector);
    }
  }
  return true;
}

std::span<const Form> forms_of(Opcode opcode) {
  const auto& forms = table().forms;
  const auto index = static_cast<std::size_t>(opcode);
  if (index >= forms.size()) return {};
  return forms[index];
}

std::vector<std::string> unknown_names_in_table() { return table().unknown; }

}  // namespace muscope::ptx
