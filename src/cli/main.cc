// muscope: finds the subcommand, runs it, turns errors into messages and exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "toolchain/compile.h"

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

[[noreturn]] void fail_unknown(const std::string& name) {
  std::string hint = "muscope --help lists the commands";
  std::error_code error;
  std::vector<std::string> names = {"--help", "--version"};
  for (const Command& c : commands()) names.emplace_back(c.name);
  if (toolchain::is_device_source(name) || std::filesystem::is_regular_file(name, error)) {
    const std::string folder = toolchain::is_device_source(name) || name.find('/') != name.npos ? "" : "./";
    hint = fmt::format("to run it: muscope run {}{}", folder, arch::printable(name));
  } else if (const auto near = arch::nearest(name, names, 1); !near.empty()) {
    hint = fmt::format("did you mean {}? {}", near.front(), hint);
  }
  fail("D102", fmt::format("unknown command '{}'", arch::printable(name)), hint);
}

int dispatch(const Arguments& args) {
  if (args.empty()) return print_help(stderr), kUsage;
  const std::string& name = args.front();
  if (name == "--help" || name == "-h" || name == "help") {
    if (args.size() == 1) return print_help(stdout), kOk;
    return dispatch({args[1], "--help"});
  }
  if (name == "--version") return fmt::print("muscope {}\n", MUSCOPE_VERSION), kOk;
  const auto list = commands();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Command& c) { return c.name == name; });
  if (found == list.end()) fail_unknown(name);
  return found->run(Arguments(args.begin() + 1, args.end()));
}

/// A table that was cut off by a full disk is no success. A reader that has seen enough (`| head`) is.
int with_output_written(int status) {
  errno = 0;
  const bool good = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const int why = errno != 0 ? errno : EIO;
  if (good || why == EPIPE || status != kOk) return status;
  fail("D731", fmt::format("writing to stdout failed: {}", std::strerror(why)), "free space there, or write elsewhere");
}

}  // namespace
}  // namespace muscope::cli

int main(int argc, char** argv) {
  using namespace muscope;
  try {
    return cli::with_output_written(cli::dispatch(cli::Arguments(argv + 1, argv + argc)));
  } catch (const cli::Leave& leave) {
    return leave.code;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    // Wrong usage is told apart from "muscope cannot" by the diagnostic: D10x and D11x are about the command line, D406
    // and D408 about the compiler's part of it.
    const std::string& code = error.diagnostics().front().code;
    const bool usage = code.starts_with("D10") || code.starts_with("D11") || code == "D406" || code == "D408";
    return usage ? cli::kUsage : cli::kCannot;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "muscope: %s\n", e.what());
    return cli::kCannot;
  }
}
