#include "cli/run_request.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "runtime/kernel_pattern.h"
#include "toolchain/compile.h"
#include "toolchain/flags.h"

namespace muscope::cli {
namespace {

constexpr std::string_view kExamples =
    "  muscope run app.cu                      compile, run, report\n"
    "  muscope run ./app 1024 --verbose        what follows the program belongs to it\n"
    "  muscope run --kernel transpose --launches 0-3 --json report.json ./app\n"
    "  muscope run --timeout 30 -- ctest -R gpu\n";

/// The C library's compiler of expressions recurses, and can take exponential time: 50,000 brackets end the process.
constexpr std::size_t kLongestPattern = 1000;

constexpr std::string_view kCountFrom[] = {"auto", "ptx", "sass"};
constexpr std::string_view kEmits[] = {"ptx", "kernels"};

/// CLI11 knows nothing of the program that follows the options.
class RunFormatter : public CLI::Formatter {
 public:
  explicit RunFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }

 private:
  std::string usage_;
};

RunCommandLine run_itself() {
  RunCommandLine line;
  line.name = "muscope run";
  line.description = "Run a CUDA or MUSA program with no GPU and report its memory traffic, per kernel and line.\n";
  line.usage = "Usage: muscope run [OPTIONS] (FILE.cu [MORE.cu] | FILE.mu | PROGRAM | -- COMMAND) [ARGS]\n";
  line.examples = kExamples;
  return line;
}

bool option_takes_value(const void* context, const std::string& option) {
  const CLI::Option* found = static_cast<const CLI::App*>(context)->get_option_no_throw(option);
  return found != nullptr && found->get_items_expected_min() > 0;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

/// An option with nothing behind it, as a script with an empty variable writes it.
void check_given(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty())
        fail("D104", fmt::format("{} was given an empty value", option->get_name()),
             "leave the option out, or fill it");
}

void check_outputs(const RunRequest& request) {
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--json", &request.json}, {"--csv", &request.csv}, {"--html", &request.html}};
  for (const auto& [first_name, first] : outputs) {
    for (const auto& [name, path] : outputs) {
      if (name == first_name) break;
      if (first->empty() || path->empty()) continue;
      const bool same = *first == *path || std::filesystem::absolute(*first).lexically_normal() ==
                                               std::filesystem::absolute(*path).lexically_normal();
      if (same)
        fail("D104",
             fmt::format("{} and {} both write to {}", name, first_name,
                         *first == "-" ? "standard output" : '\'' + *first + '\''),
             "name a file of its own for each");
    }
  }
}

/// What came as text and needs a closer look.
struct Raw {
  std::string timeout, emit, trace, checkers;
};

void check_values(RunRequest& request, const Raw& raw) {
  for (const auto& [value, name] : {std::pair{&raw.trace, "--trace"}, {&raw.checkers, "--checkers"}}) {
    if (!value->empty())
      fail("D103", fmt::format("{} is not there yet", name), "use --json, --html, --csv or the text report");
  }
  if (!request.launches_text.empty() && !runtime::parse_launch_range(request.launches_text, request.launches)) {
    fail("D104", fmt::format("--launches does not understand '{}'", request.launches_text),
         "give A-B, A-, --launches=-B or A; launches count from 0");
  }
  if (request.kernel.size() > kLongestPattern) {
    fail("D104",
         fmt::format("--kernel has {} characters, at most {} are allowed", request.kernel.size(), kLongestPattern),
         "a part of the name is enough: it may match anywhere");
  }
  std::string why;
  if (runtime::KernelPattern::compile(request.kernel, why) == nullptr) {
    fail("D104", fmt::format("--kernel '{}' is not a regular expression: {}", request.kernel, why),
         "escape ( ) [ ] * + ? . with a backslash to mean themselves");
  }
  if (!raw.timeout.empty()) {
    request.timeout_seconds = parse_duration(raw.timeout);
    if (!(request.timeout_seconds > 0)) {
      fail("D104", fmt::format("--timeout does not understand '{}'", raw.timeout), "give seconds (30), or 90s, 2m, 1h");
    }
  }
  if (request.devices < 1 || request.devices > 64) {
    fail("D104", fmt::format("--devices {} is not between 1 and 64", request.devices),
         "it is how many GPUs the program sees; which ones, --gpu says");
  }
  if (!request.view.empty() && request.view != "lines" && request.view != "kernels" && request.view != "sass") {
    fail("D104", fmt::format("--view does not know '{}'", request.view), "it knows lines, kernels, sass");
  }
  if (!request.toolchain.empty()) toolchain::preference_of(request.toolchain);
  // A minus sign makes a huge number of it.
  if (request.max_steps > std::uint64_t{1} << 63) fail("D104", "--max-steps is negative or beyond 2^63");
  if (request.profile_from_start != "on" && request.profile_from_start != "off") {
    fail("D104", fmt::format("--profile-from-start does not know '{}'", arch::printable(request.profile_from_start)),
         "on or off");
  }
  if (std::find(std::begin(kCountFrom), std::end(kCountFrom), request.count_from) == std::end(kCountFrom)) {
    fail("D104", fmt::format("--count-from does not know '{}'", arch::printable(request.count_from)),
         fmt::format("it knows {}", fmt::join(kCountFrom, ", ")));
  }
  if (const std::string& n = request.advice;
      !n.empty() && n != "all" && n != "none" &&
      (n.size() > 6 || !std::all_of(n.begin(), n.end(), [](unsigned char c) { return std::isdigit(c) != 0; })))
    fail("D104", fmt::format("--advice {} is no number", arch::printable(n)),
         "--advice all, --advice none or --advice 5");
  if (request.top < -1) fail("D104", fmt::format("--top {} is negative", request.top));
  request.emit = split_commas(raw.emit);
  for (const std::string& what : request.emit) {
    if (std::find(std::begin(kEmits), std::end(kEmits), what) == std::end(kEmits)) {
      fail("D104", fmt::format("--emit does not know '{}'", what), fmt::format("it knows {}", fmt::join(kEmits, ", ")));
    }
  }
  if (!request.emit.empty()) {
    if (request.emit_dir.empty()) request.emit_dir = "muscope-emit";
    request.emit_dir = std::filesystem::absolute(request.emit_dir).string();
  }
}

/// "'app.cu' was taken as the value of --json" when that is how the options end; a forgotten value looks like this.
std::string last_value_text(const CLI::App& app, const Arguments& options) {
  if (options.size() < 2 || !option_takes_value(&app, options[options.size() - 2])) return {};
  return fmt::format("'{}' was taken as the value of {}", arch::printable(options.back()), options[options.size() - 2]);
}

/// Options that compilers take are often tried here.
std::string compiler_option_hint(const std::string& word) {
  if (word == "-o") return "muscope run keeps what it compiles in a cache; muscope cc -o app app.cu makes a program";
  if (word == "-k") return "kernels are chosen by --kernel REGEX";  // as ncu calls it
  if (!toolchain::is_option(word)) return {};
  const bool architecture = word.starts_with("-arch") || word.starts_with("--gpu-a") || word.starts_with("-gencode");
  return fmt::format("{}options for the compiler go into one argument: --compile-flags '{}'",
                     architecture ? "the GPU is chosen by --gpu sm_80; " : "", arch::printable(word));
}

/// Tells of options that stand too late: the program gets them. Names that programs often have as well are left alone.
void note_late_options(const CLI::App& app, const Arguments& program_args) {
  constexpr std::string_view kOurs[] = {"--json", "--csv", "--metrics", "--kernel", "--launches", "--html", "--emit",
                                        "--compile-flags", "--emit-dir", "--toolchain", "--max-steps",
                                        // of muscope check
                                        "--sarif", "--junit", "--gitlab", "--github", "--markdown", "--budget",
                                        "--baseline", "--update-baseline", "--init"};
  for (const std::string& word : program_args) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (std::find(std::begin(kOurs), std::end(kOurs), name) == std::end(kOurs)) continue;
    if (app.get_option_no_throw(std::string(name)) == nullptr) continue;
    Diagnostic d;
    d.severity = Severity::kNote;
    d.code = "D126";
    d.text = fmt::format("{} stands after the program, so the program gets it", name);
    d.hint = fmt::format("options of muscope stand first: {} {} ... app.cu", app.get_name(), name);
    std::fputs(to_text(d).c_str(), stderr);
    return;
  }
}

void take_program(RunRequest& request, Arguments::const_iterator at, Arguments::const_iterator end, bool after_dashes,
                  const std::string& last_value) {
  if (!after_dashes) {
    while (at != end && toolchain::is_device_source(*at)) request.sources.push_back(*at++);
  }
  if (!request.sources.empty()) {
    // `run a.cu -- b.cu`: the dashes end the list of sources.
    if (at != end && *at == "--") ++at;
  } else {
    if (at == end || at->empty()) {
      std::string hint = "muscope run app.cu, muscope run ./app ARGS, muscope run -- COMMAND ARGS";
      if (!last_value.empty()) hint = fmt::format("{}; or: {}", last_value, hint);
      fail("D105", "no program to run", hint);
    }
    request.program = *at++;
  }
  request.args.assign(at, end);
}

}  // namespace

double parse_duration(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return -1;
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    return -1;
  }
  const std::string unit = text.substr(used);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : -1;
  constexpr double kLongest = 1e8;  // three years; keeps the arithmetic of deadlines far from overflow
  return factor > 0 && std::isfinite(value) ? std::min(value * factor, kLongest) : -1;
}

std::size_t find_program(const Arguments& args, bool (*takes_value)(const void* context, const std::string& option),
                         const void* context) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (word == "--" || word.size() < 2 || word[0] != '-') return i;
    if (word.find('=') == word.npos && takes_value(context, word)) ++i;
  }
  return args.size();
}

RunRequest parse_run_request(const Arguments& args) { return parse_run_request(args, run_itself()); }

RunRequest parse_run_request(const Arguments& args, const RunCommandLine& line) {
  RunRequest r;
  Raw raw;
  CLI::App app(line.description, line.name);
  app.formatter(std::make_shared<RunFormatter>(line.usage));
  if (line.add_options) line.add_options(app);
  const auto option = [&](const char* name, auto& value, const char* kind, const char* group, const char* text) {
    app.add_option(name, value, text)->type_name(kind)->group(group);
  };
  option("--gpu", r.gpu, "NAME", "Options",
         "GPU to stand in for: a name, a compute capability (sm_80), a JSON file; default h200");
  option("--devices", r.devices, "N", "Options", "how many of it the program sees; default 1");
  app.add_flag("--propagate", r.propagate, "pass on the program's exit code instead of 1");
  app.add_flag("--keep", r.keep, "keep the files of the run and say where they are");

  option("--kernel", r.kernel, "REGEX", "What to count", "only kernels whose demangled name matches");
  option("--launches", r.launches_text, "A-B", "What to count", "only these launches of each process, from 0");
  option("--profile-from-start", r.profile_from_start, "on|off", "What to count",
         "off: nothing before cudaProfilerStart(); cudaProfilerStop() ends counting in either case");
  option("--nvtx-include", r.nvtx_include, "RANGE", "What to count",
         "only launches inside these NVTX ranges: name or domain@name, comma-separated (\\, is a comma in a name)");
  option("--count-from", r.count_from, "WHAT", "What to count",
         "auto: machine code where it can be had and executed, else PTX; ptx: never machine code; sass: nothing else");

  option("--json", r.json, "FILE", "Report", line.json_help.c_str());
  if (line.report_options) {
    option("--csv", r.csv, "FILE", "Report", "write it as CSV, laid out like `ncu --csv --page raw` (- for stdout)");
    option("--view", r.view, "WHAT", "Report",
           "text report: lines (default), kernels (their table alone) or sass (memory instructions with their counts)");
    option("--top", r.top, "N", "Report", "text report: kernels in detail, and lines of each; default 5");
    option("--html", r.html, "FILE", "Report", "write it as a page for the browser: one file that needs no network");
    option("--advice", r.advice, "N", "Report", "pieces of advice for each launch: all, none or a number; default 3");
    option("--sort", r.sort, "KEY", "Report", "text report: traffic (default), waste, requests, name, order");
    option("--metrics", r.metrics, "LIST", "Report", "these metrics, comma-separated; * and ? match");
  }
  app.add_flag("-q,--quiet", r.quiet, "no text report, no progress")->group("Report");
  option("--emit", raw.emit, "LIST", "Report", "write intermediate forms to files: ptx,kernels");
  option("--emit-dir", r.emit_dir, "FOLDER", "Report", "where --emit writes; default muscope-emit");

  option("--threads", r.threads, "N", "Limits", "threads that execute kernels; default: one per core");
  option("--timeout", raw.timeout, "TIME", "Limits", "end the run after this time (30, 90s, 2m), say what was running");
  option("--max-steps", r.max_steps, "N", "Limits", "end a launch after this many warp instructions");

  option("--toolchain", r.toolchain, "NAME", "Compiling", "nvcc or clang; default: nvcc where there is one");
  option("--compile-flags", r.compile_flags, "FLAGS", "Compiling", "flags in nvcc's spelling, as one argument");

  for (const auto& [name, value] : {std::pair{"--trace", &raw.trace}, {"--checkers", &raw.checkers}}) {
    option(name, *value, "", "", "");  // known, so that the message can say that they are not there yet
  }

  const std::size_t program_at = find_program(args, option_takes_value, &app);
  const Arguments options(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(program_at));
  parse(app, options, line.examples, compiler_option_hint);
  check_given(app);
  check_values(r, raw);
  check_outputs(r);

  if (line.after_parse) line.after_parse(app);
  auto at = args.begin() + static_cast<std::ptrdiff_t>(program_at);
  const bool after_dashes = at != args.end() && *at == "--";
  if (after_dashes) ++at;
  Arguments rest(at, args.end());
  if (line.take_rest && line.take_rest(r, rest)) return r;
  take_program(r, rest.begin(), rest.end(), after_dashes, last_value_text(app, options));
  if (!after_dashes && !r.quiet) note_late_options(app, r.args);
  return r;
}

}  // namespace muscope::cli
