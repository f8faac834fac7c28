// What a program on disk is, before it is run: can muscope run it, which CUDA runtime does it use, which device code
// does it carry.
//
//   const ProgramInspection program = inspect_program("./app");
//   for (const Diagnostic& d : diagnose(program, {90, machine_code_known})) ...     // D201 to D211; empty when it can
//   be run
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "cubin/fatbin.h"

namespace muscope::cubin {

enum class ProgramKind : std::uint8_t {
  kUnreadable,  ///< missing, a directory, no permission; `problem` says which
  kScript,      ///< begins with #!; programs that it starts are followed
  kNotElf,
  kWrongMachine,  ///< ELF, but not 64-bit x86-64; `problem` names the machine
  kDamaged,       ///< ELF whose headers do not hold together
  kNotProgram,    ///< an object file, archive member or core dump
  kProgram,
};

enum class RuntimeLink : std::uint8_t {
  kNone,            ///< no sign of a CUDA or MUSA runtime
  kShared,          ///< imports it from a library
  kStatic,          ///< contains it, with symbols or of a known release: it can be redirected
  kStaticStripped,  ///< contains it without symbols, of a release that is not known
};

/// One entry of a fat binary in the file.
struct ProgramCode {
  EntryKind kind = EntryKind::kOther;
  SmTarget target;
  int version_major = 0;  ///< PTX ISA version
  int version_minor = 0;
  Compression compression = Compression::kNone;
  bool debug = false;
  bool line_info = false;    ///< PTX or cubin compiled with -lineinfo or -G (nvcc stores the source's name then)
  bool relocatable = false;  ///< a translation unit of an -rdc=true build
};

struct ProgramInspection {
  std::string path;
  ProgramKind kind = ProgramKind::kUnreadable;
  std::string problem;      ///< why, for the kinds that cannot be run
  bool executable = true;   ///< has an execute permission for us (only asked when read from disk)
  std::string interpreter;  ///< of a script, with its argument
  RuntimeLink runtime = RuntimeLink::kNone;
  std::string runtime_soname;  ///< "libcudart.so.13", "libmusart.so.4"; empty when not linked directly
  bool musa = false;
  bool driver_api = false;          ///< needs libcuda.so.1 (or libmusa.so)
  bool fully_static = false;        ///< no dynamic loader: a library cannot be preloaded
  bool set_user_id = false;         ///< set-user-ID, set-group-ID: the loader ignores preloaded libraries
  bool relocatable_code = false;    ///< built with -rdc=true
  std::vector<std::string> needed;  ///< DT_NEEDED, in order
  std::vector<ProgramCode> code;    ///< entries of all fat binaries; link-time cubins without kernels left out
  std::string code_problem;         ///< why (a part of) the fat binaries could not be read; empty when all could
  std::string code_problem_code;    ///< its diagnostic code, D206 or D209

  bool has_ptx() const;
};

/// Reads a program from disk. Never throws for what is wrong with the file: the result says it. Follows symbolic links,
/// and does not search PATH.
ProgramInspection inspect_program(const std::string& path);

/// The same for bytes already read (`path` is only for messages). Whatever they hold.
ProgramInspection inspect_program_bytes(std::string path, Bytes bytes);

/// The GPU that a program is to run on.
struct RunTarget {
  int sm = 0;  ///< compute capability, 10 x major + minor
  /// Whether machine code can be executed for GPUs of that compute capability; null: only PTX is asked for.
  bool (*executes)(int sm) = nullptr;
};

/// What stands in the way of running it (errors) and what the user should know (warnings, notes), each with a hint. A
/// program without CUDA gives nothing: that is said after the run, when nothing was launched. Machine code without PTX
/// is refused (D204) only when none of it is for the target, as choose_cubin() has it, or cannot be executed.
std::vector<Diagnostic> diagnose(const ProgramInspection& program, const RunTarget& target);

}  // namespace muscope::cubin
