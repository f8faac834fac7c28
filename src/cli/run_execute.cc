// Runs a program and builds the report of what it did.
#include "cli/run_execute.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

#include "advice/advice.h"
#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "base/musa_names.h"
#include "cli/assembly_service.h"
#include "cli/command.h"
#include "cli/run_child.h"
#include "cli/run_directory.h"
#include "cli/run_program.h"
#include "cli/run_progress.h"
#include "cli/run_records.h"
#include "runtime/machine_targets.h"

namespace muscope::cli {
namespace {

constexpr int kNotStarted = 127;  // of the dynamic linker (glibc)

Diagnostic warning(std::string_view code, std::string text, std::string hint) {
  // Field by field: g++ 12 warns about a list with temporaries in it.
  Diagnostic d;
  d.severity = Severity::kWarning;
  d.code = code;
  d.text = std::move(text);
  d.hint = std::move(hint);
  return d;
}

constexpr double kSlowAssembly = 3;  ///< seconds of ptxas after which people at a terminal are told

/// The first of these codes that a process of the run was told; empty when none was.
std::string found_code(const RunRecords& records, std::initializer_list<const char*> codes) {
  for (const char* const code : codes)
    for (const views::ProcessRecord& p : records.processes)
      if (std::any_of(p.findings.begin(), p.findings.end(), [code](const views::Finding& f) { return f.code == code; }))
        return code;
  return {};
}

/// Why there is nothing to report, as well as it can be known.
Diagnostic nothing_launched(const RunRequest& request, const RunProgram& program, const RunRecords& records,
                            const ChildResult& child) {
  Diagnostic d = warning("D735", "no kernel was launched", {});
  const std::string ended = (child.exit_text.starts_with("killed") ? "was " : "") + child.exit_text;
  const auto running = std::find_if(records.processes.begin(), records.processes.end(),
                                    [](const views::ProcessRecord& p) { return !p.in_progress.empty(); });
  if (running != records.processes.end()) {
    d.text = "no launch ended";
    d.hint = fmt::format("the program {} while kernel {} ran", ended, running->in_progress);
  } else if (records.launches != 0) {
    d.code = "D737";
    std::string options;
    for (const auto& [given, name] : {std::pair{!request.launches_text.empty(), "--launches"},
                                      {!request.kernel.empty(), "--kernel"},
                                      {!request.nvtx_include.empty(), "--nvtx-include"},
                                      {request.profile_from_start == "off", "--profile-from-start off"}})
      if (given) options += (options.empty() ? "" : " and ") + std::string(name);
    if (options.empty()) options = "the program: it called cudaProfilerStop() before";
    d.text = records.launches == 1
                 ? fmt::format("the only launch is not selected by {}", options)
                 : fmt::format("none of the {} launches is selected by {}", records.launches, options);
    const bool by_name = !request.kernel.empty() || !request.launches_text.empty();
    if (!by_name && !request.nvtx_include.empty())
      d.hint = "ranges are called as the program calls them, in a domain of its own domain@name";
    else if (!by_name)
      d.hint = "launches count between cudaProfilerStart() and cudaProfilerStop()";
    else
      d.hint = fmt::format("--kernel matches demangled names such as '{}'; launches count from 0 in each process",
                           records.processes.empty() || records.processes.front().kernels.empty()
                               ? "scale(float*, int)"
                               : records.processes.front().kernels.front().name);
  } else if (child.timed_out || child.interrupted_by != 0) {
    d.hint = "the program was stopped before its first launch";
  } else if (const std::string code = found_code(records, {"D507"}); !code.empty()) {
    d.hint = fmt::format("every launch was refused ({})", code);
  } else if (const std::string code = found_code(records, {"D503", "D509", "D208"}); !code.empty()) {
    d.hint =
        fmt::format("the program's kernels, or some of them, could not be loaded ({}): launches of them fail", code);
  } else if (child.exit_code == kNotStarted && records.processes.empty()) {
    d.hint = "it did not start: a library was not found, as the message above says; 'ldd' lists what it needs";
  } else if (child.exit_code != 0 && program.argv.size() == 1 && child.exit_text.starts_with("exited")) {
    d.hint = fmt::format("the program {}, and it got no arguments: they stand behind it, as in 'muscope run {} 1024'",
                         ended, request.sources.empty() ? program.argv.front() : request.sources.front());
  } else if (!records.processes.empty()) {
    d.hint = child.exit_code != 0 ? fmt::format("the program used CUDA but {} before a launch", ended)
                                  : "the program used CUDA, but only for memory or queries";
  } else if (child.exit_code != 0) {
    d.hint = fmt::format("the program {} before it used CUDA", ended);
  } else if (!request.sources.empty()) {
    d.hint = "the program made no CUDA call";
  } else if (program.is_script || !program.uses_cuda) {
    d.hint = "no process of the run called a CUDA runtime that muscope can stand in for (muscope explain D735)";
  } else {
    d.hint = "the program is linked to CUDA but made no CUDA call";
  }
  return d;
}

/// A program that was compiled with musa_runtime.h names this function of the runtime (toolkit/musa_runtime.h).
bool speaks_musa(const std::string& path) {
  constexpr std::uintmax_t kMost = std::uintmax_t{256} << 20;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMost) return false;
  std::ifstream in(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text.find("__cudaSpeakMusa") != std::string::npos;
}

/// Advice names functions of the runtime; names of kernels, files and fields stay.
void use_musa_names(report::Report& report) {
  for (report::LaunchReport& launch : report.launches)
    for (report::AdviceReport& advice : launch.advice) {
      advice.change = with_musa_names(advice.change);
      advice.bound = with_musa_names(advice.bound);
    }
  for (report::ProcessReport& process : report.processes)
    for (views::TransferRecord& transfer : process.transfers) transfer.api = with_musa_names(transfer.api);
}

void add_end_diagnostics(std::vector<Diagnostic>& out, const RunRequest& request, const RunProgram& program,
                         const RunRecords& records, const ChildResult& child) {
  const std::string stopped = stopped_launch_text(records.processes);
  if (child.timed_out) {
    Diagnostic d = warning(
        "D734",
        fmt::format("the program did not end within {:g} s; {}", request.timeout_seconds,
                    stopped.empty() ? "no kernel was running" : stopped + " was running"),
        stopped.empty() ? "its host code is slow, or waits for something" : "raise --timeout if it is only slow");
    d.severity = Severity::kError;
    out.push_back(std::move(d));
  } else if (child.interrupted_by != 0) {
    out.push_back(warning("D738",
                          fmt::format("interrupted by {}{}{}", signal_text(child.interrupted_by),
                                      stopped.empty() ? "" : " while it ran ", stopped),
                          "the report holds what was counted until then"));
  }
  out.insert(out.end(), records.diagnostics.begin(), records.diagnostics.end());
  if (!child.still_running.empty()) {
    out.push_back(
        warning("D736",
                fmt::format("{} of the run still running (pid {}); what they do from now on is not in the report",
                            child.still_running.size() == 1 ? "a process is" : "processes are",
                            fmt::join(child.still_running, ", ")),
                "let the program wait for what it starts"));
  }
  if (records.recorded == 0 && !records.incomplete) out.push_back(nothing_launched(request, program, records, child));
}

}  // namespace

void make_emit_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail("D730", fmt::format("cannot make the folder '{}' of --emit-dir: {}", arch::printable(folder), error.message()),
         "the program was not run; name a folder, or what can become one");
}

RunOutcome execute_run(const RunRequest& request, const arch::GpuSpec& gpu, bool stdout_to_stderr) {
  const std::string libraries = library_folder();
  if (!request.emit_dir.empty()) make_emit_folder(request.emit_dir);

  const RunProgram program = prepare_program(request, gpu);
  RunRecords records;
  ChildResult child;
  {
    RunDirectory run;
    if (request.keep) {
      run.keep();
      fmt::print(stderr, "note: the files of this run stay in {}\n", run.path());
    }
    ChildCommand command;
    command.path = program.path;
    command.argv = program.argv;
    command.environment = program_environment(request, program, libraries, run.path());
    command.timeout_seconds = request.timeout_seconds;
    // A reader of the report, such as jq, is not to find what the program prints in it.
    command.stdout_to_stderr = stdout_to_stderr;
    std::optional<AssemblyService> assembler;
    if (request.count_from != "ptx" && runtime::machine_code_known(gpu.cc_major * 10 + gpu.cc_minor)) {
      assembler.emplace(run.path() + '/' + runtime::kAssemblerName,
                        toolchain::find_ptxas(toolchain::SearchPlaces::from_environment()),
                        toolchain::Cache::of_user());
      command.is_helper = [&assembler](pid_t pid) { return assembler->owns(pid); };
    }
    Progress progress(run, !request.quiet);
    bool told = request.quiet || ::isatty(STDERR_FILENO) == 0;
    child = run_child(command, run, [&] {
      progress.update();
      if (!told && assembler && assembler->busy_seconds() >= kSlowAssembly) {
        told = true;
        progress.erase();
        std::fputs("note: ptxas assembles the program's PTX (not with --count-from ptx)\n", stderr);
      }
    });
    progress.erase();
    assembler.reset();
    int lost_errno = 0;
    const std::uint32_t lost = run.lost_processes(lost_errno);
    records = gather_records(run.read(), request, lost, lost_errno, {program.path, program.argv.front()});
  }

  report::BuildOptions build;
  build.argv = program.argv;
  build.exit_code = child.exit_code;
  build.exit_text = child.exit_text;
  build.toolchain = program.toolchain;
  build.tool_version = MUSCOPE_VERSION;
  build.launches_begun = records.launches_begun;
  report::Report report = report::build_report(records.processes, gpu, build);
  advice::advise(report);
  if (speaks_musa(program.path)) use_musa_names(report);
  std::vector<Diagnostic> ending;
  add_end_diagnostics(ending, request, program, records, child);
  report.diagnostics.insert(report.diagnostics.end(), program.diagnostics.begin(), program.diagnostics.end());
  report.diagnostics.insert(report.diagnostics.end(), ending.begin(), ending.end());
  RunOutcome outcome;
  outcome.interrupted = child.interrupted_by != 0;
  outcome.timed_out = child.timed_out;
  outcome.faulted = records.faulted;
  outcome.incomplete = records.incomplete;
  outcome.exit_code = child.exit_code;
  outcome.report = std::move(report);
  return outcome;
}

int exit_code(const RunRequest& request, const RunOutcome& outcome) {
  if (outcome.interrupted) return kInterrupted;
  if (outcome.timed_out) return kProgramFailed;
  if (outcome.exit_code != 0) return request.propagate ? outcome.exit_code : kProgramFailed;
  if (outcome.faulted) return kProgramFailed;
  return outcome.incomplete ? kCannot : kOk;
}

}  // namespace muscope::cli
