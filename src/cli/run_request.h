// The command line of `muscope run`, understood.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "runtime/launch_range.h"

namespace muscope::cli {

struct RunRequest {
  // What to run. Exactly one of `sources` and `program` is set.
  std::vector<std::string> sources;  ///< .cu and .mu files to compile first
  std::string program;               ///< a path, or a name to be looked up on PATH
  std::vector<std::string> args;     ///< of the program

  std::string gpu = "h200";
  std::string kernel;         ///< regular expression, matched anywhere in the demangled name; empty: all
  std::string launches_text;  ///< as typed
  runtime::LaunchRange launches;
  std::string profile_from_start = "on";  ///< "on", "off"
  std::string nvtx_include;               ///< comma-separated; empty: everywhere
  std::string count_from = "auto";        ///< "auto", "ptx", "sass"
  unsigned threads = 0;
  std::uint64_t max_steps = 0;
  double timeout_seconds = 0;  ///< 0: none
  int devices = 1;
  bool propagate = false;
  bool keep = false;  ///< leave the run directory behind

  std::string toolchain = "auto";
  std::string compile_flags;  ///< one string, split like a shell does
  std::vector<std::string> emit;
  std::string emit_dir;  ///< absolute

  std::string json, csv, html;  ///< where to write; "-" is stdout; empty: not wanted
  bool quiet = false;
  int top = -1;                     ///< -1: not given
  std::string advice;               ///< "all", "none" or a number; empty: not given
  std::string sort, metrics, view;  ///< empty: not given
};

/// Understands the arguments of `muscope run`. The options end at the program: what follows belongs to it. Throws Error
/// (D103 an option that is not there yet, D104 a value that makes no sense, D105 no program) or Leave.
RunRequest parse_run_request(const Arguments& args);

/// How another command that runs programs differs from `muscope run`.
struct RunCommandLine {
  std::string name, description, usage, examples;
  std::function<void(CLI::App& app)> add_options;
  /// Gets what follows the options, before `muscope run` looks for a program there. True: nothing is left to look for.
  /// It may change the words.
  std::function<bool(RunRequest& request, Arguments& rest)> take_rest;
  std::function<void(const CLI::App& app)> after_parse;
  std::string json_help = "write the report as JSON (- for stdout)";
  bool report_options = true;  ///< false: without --csv, --view, --top, --sort and --metrics, which it has no use for
};
RunRequest parse_run_request(const Arguments& args, const RunCommandLine& line);

/// The index in `args` of the first word that is no option and no option's value; args.size() when there is none.
/// `takes_value` says whether an option, with its dashes, is followed by a value.
std::size_t find_program(const Arguments& args, bool (*takes_value)(const void* context, const std::string& option),
                         const void* context);

/// "1.5", "90s", "2m", "1h" to seconds; negative when the text is none of these.
double parse_duration(const std::string& text);

}  // namespace muscope::cli
