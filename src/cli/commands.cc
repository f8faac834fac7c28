// The list of subcommands and what they share.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

constexpr Command kCommands[] = {
    {"run", "run a CUDA program with no GPU and report its memory traffic per kernel and line", run_command},
    {"pattern", "one warp access: lanes against sectors and banks, under any GPU's rules", pattern_command},
    {"occupancy", "registers, shared memory and block size -> blocks and warps per SM, and what limits them",
     occupancy_command},
    {"gpu", "the known GPUs; one GPU's memory hierarchy with sizes, latencies and their sources", gpu_command},
    {"explain", "what a metric, message, term or PTX instruction means", explain_command},
    {"cc", "compile CUDA with no toolkit; takes common nvcc command lines", cc_command},
    {"doctor", "which compilers and tools are found, what each absence costs, how to add it", doctor_command},
    {"completion", "print a shell completion script", completion_command},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

void parse(CLI::App& app, const Arguments& args, std::string_view examples) {
  if (!examples.empty()) app.footer("\nExamples:\n" + std::string(examples));
  try {
    // CLI11 takes the arguments from the back.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    throw Leave{kOk};
  } catch (const CLI::ParseError& e) {
    // Field by field: g++ 12 warns about a list with a temporary in it.
    Diagnostic d;
    d.code = "D101";
    d.text = e.what();
    d.hint = app.get_name() + " --help shows the options";
    std::fputs(to_text(d).c_str(), stderr);
    throw Leave{kUsage};
  }
}

}  // namespace muscope::cli
