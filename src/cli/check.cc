// `muscope check`: a run, or a report of one, held against budgets and a baseline.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "arch/gpu_spec.h"
#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "check/init.h"
#include "check/output.h"
#include "cli/command.h"
#include "cli/input_file.h"
#include "cli/run_execute.h"
#include "cli/run_output.h"
#include "cli/run_progress.h"
#include "cli/run_request.h"
#include "diff/kernel_group.h"
#include "report/json.h"
#include "report/number_format.h"
#include "report/text.h"

namespace muscope::cli {
namespace {

constexpr std::size_t kMostBudgetBytes = std::size_t{16} << 20;
constexpr std::size_t kMostBaselineBytes = std::size_t{256} << 20;

constexpr std::string_view kExamples =
    "  muscope check --init app.cu             run it, write muscope.toml and muscope-baseline.json\n"
    "  muscope check                           run it again, hold it against them\n"
    "  muscope check --sarif out.sarif --junit out.xml --github app.cu\n"
    "  muscope check --report report.json      a run that muscope run --json recorded\n"
    "  muscope check --update-baseline app.cu  accept what it costs now\n";

struct CheckOptions {
  std::string budget, baseline, report, root;
  std::string sarif, junit, gitlab, markdown;
  bool init = false, force = false, update = false, github = false, all = false;
  bool gpu_given = false;
};

void add_options(CLI::App& app, CheckOptions& o) {
  const auto option = [&](const char* name, std::string& value, const char* kind, const char* group, const char* text) {
    app.add_option(name, value, text)->type_name(kind)->group(group);
  };
  option("--budget", o.budget, "FILE", "Check", "the budgets; default muscope.toml");
  option("--baseline", o.baseline, "FILE", "Check", "the baseline; default: as the budgets say");
  option("--report", o.report, "FILE", "Check", "hold this JSON report, run nothing (- for stdin)");
  app.add_flag("--init", o.init, "write a budget file and a baseline of what is measured")->group("Check");
  app.add_flag("--force", o.force, "--init may replace files")->group("Check");
  app.add_flag("--update-baseline", o.update, "write the baseline anew from what is measured")->group("Check");
  app.add_flag("--all", o.all, "list the budgets that hold as well")->group("Check");
  option("--sarif", o.sarif, "FILE", "Check", "write the findings as SARIF 2.1.0 (- for stdout, as below)");
  option("--junit", o.junit, "FILE", "Check", "write all budgets as JUnit test cases");
  option("--gitlab", o.gitlab, "FILE", "Check", "write the findings as GitLab's Code Quality JSON");
  option("--markdown", o.markdown, "FILE", "Check", "write a table for a merge request");
  app.add_flag("--github", o.github, "print the findings as GitHub annotations")->group("Check");
  option("--root", o.root, "FOLDER", "Check", "what paths in these files are relative to; default: here");
}

/// The folder that contains the file, with what `name` adds to it.
std::string beside(const std::string& file, const std::string& name) {
  const std::filesystem::path path(name);
  return path.is_absolute() ? name : (std::filesystem::path(file).parent_path() / path).string();
}

struct Input {
  report::Report report;
  report::Sources sources;  ///< as they were when it ran
  bool interrupted = false;
  int run_code = kOk;   ///< what `muscope run` would have ended with
  std::string problem;  ///< why it must not be judged
};

Input input_of_report(const std::string& name) {
  Input input;
  input.report = read_report_file(name, &input.sources, "D760");
  const report::Report& report = input.report;
  const auto error = [](const Diagnostic& d) { return d.severity == Severity::kError; };
  const bool faulted = std::any_of(report.launches.begin(), report.launches.end(),
                                   [](const report::LaunchReport& l) { return l.fault.has_value(); });
  if (report.exit_code != 0 || faulted)
    input.run_code = kProgramFailed;
  else if (std::any_of(report.diagnostics.begin(), report.diagnostics.end(), error) ||
           std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                       [](const Diagnostic& d) { return d.code == "D732" || d.code == "D733"; }) ||
           std::any_of(report.processes.begin(), report.processes.end(), [&](const report::ProcessReport& p) {
             return p.truncated || std::any_of(p.diagnostics.begin(), p.diagnostics.end(), error);
           }))
    input.run_code = kCannot;
  return input;
}

Input input_of_run(const RunRequest& request, bool stdout_to_stderr) {
  RunOutcome outcome = execute_run(request, read_gpu(request.gpu), stdout_to_stderr);
  Input input;
  input.interrupted = outcome.interrupted;
  input.run_code = exit_code(request, outcome);
  input.report = std::move(outcome.report);
  input.sources = report::source_lines_of(input.report, report::read_sources_from_disk());
  return input;
}

std::string problem_of(const Input& input) {
  const report::Report& report = input.report;
  if (input.interrupted) return "the run was interrupted: budgets were not judged";
  if (input.run_code == kOk && report.launches.empty()) return "no kernel was launched: there is nothing to judge";
  if (input.run_code == kOk) return {};
  const bool program = input.run_code != kCannot;
  if (program && report.exit_code != 0) return fmt::format("the program {}: budgets were not judged", report.exit_text);
  return program ? "a kernel did not finish: budgets were not judged"
                 : "parts of the run are missing: budgets were not judged";
}

std::string read_text_file(const std::string& path, std::size_t most, const std::string& hint) {
  return read_input(path, most, "D760", hint);
}

void check_outputs(const CheckOptions& o, const RunRequest& request) {
  const std::pair<std::string_view, const std::string*> files[] = {{"--json", &request.json},
                                                                   {"--sarif", &o.sarif},
                                                                   {"--junit", &o.junit},
                                                                   {"--gitlab", &o.gitlab},
                                                                   {"--markdown", &o.markdown}};
  for (std::size_t i = 0; i < std::size(files); ++i)
    for (std::size_t k = i + 1; k < std::size(files); ++k)
      if (!files[i].second->empty() && *files[i].second == *files[k].second)
        fail("D104",
             fmt::format("{} and {} both write to {}", files[i].first, files[k].first,
                         *files[i].second == "-" ? "standard output" : *files[i].second),
             "name a file of its own for each");
  if (o.init && o.update) fail("D104", "--init and --update-baseline", "--init writes the baseline too");
}

std::string absolute_folder(const std::string& folder) {
  std::string path = std::filesystem::absolute(folder.empty() ? "." : folder).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// As `muscope check` shall run it again: options that change counts, sources or program, and arguments.
std::vector<std::string> command_of(const RunRequest& request) {
  std::vector<std::string> words;
  if (request.sources.empty() && request.program.empty()) return words;
  const RunRequest usual;
  const auto option = [&](const char* name, const std::string& value, const std::string& default_value) {
    if (value != default_value) words.push_back(fmt::format("{}={}", name, value));
  };
  option("--toolchain", request.toolchain, usual.toolchain);
  option("--count-from", request.count_from, usual.count_from);
  option("--compile-flags", request.compile_flags, usual.compile_flags);
  option("--kernel", request.kernel, usual.kernel);
  option("--launches", request.launches_text, usual.launches_text);
  option("--profile-from-start", request.profile_from_start, usual.profile_from_start);
  option("--nvtx-include", request.nvtx_include, usual.nvtx_include);
  option("--devices", fmt::format("{}", request.devices), fmt::format("{}", usual.devices));
  if (request.sources.empty()) words.push_back("--");
  words.insert(words.end(), request.sources.begin(), request.sources.end());
  if (!request.program.empty()) words.push_back(request.program);
  words.insert(words.end(), request.args.begin(), request.args.end());
  return words;
}

void refuse_to_replace(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error))
    fail("D767", fmt::format("'{}' is there already", path),
         "--force replaces it; --update-baseline writes the baseline alone");
}

int init(const CheckOptions& options, const RunRequest& request) {
  const std::string budget_file = options.budget.empty() ? std::string(check::kBudgetFile) : options.budget;
  const std::string baseline_name =
      options.baseline.empty()
          ? std::string(check::kBaselineFile)
          : std::filesystem::proximate(options.baseline, std::filesystem::path(budget_file).parent_path().empty()
                                                             ? "."
                                                             : std::filesystem::path(budget_file).parent_path())
                .string();
  const std::string baseline_file = beside(budget_file, baseline_name);
  if (!options.force) refuse_to_replace(budget_file), refuse_to_replace(baseline_file);
  OutputFile budgets(budget_file), baseline(baseline_file), json(request.json);
  const Input input =
      options.report.empty() ? input_of_run(request, json.is_stdout()) : input_of_report(options.report);
  tell_diagnostics(input.report, true);
  if (json) json.write(report::to_json(input.report, input.sources));
  if (const std::string problem = problem_of(input); !problem.empty()) {
    if (input.interrupted) return kInterrupted;
    fmt::print(stderr, "error D766: {}\n", problem);
    return input.run_code == kOk ? static_cast<int>(kCannot) : input.run_code;
  }
  baseline.write(check::to_json(check::baseline_of(input.report)));
  budgets.write(check::initial_budgets(input.report, command_of(request), baseline_name));
  if (!request.quiet && !json.is_stdout())
    write_stdout(fmt::format("{}: budgets of {}\n{}: the baseline\ncommit both; then: muscope check{}\n", budget_file,
                             report::counted_noun(diff::kernels_of(input.report).size(), "kernel", "kernels"),
                             baseline_file, budget_file == check::kBudgetFile ? "" : " --budget " + budget_file));
  return kOk;
}

/// The baseline of the file; nothing when there is none and none is needed.
std::optional<check::Baseline> baseline_for(const check::Budgets& budgets, const std::string& file) {
  if (!budgets.has_ratchets()) return {};
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    fail("D765", fmt::format("budgets with a ratchet need a baseline, and '{}' is not there", file),
         "make it: muscope check --update-baseline");
  return check::read_baseline(read_text_file(file, kMostBaselineBytes, "--update-baseline makes it again"), file);
}

struct Outputs {
  OutputFile json, sarif, junit, gitlab, markdown;
  Outputs(const CheckOptions& o, const RunRequest& request)
      : json(request.json), sarif(o.sarif), junit(o.junit), gitlab(o.gitlab), markdown(o.markdown) {}
  bool on_stdout() const {
    return json.is_stdout() || sarif.is_stdout() || junit.is_stdout() || gitlab.is_stdout() || markdown.is_stdout();
  }
};

void write_outputs(Outputs& out, const check::CheckContext& context, const Input& input, const CheckOptions& options,
                   bool quiet) {
  if (out.json) out.json.write(report::to_json(input.report, input.sources));
  if (out.sarif) out.sarif.write(check::to_sarif(context));
  if (out.junit) out.junit.write(check::to_junit(context));
  if (out.gitlab) out.gitlab.write(check::to_gitlab(context));
  if (out.markdown) out.markdown.write(check::to_markdown(context));
  if (out.on_stdout()) return;
  if (!quiet) {
    check::CheckTextOptions text;
    if (const std::size_t width = terminal_width(STDOUT_FILENO); width != 0) text.width = static_cast<int>(width);
    text.colour = may_colour(STDOUT_FILENO);
    text.all = options.all;
    write_stdout(check::to_text(context, text));
  }
  if (options.github) write_stdout(check::to_github(context));
}

int exit_code_of(const Input& input, const check::CheckResult& result) {
  if (input.interrupted) return kInterrupted;
  if (input.run_code != kOk) return input.run_code;
  if (input.report.launches.empty() || !result.incomparable.empty()) return kCannot;
  return result.errors > 0 ? kFound : kOk;
}

}  // namespace

int check_command(const Arguments& args) {
  CheckOptions options;
  std::optional<check::Budgets> budgets;
  bool from_file = false;  ///< what to run
  const auto budget_file = [&] { return options.budget.empty() ? std::string(check::kBudgetFile) : options.budget; };
  const auto read_file = [&] {
    if (!budgets && !options.init)
      budgets = check::read_budgets(
          read_text_file(budget_file(), kMostBudgetBytes, "make one: muscope check --init app.cu"), budget_file());
  };
  RunCommandLine line;
  line.name = "muscope check";
  line.description =
      "Run a CUDA or MUSA program with no GPU and hold its memory traffic against budgets and a baseline. Exit code 4: "
      "a budget was crossed; 3: the baseline was made for another GPU, toolchain or grade.\n";
  line.usage =
      "Usage: muscope check [OPTIONS] [FILE.cu [MORE.cu] | PROGRAM | -- COMMAND] [ARGS]\n"
      "       muscope check [OPTIONS] --report REPORT.json\n";
  line.examples = kExamples;
  line.report_options = false;
  line.add_options = [&](CLI::App& app) { add_options(app, options); };
  line.after_parse = [&](const CLI::App& app) { options.gpu_given = app.get_option("--gpu")->count() > 0; };
  line.take_rest = [&](RunRequest&, Arguments& rest) {
    if (!options.report.empty()) {
      if (!rest.empty())
        fail("D104", fmt::format("--report and a program, '{}'", arch::printable(rest.front())), "one of them");
      return true;
    }
    read_file();
    if (!rest.empty() || !budgets || budgets->command.empty()) return false;
    from_file = true;
    return true;
  };
  RunRequest request = parse_run_request(args, line);
  if (from_file) {
    // The file's command may begin with options, which stand behind those of the command line.
    Arguments all = args;
    all.insert(all.end(), budgets->command.begin(), budgets->command.end());
    options = {};
    from_file = false;
    request = parse_run_request(all, line);
    if (from_file)
      fail("D105", fmt::format("'command' of {} names no program", budget_file()), "options, then a program");
  }
  check_outputs(options, request);
  if (options.init) return init(options, request);
  read_file();
  if (budgets->budgets.empty())
    fail("D766", fmt::format("{} holds no budget", budget_file()),
         "add [[budget]] tables, or: muscope check --init --force app.cu");
  if (!options.gpu_given && !budgets->gpu.empty()) request.gpu = budgets->gpu;
  const std::string baseline_file = !options.baseline.empty() ? options.baseline
                                    : budgets->baseline.empty()
                                        ? beside(budget_file(), std::string(check::kBaselineFile))
                                        : beside(budget_file(), budgets->baseline);
  std::optional<check::Baseline> baseline;
  if (!options.update) baseline = baseline_for(*budgets, baseline_file);
  OutputFile new_baseline(options.update ? baseline_file : std::string());
  Outputs out(options, request);

  Input input = options.report.empty() ? input_of_run(request, out.on_stdout()) : input_of_report(options.report);
  tell_diagnostics(input.report, true);
  check::CheckContext context;
  context.report = &input.report;
  context.budgets = &*budgets;
  context.problem = problem_of(input);
  check::CheckResult result;
  if (context.problem.empty()) {
    if (new_baseline) {
      baseline = check::baseline_of(input.report);
      new_baseline.write(check::to_json(*baseline));
    }
    result = check::hold(input.report, *budgets, baseline ? &*baseline : nullptr);
    const std::string asked = budgets->gpu.empty() || options.gpu_given ? "" : budgets->gpu;
    if (!asked.empty() && read_gpu(asked).name != input.report.gpu.name)
      result.incomparable.push_back(
          fmt::format("the budgets are for {}, the report is of {}", asked, input.report.gpu.name));
  }
  context.result = &result;
  if (baseline) context.baseline_name = baseline_file;
  context.directory = absolute_folder("");
  context.root = absolute_folder(options.root);
  const int code = exit_code_of(input, result);
  context.exit_code = code;
  write_outputs(out, context, input, options, request.quiet);
  if (!result.incomparable.empty()) {
    Diagnostic d;
    d.code = "D764";
    d.text = fmt::format("the baseline does not hold for this run: {}", result.incomparable.front());
    if (result.incomparable.size() > 1) d.text += fmt::format(" (and {} more)", result.incomparable.size() - 1);
    d.hint = "run with the setup of the baseline, or accept this one: muscope check --update-baseline";
    std::fputs(to_text(d).c_str(), stderr);
  }
  return code;
}

}  // namespace muscope::cli
