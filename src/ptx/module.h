// ptx::Module: what a PTX text says, with names resolved to indices and nothing interpreted.
// Made by parse() (parser.h); turned into something executable by code::lower.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/types.h"

namespace muscope::ptx {

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;

/// A source position of `.loc`, with the chain of call sites it was inlined through.
struct Loc {
  std::uint32_t file = 0;  ///< index into Module::files
  int line = 0;
  int column = 0;
  std::string function;                 ///< mangled name of the inlined function; empty in the kernel's own body
  std::uint32_t inlined_at = kNoIndex;  ///< index into Module::locs of the call site
};

/// Special registers (%tid.x ...). kNone for an operand that is not one.
enum class Special : std::uint8_t {
  kNone,
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kWarpSize,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kTotalSmemSize,
  kDynamicSmemSize,
  kAggrSmemSize,
  kReservedSmemBegin,  ///< and %reserved_smem_offset_0, _1
  kReservedSmemEnd,
  kReservedSmemCap,
  kEnvreg,  ///< %envreg<n>: index in Operand::immediate
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kCurrentGraphExec,
  kPm,
};

enum class OperandKind : std::uint8_t {
  kRegister,   ///< `reg`; `negated` for !p
  kImmediate,  ///< `immediate`: the bits of an integer, or of an f32 (0f...) or f64 literal, see `literal`
  kSpecial,    ///< `special`
  kSymbol,     ///< name of a variable, parameter, function or table: `symbol`, plus `offset`
  kAddress,    ///< [base + offset]: base is `reg`, or `symbol`, or neither (absolute); offset in `offset`
  kVector,     ///< {a, b, ...}: `elements`
  kPair,       ///< a|b, as in shfl and setp: `elements` (two)
  kLabel,      ///< `label`
  kSink,       ///< _
  kTexture,    ///< [tex, {x, y}] or [tex, sampler, {x, y}]: `elements` = handles, then one kVector of coordinates
};

enum class Literal : std::uint8_t { kInteger, kF32, kF64 };

/// What a kSymbol or the base of a kAddress names.
enum class SymbolKind : std::uint8_t {
  kNone,
  kModuleVariable,
  kLocalVariable,
  kParameter,
  kReturnParameter,
  kFunction,
  kPrototype,
  kBranchTargets,
  kCallTargets
};

struct Operand {
  OperandKind kind = OperandKind::kSink;
  bool negated = false;          ///< !p on a predicate register, or unary minus on a register where PTX allows it
  bool indexed = false;          ///< kSymbol written as name[3]: `offset` has the bytes
  Mod selector = Mod::kInvalid;  ///< .b0 ... .b3, .h0, .h1, .b10 ... of a video instruction's operand
  Literal literal = Literal::kInteger;
  Special special = Special::kNone;
  SymbolKind symbol_kind = SymbolKind::kNone;
  std::uint32_t reg = kNoIndex;     ///< index into Function::registers
  std::uint32_t symbol = kNoIndex;  ///< index into the list that symbol_kind names (Module::variables,
                                    ///< Function::variables, Function::params, Function::returns, Module::functions,
                                    ///< Function::prototypes, Function::target_lists)
  std::uint32_t label = kNoIndex;   ///< index into Function::labels
  std::uint64_t immediate = 0;
  std::int64_t offset = 0;
  std::vector<Operand> elements;
};

struct OpcodeRow;  // opcodes.h: the form that the instruction matched

struct Instruction {
  const OpcodeRow* row = nullptr;
  Opcode opcode = Opcode::kInvalid;
  std::vector<Mod> mods;           ///< in the order of the text
  std::vector<Type> types;         ///< the types among the modifiers, in order: cvt.rn.f32.s32 -> {F32, S32}
  std::vector<Operand> operands;   ///< destinations first; for call: see CallOperands
  std::uint32_t guard = kNoIndex;  ///< predicate register of @p
  bool guard_negated = false;
  std::uint32_t loc = kNoIndex;  ///< index into Module::locs
  int ptx_line = 0;

  bool has(Mod mod) const;
  /// The state space among the modifiers, kGeneric when there is none.
  Space space() const;
  /// "ld.global.nc.v2.u32"
  std::string text() const;
};

/// call operands are: [0] kVector of return parameters (maybe empty), [1] callee (kSymbol function, or kRegister for an
/// indirect call), [2] kVector of arguments, [3] kSymbol prototype or target list (indirect calls only).
struct CallOperands {
  static constexpr std::size_t kReturns = 0, kCallee = 1, kArguments = 2, kPrototype = 3;
};

struct Register {
  std::string name;
  Type type = Type::kNone;
};

/// Part of an initialiser that is only known when the module is loaded: an address.
struct Relocation {
  std::uint64_t offset = 0;  ///< byte offset inside the variable
  int size = 8;              ///< bytes to write: 8, 4 or 1 (a masked byte: see `shift`)
  int shift = 0;             ///< right shift before writing (mask(ptr) initialisers write one byte each)
  bool generic = false;      ///< generic(var): the generic address
  SymbolKind symbol_kind = SymbolKind::kModuleVariable;  ///< or kFunction
  std::uint32_t symbol = kNoIndex;
  std::int64_t addend = 0;
};

enum class Linkage : std::uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kNone;
  int alignment = 0;       ///< bytes
  std::uint64_t size = 0;  ///< bytes in all; 0 for `extern .shared a[]`
  Linkage linkage = Linkage::kInternal;
  int lanes = 1;                    ///< elements of a .v2 or .v4 type
  bool managed = false;             ///< .attribute(.managed)
  std::vector<std::uint8_t> bytes;  ///< initialiser, may be shorter than size (the rest is zero)
  std::vector<Relocation> relocations;
  int ptx_line = 0;
};

struct Parameter {
  std::string name;
  Type type = Type::kNone;
  int alignment = 0;
  std::uint64_t size = 0;    ///< bytes
  bool is_register = false;  ///< .reg parameter of a function
  std::uint32_t reg = kNoIndex;
};

struct Label {
  std::string name;
  std::uint32_t position = 0;  ///< index into Function::body of the instruction that follows (body.size() at the end)
};

/// A .callprototype
struct Prototype {
  std::string name;
  std::vector<Parameter> returns;
  std::vector<Parameter> params;
};

/// A .branchtargets (labels) or .calltargets (functions) list.
struct TargetList {
  std::string name;
  std::vector<std::uint32_t> labels;     ///< indices into Function::labels
  std::vector<std::uint32_t> functions;  ///< indices into Module::functions
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  Linkage linkage = Linkage::kInternal;
  bool noreturn = false;
  std::uint32_t alias_of = kNoIndex;  ///< .alias: the function that runs in its place; references are resolved already
  std::vector<Parameter> returns;
  std::vector<Parameter> params;
  std::vector<Register> registers;  ///< of all scopes
  std::vector<Variable> variables;  ///< .local, .shared, .param (call temporaries), .const/.global declared inside
  std::vector<Label> labels;
  std::vector<Prototype> prototypes;
  std::vector<TargetList> target_lists;
  std::vector<Instruction> body;
  // Performance directives; 0 where absent.
  std::uint32_t maxntid[3] = {0, 0, 0};
  std::uint32_t reqntid[3] = {0, 0, 0};
  std::uint32_t minnctapersm = 0;
  std::uint32_t maxnreg = 0;
  std::uint32_t reqnctapercluster[3] = {0, 0, 0};
  int ptx_line = 0;
};

struct Module {
  std::string name;                          ///< for messages: file name, or "PTX of ./app (sm_90)"
  int version_major = 0, version_minor = 0;  ///< .version
  std::string target;                        ///< "sm_90a"
  int address_size = 64;
  std::vector<std::string> files;  ///< of .file, by position; Loc::file indexes this
  std::vector<Loc> locs;
  std::vector<Variable> variables;
  std::vector<Function> functions;  ///< declarations and definitions; a definition replaces its declaration
  std::uint32_t find_function(std::string_view name) const;  ///< kNoIndex when absent
  std::uint32_t find_variable(std::string_view name) const;
};

}  // namespace muscope::ptx
