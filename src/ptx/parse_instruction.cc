// Instructions: guard, mnemonic, operands, and the search for the form of the table that describes them.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/parser_impl.h"
#include "ptx/quote.h"

namespace muscope::ptx {
namespace {

constexpr std::size_t kMostModifiers = 32;
constexpr std::size_t kMostOperands = 32;

/// Number of edits between two short words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string_view nearest_opcode(std::string_view word) {
  constexpr std::size_t kLongest = 24;
  std::size_t best = 3;
  std::string_view out;
  if (word.size() > kLongest || word.size() < 2) return out;
  for (const OpcodeRow& row : opcode_rows()) {
    const std::string_view name = name_of(row.opcode);
    const std::size_t edits = distance(word, name);
    if (edits < best && edits < word.size()) {
      best = edits;
      out = name;
    }
  }
  return out;
}

}  // namespace

const Spelling& Parser::spelling_of(std::string_view mnemonic) {
  const auto [entry, fresh] = spellings_.try_emplace(mnemonic);
  Spelling& out = entry->second;
  if (!fresh) return out;
  const std::size_t dot = std::min(mnemonic.find('.'), mnemonic.size());
  out.opcode = find_opcode(mnemonic.substr(0, dot));
  std::string_view rest = mnemonic.substr(dot);
  while (!rest.empty() && out.mods.size() < kMostModifiers) {
    const std::size_t end = std::min(rest.find('.', 1), rest.size());
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(end);
    const Mod mod = find_mod(name);
    if (mod == Mod::kInvalid) {
      out.unknown_mod = name;
      return out;
    }
    out.mods.push_back(mod);
    if (type_of(mod) != Type::kNone) out.types.push_back(type_of(mod));
  }
  if (!rest.empty()) {
    out.unknown_mod = rest.substr(0, std::min(rest.find('.', 1), rest.size()));
    return out;
  }
  for (const Form& form : forms_of(out.opcode)) {
    const Mismatch mismatch = form.match_mods(out.mods);
    if (mismatch.kind == Mismatch::Kind::kNone) {
      out.forms.push_back(&form);
    } else if (out.mismatch.kind == Mismatch::Kind::kNone || mismatch.matched > out.mismatch.matched ||
               (mismatch.matched == out.mismatch.matched && mismatch.kind > out.mismatch.kind)) {
      out.mismatch = mismatch;
    }
  }
  return out;
}

void Parser::parse_instruction() {
  Instruction instruction;
  instruction.loc = loc_;
  instruction.ptx_line = token().line;
  pending_.clear();
  operand_index_ = 0;
  element_index_ = kNoIndex;
  open_braces_ = 0;
  std::string_view mnemonic;
  try {
    if (accept('@')) {
      instruction.guard_negated = accept('!');
      const int line = token().line;
      const std::string_view name = expect_word("a predicate register");
      instruction.guard = find_register(name);
      if (instruction.guard == kNoIndex) {
        report("D304", "the register " + quote(name) + " is not declared", {}, line);
        throw SyntaxError{};
      }
      if (function().registers[instruction.guard].type != Type::kPred) {
        report("D303", "the guard " + quote(name) + " is no predicate register", {}, line);
        throw SyntaxError{};
      }
    }
    if (token().kind != TokenKind::kWord) fail_expected("an instruction");
    instruction.ptx_line = token().line;
    const char* begin = token().text.data();
    const std::string_view glued = lexer_.glued_modifiers();
    mnemonic = {begin,
                glued.empty() ? token().text.size() : static_cast<std::size_t>(glued.data() + glued.size() - begin)};
    advance();
    std::string spaced;  // modifiers that stand apart: "ld .global .u32"
    std::string_view whole = mnemonic;
    while (token().kind == TokenKind::kDot) {
      if (spaced.empty()) spaced = mnemonic;
      spaced += token().text;
      whole = {begin, static_cast<std::size_t>(token().text.data() + token().text.size() - begin)};
      advance();
    }
    if (!spaced.empty()) {
      // The map keys into the text; a spelling with blanks is kept under its own place in the text.
      const Spelling made = spelling_of(kept_spellings_.emplace_back(std::make_unique<std::string>(spaced))->c_str());
      mnemonic = whole;
      spellings_.insert_or_assign(whole, made);
    }
    const Spelling& spelling = spelling_of(mnemonic);
    instruction.opcode = spelling.opcode;
    instruction.mods = spelling.mods;
    instruction.types = spelling.types;
    if (spelling.forms.empty()) {
      report_unfit(spelling, mnemonic);
      skip_operands();
      instruction.opcode = Opcode::kInvalid;
      return push_instruction(std::move(instruction));
    }
    parse_operands(instruction);
    match(instruction, spelling, mnemonic);
    if (!token().is(';')) fail_expected("';'");
    advance();
  } catch (const SyntaxError&) {
    pending_.clear();
    skip_operands();
    instruction.opcode = Opcode::kInvalid;
    instruction.row = nullptr;
    instruction.operands.clear();
  }
  push_instruction(std::move(instruction));
}

void Parser::skip_operands() {
  // Vector braces belong to the instruction; a brace that closes a block does not.
  std::uint64_t depth = open_braces_;
  open_braces_ = 0;
  while (token().kind != TokenKind::kEnd) {
    if (token().is(';')) {
      advance();
      return;
    }
    if (token().is('{')) ++depth;
    if (token().is('}')) {
      if (depth == 0) return;
      --depth;
    }
    advance();
  }
}

void Parser::report_unfit(const Spelling& spelling, std::string_view mnemonic) {
  const std::string whole = quote(mnemonic);
  if (spelling.opcode == Opcode::kInvalid) {
    const std::string_view word = mnemonic.substr(0, mnemonic.find('.'));
    const std::string_view nearest = errors_ < kMostErrors ? nearest_opcode(word) : std::string_view{};
    return report("D301", "unknown PTX instruction " + whole,
                  nearest.empty() ? "assemble with a PTX version that muscope knows (see muscope explain ptx)"
                                  : "did you mean '" + std::string(nearest) + "'?");
  }
  const std::string opcode(name_of(spelling.opcode));
  const std::string hint = "see muscope explain " + opcode + " for the forms that are known";
  if (!spelling.unknown_mod.empty()) {
    return report("D302", "unknown modifier " + quote(spelling.unknown_mod) + " in " + whole, hint);
  }
  const Mismatch& mismatch = spelling.mismatch;
  if (mismatch.kind == Mismatch::Kind::kMissing) {
    return report("D302", whole + " lacks its " + std::string(mismatch.missing) + " modifier", hint);
  }
  // A modifier that no form has is a better answer than one that only this combination lacks.
  for (const Mod mod : spelling.mods) {
    const auto forms = forms_of(spelling.opcode);
    const bool somewhere = std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
      return std::any_of(form.mods.begin(), form.mods.end(),
                         [&](const ModSlot& slot) { return slot.members.test(static_cast<std::size_t>(mod)); });
    });
    if (somewhere) continue;
    return report("D302", fmt::format("no form of '{}' has the modifier '{}' (in {})", opcode, name_of(mod), whole),
                  hint);
  }
  report("D302",
         fmt::format("no form of '{}' has the modifier '{}' together with the others of {}", opcode,
                     name_of(mismatch.mod), whole),
         hint);
}

void Parser::parse_operands(Instruction& instruction) {
  if (instruction.opcode == Opcode::k_call) return parse_call(instruction);
  const bool is_branch = instruction.opcode == Opcode::k_bra;
  while (!token().is(';')) {
    if (instruction.operands.size() == kMostOperands) fail_here("D303", "the instruction has too many operands");
    operand_index_ = static_cast<std::uint32_t>(instruction.operands.size());
    element_index_ = kNoIndex;
    instruction.operands.push_back(is_branch ? parse_label_operand() : parse_operand());
    if (token().is(';')) return;
    expect(',');
  }
}

void Parser::parse_call_list(Operand& list) {
  list.kind = OperandKind::kVector;
  expect('(');
  while (!token().is(')')) {
    element_index_ = static_cast<std::uint32_t>(list.elements.size());
    list.elements.push_back(parse_single_operand());
    if (!accept(',') && !token().is(')')) fail_expected("',' or ')'");
  }
  advance();
  element_index_ = kNoIndex;
}

void Parser::parse_call(Instruction& instruction) {
  instruction.operands.resize(3);
  instruction.operands[CallOperands::kReturns].kind = OperandKind::kVector;
  instruction.operands[CallOperands::kArguments].kind = OperandKind::kVector;
  if (token().is('(')) {
    operand_index_ = CallOperands::kReturns;
    parse_call_list(instruction.operands[CallOperands::kReturns]);
    expect(',');
  }
  operand_index_ = CallOperands::kCallee;
  if (token().kind != TokenKind::kWord) fail_expected("a function");
  instruction.operands[CallOperands::kCallee] = parse_word();
  if (accept(',')) {
    if (token().is('(')) {
      operand_index_ = CallOperands::kArguments;
      parse_call_list(instruction.operands[CallOperands::kArguments]);
      if (token().is(';')) return;
      expect(',');
    }
    operand_index_ = CallOperands::kPrototype;
    if (token().kind != TokenKind::kWord) fail_expected("a prototype or a list of targets");
    instruction.operands.push_back(parse_word());
  }
}

void Parser::match(Instruction& instruction, const Spelling& spelling, std::string_view mnemonic) {
  const bool is_predicate =
      std::find(spelling.types.begin(), spelling.types.end(), Type::kPred) != spelling.types.end();
  for (const Form* form : spelling.forms) {
    if (!form->match_operands(instruction.operands, function().registers, is_predicate)) continue;
    instruction.row = form->row;
    return;
  }
  report("D303", "the operands of " + quote(mnemonic) + " do not fit",
         "the form is: " + std::string(spelling.forms.front()->row->form), instruction.ptx_line);
  throw SyntaxError{};
}

void Parser::push_instruction(Instruction instruction) {
  const auto index = static_cast<std::uint32_t>(function().body.size());
  for (Reference& reference : pending_) {
    reference.function = function_;
    reference.instruction = index;
    const bool is_label = instruction.operands[reference.operand].kind == OperandKind::kLabel;
    (is_label ? scopes_.back().branches : names_).push_back(reference);
  }
  pending_.clear();
  function().body.push_back(std::move(instruction));
}

}  // namespace muscope::ptx
