// The parser's state and its parts; one file per part: parser.cc (module), parse_variable.cc, parse_function.cc,
// parse_instruction.cc, parse_operand.cc, parse_constant.cc. Include it from those only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/debug_info.h"
#include "ptx/form.h"
#include "ptx/lexer.h"
#include "ptx/parser.h"

namespace muscope::ptx {

/// More errors than this are not told one by one.
inline constexpr std::size_t kMostErrors = 200;

/// The value of a constant expression: 64-bit integer, or the bits of a floating-point literal.
struct Constant {
  Literal literal = Literal::kInteger;
  std::uint64_t bits = 0;
  bool is_unsigned = false;
};

/// Opcode and modifiers as spelled, looked up once per spelling: "ld.global.nc.u32".
struct Spelling {
  Opcode opcode = Opcode::kInvalid;
  std::vector<Mod> mods;
  std::vector<Type> types;
  std::vector<const Form*> forms;  ///< whose modifiers fit, in table order
  std::string_view unknown_mod;    ///< not a modifier of anything
  Mismatch mismatch;               ///< of the nearest row, when `forms` is empty
};

/// What a name in a function means.
struct Symbol {
  enum class Kind : std::uint8_t {
    kRegister,
    kVectorRegister,
    kVariable,
    kParameter,
    kReturnParameter
  } kind = Kind::kRegister;
  std::uint32_t index = kNoIndex;
};

/// A place in a function's body that holds a name to resolve later.
struct Reference {
  enum class Place : std::uint8_t { kOperand, kBranchTarget, kCallTarget } place = Place::kOperand;
  std::string_view name;
  std::uint32_t function = 0;
  std::uint32_t instruction = 0;  ///< or the index of the target list
  std::uint32_t operand = 0;      ///< or the place in the list
  std::uint32_t element = kNoIndex;
  int line = 0;
};

/// %r<100>: registers come into being when they are first named.
struct RegisterRange {
  Type type = Type::kNone;
  std::uint8_t width = 1;  ///< elements of a vector register
  std::uint64_t count = 0;
};

struct Scope {
  std::unordered_map<std::string_view, Symbol> names;
  std::unordered_map<std::string_view, RegisterRange> ranges;
  std::unordered_map<std::string_view, std::uint32_t> labels;
  std::vector<Reference> branches;  ///< to labels of this or an outer scope
};

/// Thrown inside the parser to give up the present statement; reading goes on after the next `;`.
struct SyntaxError {};

class Parser {
 public:
  Parser(std::string_view text, std::string_view name);
  ParseResult run();

 private:
  // Messages
  void report(std::string_view code, std::string text, std::string hint = {}, int line = 0);
  [[noreturn]] void fail_here(std::string_view code, std::string text, std::string hint = {});
  [[noreturn]] void fail_expected(std::string_view what);

  // Tokens
  const Token& token() const { return lexer_.current(); }
  void advance() { lexer_.advance(); }
  bool accept(char punct);
  void expect(char punct);
  std::string_view expect_word(std::string_view what);
  void skip_statement();

  // Module (parser.cc)
  void parse_module_item();
  void parse_version();
  void parse_target();
  void parse_file();
  void parse_section();
  void parse_debug_strings();
  void parse_alias();
  std::uint32_t parse_loc();
  void finish();
  void resolve_reference(const Reference& reference);

  // Constants (parse_constant.cc)
  Constant parse_constant();
  Constant parse_ternary();
  Constant parse_binary(int level);
  Constant parse_unary();
  std::uint64_t parse_integer(std::string_view what, std::uint64_t most);
  bool at_constant() const;

  // Variables (parse_variable.cc)
  struct Declarator {
    Type type = Type::kNone;
    int lanes = 1;  ///< .v2, .v4
    int alignment = 0;
    bool managed = false;
  };
  Declarator parse_declarator();
  std::vector<std::uint64_t> parse_dimensions();
  void parse_variables(Space space, Linkage linkage);
  void parse_registers();
  void parse_initialiser(Variable& variable, const Declarator& declarator, const std::vector<std::uint64_t>& dimensions,
                         std::uint32_t index);
  void parse_initialiser_list(Variable& variable, const Declarator& declarator,
                              std::span<const std::uint64_t> dimensions, std::uint64_t base, std::uint64_t& end,
                              std::uint32_t index, int depth);
  void parse_initialiser_value(Variable& variable, Type type, std::uint64_t offset, std::uint32_t index);
  void write_bytes(Variable& variable, std::uint64_t offset, std::uint64_t bits, int size);
  Parameter parse_parameter(bool needs_name);
  std::vector<Parameter> parse_parameter_list(bool needs_name);
  /// False when the variable is one declared before, which stays.
  bool declare_variable(Variable variable, std::uint32_t known);
  void parse_attribute(Declarator& declarator);
  void skip_parentheses();

  // Functions (parse_function.cc)
  void parse_function(Linkage linkage, bool is_entry);
  void parse_performance_directives(Function& function);
  void declare_parameters(Function& function);
  void parse_body();
  void parse_statement();
  void parse_body_directive(std::string_view label);
  void parse_target_list(std::string_view label, bool branches);
  void parse_prototype(std::string_view label);
  void open_scope();
  void close_scope();
  void define_label(std::string_view name);
  void close_function();

  // Instructions (parse_instruction.cc)
  void parse_instruction();
  const Spelling& spelling_of(std::string_view mnemonic);
  void parse_operands(Instruction& instruction);
  void parse_call(Instruction& instruction);
  void parse_call_list(Operand& list);
  void match(Instruction& instruction, const Spelling& spelling, std::string_view mnemonic);
  void report_unfit(const Spelling& spelling, std::string_view mnemonic);
  void push_instruction(Instruction instruction);
  void skip_operands();

  // Operands (parse_operand.cc)
  Operand parse_operand();
  Operand parse_single_operand();
  Operand parse_vector(bool allow_nesting);
  Operand parse_bracket();
  Operand parse_word();
  void parse_index(Operand& operand);
  Operand parse_label_operand();
  Operand constant_operand();
  std::optional<Special> find_special(std::string_view name);
  std::int64_t parse_offset();
  std::uint32_t find_register(std::string_view name);
  std::optional<Symbol> find_symbol(std::string_view name);
  void refer(Operand& operand, std::string_view name);
  std::uint32_t add_register(std::string_view name, Type type);

  Function& function() { return module_.functions[function_]; }

  std::string_view text_;
  Lexer lexer_;
  Module module_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t errors_ = 0;
  DebugInfo debug_;
  std::unordered_map<std::string_view, std::uint32_t> functions_;
  std::unordered_map<std::string_view, std::uint32_t> variables_;
  std::vector<std::pair<std::string_view, std::string_view>> aliases_;
  std::unordered_map<std::string_view, Spelling> spellings_;
  std::vector<std::unique_ptr<std::string>> kept_spellings_;  ///< of mnemonics with blanks inside
  std::uint64_t initialised_bytes_ = 0;

  struct PendingRelocation {
    std::uint32_t function;  ///< kNoIndex: a variable of the module
    std::uint32_t variable;
    std::uint32_t relocation;
    std::string_view name;
    int line;
  };
  std::vector<PendingRelocation> relocations_;
  std::vector<Reference> references_;  ///< to names of the module, resolved at its end

  // The function being parsed
  std::uint32_t function_ = kNoIndex;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string_view, std::pair<SymbolKind, std::uint32_t>> lists_;  ///< prototypes and target lists
  std::vector<std::pair<std::uint32_t, std::array<std::uint32_t, 4>>> vector_registers_;
  std::vector<Reference> names_;    ///< of the function, resolved at its end
  std::vector<Reference> pending_;  ///< of the instruction being parsed
  std::uint32_t operand_index_ = 0;
  std::uint32_t element_index_ = kNoIndex;
  std::uint64_t open_braces_ = 0;  ///< of the operand being parsed, for going on after an error
  std::uint32_t loc_ = kNoIndex;
  int constant_depth_ = 0;
};

}  // namespace muscope::ptx
