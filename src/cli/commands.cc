// The list of subcommands and what they share.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

constexpr Command kCommands[] = {
    {"run", "run a CUDA program with no GPU and report its memory traffic per kernel and line", run_command},
    {"check", "run it, or read a report, and hold it against budgets and a baseline (for CI)", check_command},
    {"diff", "two reports, or two programs: what got better or worse, per kernel and line", diff_command},
    {"pattern", "one warp access: lanes against sectors and banks, under any GPU's rules", pattern_command},
    {"occupancy", "registers, shared memory and block size -> blocks and warps per SM, and what limits them",
     occupancy_command},
    {"gpu", "the known GPUs; one GPU's memory hierarchy with sizes, latencies and their sources", gpu_command},
    {"explain", "what a metric, message, term or PTX instruction means", explain_command},
    {"cc", "compile CUDA with no toolkit; takes common nvcc command lines", cc_command},
    {"port", "CUDA source and build files to MUSA, and back; reports what needs a hand", port_command},
    {"lab", "measure the memory system of the GPU in this machine: latency, bandwidth, patterns, transfers",
     lab_command},
    {"html", "a page for the browser from one or two JSON reports", html_command},
    {"verify", "a report against what Nsight Compute captured on a GPU, counter by counter", verify_command},
    {"doctor", "which compilers and tools are found, what each absence costs, how to add it", doctor_command},
    {"completion", "print a shell completion script", completion_command},
};

/// The first word that no option or argument took. CLI11 lists them, but values of unknown options before the options.
std::string first_unexpected(const CLI::App& app, const Arguments& args) {
  const std::vector<std::string> words = app.remaining();
  const auto first = std::find_first_of(args.begin(), args.end(), words.begin(), words.end());
  return first != args.end() ? *first : words.empty() ? std::string() : words.front();
}

Diagnostic unexpected_word(const CLI::App& app, const std::string& word, const UnknownOptionHint& hint_for) {
  Diagnostic d;
  d.code = "D101";
  d.hint = app.get_name() + " --help shows the options";
  if (!word.starts_with('-')) {
    d.text = fmt::format("'{}' was not expected", arch::printable(word));
    return d;
  }
  d.text = fmt::format("unknown option '{}'", arch::printable(word));
  if (const std::string special = hint_for ? hint_for(word) : std::string(); !special.empty()) {
    d.hint = special;
    return d;
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty() && !option->get_lnames().empty()) names.push_back("--" + option->get_lnames()[0]);
  }
  const std::string name = word.substr(0, word.find('='));
  if (const auto near = arch::nearest(name, names, 1); word.starts_with("--") && !near.empty())
    d.hint = fmt::format("did you mean {}? {}", near.front(), d.hint);
  return d;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

void parse(CLI::App& app, const Arguments& args, std::string_view examples, const UnknownOptionHint& hint_for) {
  if (!examples.empty()) app.footer("\nExamples:\n" + std::string(examples));
  try {
    // CLI11 takes the arguments from the back.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    throw Leave{kOk};
  } catch (const CLI::ExtrasError&) {
    std::fputs(to_text(unexpected_word(app, first_unexpected(app, args), hint_for)).c_str(), stderr);
    throw Leave{kUsage};
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
