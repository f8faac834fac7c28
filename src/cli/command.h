// The subcommands of muscope: one file each, listed once in commands.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace muscope::cli {

/// Exit codes, the same for every command (docs/commands.md).
enum ExitCode : int {
  kOk = 0,
  kProgramFailed = 1,  ///< the program itself failed, or a kernel faulted
  kUsage = 2,
  kCannot = 3,  ///< unsupported, unreadable, tool missing
  kFound = 4,   ///< a budget was crossed or a checker found something
  kInterrupted = 130,
};

using Arguments = std::vector<std::string>;  ///< after the command's name

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line for `muscope --help`
  int (*run)(const Arguments& args);
};

std::span<const Command> commands();

/// Thrown by parse() to leave with that exit code after --help or a usage error was printed.
struct Leave {
  int code;
};

/// Parses with CLI11: --help prints to stdout and leaves with 0; errors go to stderr in our diagnostic form (D101) with
/// a pointer to --help and leave with kUsage. `examples` is shown at the end of --help. `hint_for` may know better than
/// the nearest name what an unknown option was meant to be; it answers with the hint, or with an empty text.
using UnknownOptionHint = std::function<std::string(const std::string& word)>;
void parse(CLI::App& app, const Arguments& args, std::string_view examples, const UnknownOptionHint& hint_for = {});

// One per file.
int run_command(const Arguments& args);
int check_command(const Arguments& args);
int diff_command(const Arguments& args);
int pattern_command(const Arguments& args);
int occupancy_command(const Arguments& args);
int gpu_command(const Arguments& args);
int explain_command(const Arguments& args);
int cc_command(const Arguments& args);
int port_command(const Arguments& args);
int lab_command(const Arguments& args);
int html_command(const Arguments& args);
int verify_command(const Arguments& args);
int doctor_command(const Arguments& args);
int completion_command(const Arguments& args);

}  // namespace muscope::cli
