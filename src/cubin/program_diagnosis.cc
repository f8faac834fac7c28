// What a ProgramInspection means for someone who wants to run the program.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cubin/program.h"

namespace muscope::cubin {
namespace {

Diagnostic message(Severity severity, std::string code, std::string text, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = std::move(code);
  diagnostic.text = std::move(text);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

Diagnostic error(std::string code, std::string text, std::string hint) {
  return message(Severity::kError, std::move(code), std::move(text), std::move(hint));
}

// "sm_80, sm_90": of the SASS in it.
std::string architectures(const ProgramInspection& program) {
  std::set<int> seen;
  std::string text;
  for (const ProgramCode& code : program.code) {
    if (code.kind == EntryKind::kCubin && seen.insert(code.target.sm).second) {
      text += (text.empty() ? "sm_" : ", sm_") + to_string(code.target);
    }
  }
  return text;
}

int newest_sm(const ProgramInspection& program) {
  int newest = 0;
  for (const ProgramCode& code : program.code) newest = std::max(newest, code.target.sm);
  return newest;
}

std::optional<Diagnostic> not_runnable(const ProgramInspection& program) {
  const std::string& path = program.path;
  switch (program.kind) {
    case ProgramKind::kUnreadable:
      return error("D201", fmt::format("cannot read '{}': {}", path, program.problem),
                   "give the path of a program or of a .cu file");
    case ProgramKind::kNotElf:
    case ProgramKind::kDamaged:
      return error("D202", fmt::format("'{}' is not a program that Linux can run: {}", path, program.problem),
                   "muscope runs compiled programs, scripts that begin with #!, and .cu and .mu sources");
    case ProgramKind::kNotProgram:
      return error("D202", fmt::format("'{}' is not a program: {}", path, program.problem), "link it first");
    case ProgramKind::kWrongMachine:
      return error("D203", fmt::format("'{}' is for {}, not for x86-64", path, program.problem),
                   "build it on or for x86-64 Linux");
    case ProgramKind::kScript:
    case ProgramKind::kProgram:
      break;
  }
  if (!program.executable)
    return error("D201", fmt::format("'{}' is not executable", path), fmt::format("chmod +x '{}'", path));
  return std::nullopt;
}

// Of a program without PTX.
std::optional<Diagnostic> machine_code_problem(const ProgramInspection& program, const RunTarget& target) {
  const bool fits = std::any_of(program.code.begin(), program.code.end(), [&target](const ProgramCode& code) {
    return code.kind == EntryKind::kCubin && runs_machine_code(code.target, target.sm);
  });
  const bool executes = target.executes != nullptr && target.executes(target.sm);
  if (fits && executes) return std::nullopt;
  std::string why = fmt::format("which a GPU of compute capability {}.{} does not run", target.sm / 10, target.sm % 10);
  if (fits) why = target.executes == nullptr ? "and only PTX is asked for" : "which muscope cannot execute";
  const int sm = newest_sm(program);
  const bool other_gpu = !fits && target.executes != nullptr && target.executes(sm);
  return error("D204",
               fmt::format("'{}' has no PTX, only machine code for {}, {}", program.path, architectures(program), why),
               (other_gpu ? fmt::format("choose a GPU that it is for (--gpu sm_{}), or ", sm) : std::string()) +
                   fmt::format("add PTX: `nvcc -gencode arch=compute_{0},code=compute_{0}`, or in CMake "
                               "CMAKE_CUDA_ARCHITECTURES={0} without \"-real\"",
                               sm));
}

bool uses_cuda(const ProgramInspection& program) {
  return program.runtime != RuntimeLink::kNone || program.driver_api || !program.code.empty();
}

}  // namespace

std::vector<Diagnostic> diagnose(const ProgramInspection& program, const RunTarget& target) {
  if (auto problem = not_runnable(program)) return {std::move(*problem)};
  std::vector<Diagnostic> found;
  if (program.kind == ProgramKind::kScript || !uses_cuda(program)) return found;
  const std::string& path = program.path;
  if (program.fully_static || program.set_user_id) {
    found.push_back(error("D210",
                          fmt::format("muscope cannot get into '{}': {}", path,
                                      program.fully_static ? "it is linked fully statically"
                                                           : "it has the set-user-ID or set-group-ID bit"),
                          program.fully_static ? "link it without -static"
                                               : fmt::format("run a copy without that bit: cp '{}' ./copy", path)));
  }
  if (program.runtime == RuntimeLink::kStaticStripped) {
    found.push_back(
        error("D205", fmt::format("'{}' contains a stripped copy of the CUDA runtime", path),
              "keep the symbols (do not strip), or link the shared runtime: `nvcc -cudart shared`, in CMake "
              "CMAKE_CUDA_RUNTIME_LIBRARY=Shared"));
  }
  if (!program.code_problem.empty()) {
    found.push_back(
        message(program.has_ptx() ? Severity::kWarning : Severity::kError, program.code_problem_code,
                fmt::format("'{}': {}", path, program.code_problem),
                program.code_problem_code == "D209" ? "rebuild it with `nvcc --compress-mode none`" : "rebuild it"));
  }
  if (!program.code.empty() && !program.has_ptx() && program.code_problem.empty()) {
    if (auto problem = machine_code_problem(program, target)) found.push_back(std::move(*problem));
  }
  const bool musa_driver = std::any_of(program.needed.begin(), program.needed.end(),
                                       [](const std::string& library) { return library.starts_with("libmusa.so"); });
  if (musa_driver && program.runtime == RuntimeLink::kNone) {
    found.push_back(
        message(Severity::kWarning, "D211",
                fmt::format("'{}' uses the MUSA driver API (libmusa), which muscope does not emulate", path),
                "calls through the runtime API (musaMalloc, <<<>>>) are emulated"));
  }
  return found;
}

}  // namespace muscope::cubin
