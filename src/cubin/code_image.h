// The machine code of a cubin and all that is needed to execute it and to say where it came from: code sections with
// their functions, constant banks, initialised data, relocations, source lines with inlining, PTX lines, branch tables.
// cubin.h has the resources of each kernel (registers, shared memory ...).
//
//   section "step" 0x380 bytes: entry step at 0, function $step$_Z5twicei at 0x120
//     pc 0x60  file 0 line 14, in `outer` inlined at main.cu:31, PTX line 88
//
// How code finds functions and data, in the words of the machine:
//   Whole program (plain nvcc). Each kernel's section holds a copy of every device function it may call. Calls are
//     CALL.REL; return addresses are offsets from the section's start (MOV R20, 0x70; RET.REL adds the start back). A
//     function pointer is a handle, 8 times a number that is the same in all kernels of the cubin, and c[0x2][handle]
//     of the running kernel is the function's offset in its section (the first entry, of the null handle, is 1).
//     Globals are found through c[0x4][...], system functions (vprintf, malloc, free, __assertfail) through CALL.ABS of
//     an address in c[0x4]. Data that holds function pointers must come from the data sections here, with those
//     handles.
//   Relocatable (-rdc=true, also after nvlink). Each function has its own section; calls, return addresses, globals are
//     relocations. A function pointer is the function's address.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cubin/relocation.h"
#include "cubin/sm_target.h"

namespace muscope::cubin {

enum class Binding : std::uint8_t { kLocal, kGlobal, kWeak };

/// A function in a code section, a variable in a data section or constant bank.
struct ImageSymbol {
  std::string name;          ///< mangled; "$kernel$function" for a device function inside the section of a kernel
  std::uint64_t offset = 0;  ///< in its section
  std::uint64_t size = 0;
  bool is_entry = false;  ///< a kernel
  Binding binding = Binding::kLocal;

  /// The function's own name without ptxas's "$kernel$" or "$__internal_0_$" before it.
  std::string_view function() const;
};

/// From this pc on, up to the next row, instructions belong to this line.
struct FrameRow {
  std::uint64_t pc = 0;
  std::uint32_t file = 0;   ///< index into CodeImage::files
  std::uint32_t line = 0;   ///< from 1 on; 0: the compiler gave none
  std::int32_t frame = -1;  ///< index into CodeImage::frames; -1: not inlined, the function's own text
};

/// An inlined call. Frames form chains: `inlined_at` is the frame that the call stands in.
struct InlineFrame {
  std::string function;          ///< mangled name of the inlined function; empty when not known
  std::uint32_t file = 0;        ///< of the call, index into CodeImage::files
  std::uint32_t line = 0;        ///< of the call
  std::int32_t inlined_at = -1;  ///< always less than the frame's own index; -1: called from the function's own text
};

struct PtxRow {
  std::uint64_t pc = 0;
  std::uint32_t line = 0;  ///< line of the PTX text, from 1 on
  std::uint32_t text = 0;  ///< index into CodeImage::ptx_texts, if the cubin has them; not 0 only in code from nvlink
};

/// The PTX that ptxas kept beside the code. Leading blanks are gone, lines with comments, .loc and .file are empty.
struct PtxText {
  std::string name;  ///< of its section
  std::vector<std::string> lines;
};

/// One place of a chain of inlined calls.
struct SourcePlace {
  std::string_view function;  ///< mangled; empty for the outermost: the function that the code belongs to
  std::uint32_t file = 0;     ///< index into CodeImage::files
  std::uint32_t line = 0;
};

struct CodeSection {
  std::string name;  ///< of the function it is for: what follows ".text."
  std::vector<std::uint8_t> bytes;
  std::vector<ImageSymbol> functions;   ///< by offset
  std::vector<Relocation> relocations;  ///< by offset
  std::vector<FrameRow> lines;          ///< by pc, one row per pc
  std::vector<PtxRow> ptx_lines;        ///< by pc, one row per pc

  /// The function that holds `pc`, or null.
  const ImageSymbol* function_at(std::uint64_t pc) const;
};

struct ConstantData {
  int bank = 0;
  std::string owner;  ///< the kernel or function of the bank; empty: shared by the module (banks 3 and 4)
  std::vector<std::uint8_t> bytes;
  std::vector<ImageSymbol> symbols;     ///< by offset
  std::vector<Relocation> relocations;  ///< by offset
};

/// .nv.global.init (with bytes) or .nv.global (all zero, `bytes` is empty).
struct DataSection {
  std::string name;
  std::uint64_t size = 0;
  std::vector<std::uint8_t> bytes;      ///< empty: zeros
  std::vector<ImageSymbol> symbols;     ///< by offset
  std::vector<Relocation> relocations;  ///< by offset
};

struct KernelParameter {
  std::uint32_t ordinal = 0;
  std::uint32_t offset = 0;  ///< from the first parameter on
  std::uint32_t size = 0;    ///< bytes
};

/// Where an indirect branch (BRX) can go.
struct IndirectBranch {
  std::uint64_t pc = 0;
  std::vector<std::uint64_t> targets;  ///< pcs of the same section
};

/// What .nv.info.<function> says of the code of a section.
struct FunctionFacts {
  std::string name;
  std::vector<KernelParameter> parameters;  ///< by offset
  std::uint32_t parameter_offset = 0;       ///< in constant bank 0
  std::uint32_t parameter_bytes = 0;        ///< of all together
  std::uint32_t frame_bytes = 0;            ///< local memory of its own frame
  std::uint32_t stack_bytes = 0;            ///< with what it calls, as far as known
  std::vector<std::uint64_t> exits;         ///< pcs of EXIT
  std::vector<std::uint64_t> warp_wide;     ///< pcs of instructions on the whole warp's behalf (votes ...)
  std::vector<std::uint64_t> cooperative;   ///< pcs that exchange between lanes (shuffles, warp barriers)
  std::vector<std::uint64_t> system_calls;  ///< pcs of calls of `externs`, where the cubin tells
  std::vector<IndirectBranch> branches;     ///< by pc
  std::vector<std::string> externs;         ///< functions of the system it needs: vprintf, malloc ...
};

struct CodeImage {
  SmTarget target;
  bool relocatable = false;  ///< not linked yet
  std::vector<CodeSection> sections;
  std::vector<ConstantData> constants;
  std::vector<DataSection> data;
  std::vector<FunctionFacts> facts;
  std::vector<std::string> files;   ///< source files of the line tables, with their directories
  std::vector<InlineFrame> frames;  ///< of all sections
  std::vector<PtxText> ptx_texts;   ///< where the cubin keeps them (-lineinfo, -G)

  /// Null when there is none. `function` is a section's name or a function in one.
  const CodeSection* section(std::string_view name) const;
  const FunctionFacts* facts_of(std::string_view function) const;
  const ConstantData* constant(int bank, std::string_view owner) const;
  /// The bank as `owner` sees it: its own, else the module's. Null when there is none.
  const ConstantData* bank_of(int bank, std::string_view owner) const;
};

/// The row that covers `pc`: the last with row.pc <= pc. Null before the first row.
const FrameRow* line_at(const CodeSection& section, std::uint64_t pc);
const PtxRow* ptx_line_at(const CodeSection& section, std::uint64_t pc);

/// The places of a row, innermost first: the row's own line, then the calls that it was inlined through.
std::vector<SourcePlace> inline_chain(const CodeImage& image, const FrameRow& row);

/// Reads a cubin; the image owns its bytes. The bytes may be hostile: time and memory stay in proportion to their
/// number. Damage in line tables drops what comes after it in the table. Throws Error D207 when they are not a cubin or
/// when code, relocations or attributes are damaged.
CodeImage read_code_image(std::span<const std::uint8_t> cubin);

/// Where everything is loaded.
struct Placement {
  std::vector<std::uint64_t> sections;  ///< virtual address of each code section
  /// Address of a variable in global memory or of a function outside the cubin (vprintf, malloc ...). No value: not
  /// known. Asked first for variables of the cubin too, by mangled name, so that the module's own placing is used.
  std::function<std::optional<std::uint64_t>(std::string_view symbol)> address;
  /// What device code passes to name a kernel when it launches one; none: not known.
  std::function<std::optional<std::uint64_t>(std::string_view symbol)> kernel;
  std::vector<std::uint64_t> data;  ///< address of each data section, for variables that `address` does not know; may
                                    ///< be empty
};

/// What did not work: which relocation, and why.
struct RelocationProblem {
  std::string section;  ///< ".text.step", ".nv.constant4" ...
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  std::string symbol;
  std::string why;  ///< "no address for 'vprintf'"
};

/// Writes addresses into the image's code, constants and data. Relocations that could not be applied are returned and
/// left as they were; afterwards the image has only those. The address of a function is its section's plus its offset.
///
///   Placement at;
///   for (const auto& section : image.sections) at.sections.push_back(next_address(section.bytes.size()));
///   at.address = [&](std::string_view name) { return module.address_of(name); };
///   const auto problems = apply_relocations(image, at);
std::vector<RelocationProblem> apply_relocations(CodeImage& image, const Placement& placement);

}  // namespace muscope::cubin
