// muscope: finds the subcommand, runs it, turns errors into messages and exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

void print_help(std::FILE* out) {
  fmt::print(out,
             "muscope: a microscope for GPU memory. Runs CUDA programs on a CPU and counts their memory traffic.\n\n"
             "Usage: muscope COMMAND [OPTIONS]\n\nCommands:\n");
  for (const Command& c : commands()) fmt::print(out, "  {:<11}{}\n", c.name, c.summary);
  fmt::print(
      out,
      "\nOptions:\n  --help     this text; `muscope COMMAND --help` for one command\n  --version  version and build\n\n"
      "Examples:\n  muscope run app.cu\n  muscope run ./app 1024\n  muscope pattern --index '33*tid' --bytes 4 --space "
      "shared\n");
}

int dispatch(const Arguments& args) {
  if (args.empty()) return print_help(stderr), kUsage;
  const std::string& name = args.front();
  if (name == "--help" || name == "-h" || name == "help") return print_help(stdout), kOk;
  if (name == "--version") return fmt::print("muscope {}\n", MUSCOPE_VERSION), kOk;
  const auto list = commands();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Command& c) { return c.name == name; });
  if (found == list.end()) {
    const Diagnostic d{
        Severity::kError, "D102", fmt::format("unknown command '{}'", name), {}, "muscope --help lists the commands"};
    std::fputs(to_text(d).c_str(), stderr);
    return kUsage;
  }
  return found->run(Arguments(args.begin() + 1, args.end()));
}

}  // namespace
}  // namespace muscope::cli

int main(int argc, char** argv) {
  using namespace muscope;
  try {
    return cli::dispatch(cli::Arguments(argv + 1, argv + argc));
  } catch (const cli::Leave& leave) {
    return leave.code;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    // Wrong usage is told apart from "muscope cannot" by the diagnostic: D10x and D11x are about the command line.
    return (error.diagnostics().front().code.starts_with("D10") || error.diagnostics().front().code.starts_with("D11"))
               ? cli::kUsage
               : cli::kCannot;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "muscope: %s\n", e.what());
    return cli::kCannot;
  }
}
