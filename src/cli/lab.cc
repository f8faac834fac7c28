// muscope lab: measures the memory system of the GPU that is here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/input_file.h"
#include "cli/lab_run.h"
#include "cli/run_output.h"
#include "lab/catalog.h"
#include "lab/output.h"
#include "toolchain/layout.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  muscope lab --list                          what can be measured\n"
    "  muscope lab --quick --html lab.html         everything, small and with few samples\n"
    "  muscope lab --only stride,ladder-scan       experiments whose names contain one of these\n"
    "  muscope lab --json mine.json --keep raw     results with raw samples; the programs' own files\n"
    "  muscope lab --compare before.json           what became slower; exit code 4 when something did\n"
    "  muscope lab --compare h200                  against the results of an H200 that muscope brings\n"
    "  muscope lab --from raw --csv table.csv      no GPU needed: what was measured elsewhere\n";

struct LabOptions {
  std::vector<std::string> only;
  std::string json, csv, html, from, keep, compare;
  int samples = 0;
  bool list = false, quick = false, no_predict = false, counters = false, strict = false, brief = false;
};

void add_options(CLI::App& app, LabOptions& o) {
  app.add_flag("--list", o.list, "list the experiments, measure nothing");
  app.add_option("--only", o.only, "experiments whose names contain one of these words")
      ->delimiter(',')
      ->type_name("WORD,...");
  app.add_flag("--quick", o.quick, "smaller data and 11 samples per row instead of 31");
  app.add_option("--samples", o.samples, "samples per row")->check(CLI::Range(1, 10000));
  app.add_flag("--no-predict", o.no_predict, "do not count the kernels with muscope run");
  app.add_flag("--counters", o.counters, "count them with Nsight Compute too (ncu; needs its permissions)");
  app.add_option("--json", o.json, "write results with all samples (- for stdout)")->type_name("FILE");
  app.add_option("--csv", o.csv, "write a line per row (- for stdout)")->type_name("FILE");
  app.add_option("--html", o.html, "write a page with tables and pictures (- for stdout)")->type_name("FILE");
  app.add_option("--keep", o.keep, "keep the programs' own files there")->type_name("FOLDER");
  app.add_option("--from", o.from, "measure nothing: read what --keep left, or what --json wrote")
      ->type_name("FOLDER|FILE");
  app.add_option(
         "--compare", o.compare,
         "hold the results against earlier ones (of --json), or against those of a GPU that muscope brings: h200")
      ->type_name("FILE|GPU");
  app.add_flag("--strict", o.strict, "exit code 4 when rows are noisy");
  app.add_flag("--brief", o.brief, "tables without the lines that explain rows");
}

std::string list_text(const std::vector<lab::Experiment>& listed) {
  std::string out;
  std::size_t width = 0;
  for (const lab::Experiment& e : listed) width = std::max(width, e.name.size());
  for (const lab::Experiment& e : listed) out += fmt::format("{:<{}}  {}\n", e.name, width, e.summary);
  return out;
}

/// What --compare names: a file, or a GPU whose results lie beside the lab's programs.
std::string earlier_results(const std::string& name) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  std::error_code error;
  std::string known;
  if (name.find('/') == std::string::npos && name != "-" && !fs::exists(name, error)) {
    const fs::path folder = fs::path(toolchain::Layout::of_this_program().toolkit).parent_path() / "lab/results";
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() != ".json") continue;
      if (entry.path().stem() == name) return read_input(entry.path().string(), kMost, "D791", "install muscope again");
      known += (known.empty() ? "" : ", ") + entry.path().stem().string();
    }
  }
  return read_input(
      name, kMost, "D791",
      "what muscope lab --json wrote" + (known.empty() ? "" : ", or a GPU whose results muscope brings: " + known));
}

/// A folder that is removed at the end, unless it is to be kept.
class Folder {
 public:
  explicit Folder(const std::string& keep) : path_(keep), kept_(!keep.empty()) {
    std::error_code error;
    if (kept_) {
      fs::create_directories(path_, error);
      if (!fs::is_directory(path_, error))
        fail("D731", fmt::format("cannot make the folder '{}'", path_), "choose another");
      return;
    }
    std::string pattern = (fs::temp_directory_path(error) / "muscope-lab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) fail("D731", "cannot make a folder for the programs' files", "set TMPDIR");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code error;
    if (!kept_) fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool kept_;
};

/// Whether that is, or would be, a file by which the lab's programs leave their results in the folder.
bool is_file_of_the_lab(const std::string& folder, const std::string& file) {
  if (file.empty() || file == "-") return false;
  std::error_code error;
  const fs::path parent = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : fs::path(".");
  if (!fs::equivalent(parent, folder, error)) return false;
  const std::vector<std::string> names = files_of(lab::plan(lab::select({})));
  return std::find(names.begin(), names.end(), fs::path(file).filename().string()) != names.end();
}

/// What --from names: a folder of --keep, or a file of --json. Only rows of these experiments and ceilings, unless none
/// is named.
std::vector<lab::ProgramResults> measured_elsewhere(const std::string& from,
                                                    const std::vector<lab::Experiment>& selected) {
  std::error_code error;
  std::vector<lab::ProgramResults> programs;
  if (fs::is_directory(from, error)) {
    programs = read_folder(from, lab::plan(lab::select({})));
  } else {
    const std::string text =
        read_input(from, std::size_t{256} << 20, "D791", "a folder of muscope lab --keep, or a file of --json");
    if (text.starts_with("\x1f\x8b"))
      fail("D791", "it is compressed", "unpack it first: gunzip --keep FILE", {from, 0, 0});
    programs = lab::read_results(text, from);
  }
  if (selected.empty()) return programs;
  const auto is_ceiling = [](const lab::RawRow& row) { return row.experiment == "ceilings"; };
  const auto chosen = [&](std::string_view experiment) {
    return std::any_of(selected.begin(), selected.end(), [&](const auto& e) { return e.name == experiment; });
  };
  for (lab::ProgramResults& p : programs) {
    std::erase_if(p.run.rows, [&](const lab::RawRow& row) { return !is_ceiling(row) && !chosen(row.experiment); });
    std::erase_if(p.run.skipped, [&](const auto& skip) { return !chosen(skip.first); });
  }
  std::erase_if(programs, [&](const lab::ProgramResults& p) {
    const bool none = std::all_of(p.run.rows.begin(), p.run.rows.end(), is_ceiling);
    return none && p.run.skipped.empty() && !chosen("ceilings");
  });
  if (programs.empty())
    fail("D794", fmt::format("'{}' holds no row of these experiments", from), "leave --only out to see all");
  return programs;
}

}  // namespace

int lab_command(const Arguments& args) {
  CLI::App app(
      "Measures the memory system of the GPU in this machine: latencies, bandwidths, access patterns, transfers, and "
      "the\n"
      "steps from naive kernels to those of kernels/. Needs an NVIDIA GPU and nvcc. Exit code 3: one of them is "
      "missing;\n"
      "4: a row gave wrong results, or --compare found slower ones.",
      "muscope lab");
  LabOptions o;
  add_options(app, o);
  parse(app, args, kExamples);
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty())
        fail("D104", fmt::format("{} was given an empty value", option->get_name()),
             "leave the option out, or fill it");
  if (o.list) {
    if (!o.json.empty() || !o.csv.empty() || !o.html.empty() || !o.keep.empty() || !o.from.empty() ||
        !o.compare.empty())
      fail("D104", "--list and an option for results", "--list measures and reads nothing: it prints names as text");
    write_stdout(list_text(lab::select(o.only)));
    return kOk;
  }
  if (!o.from.empty() && (!o.keep.empty() || o.counters || o.quick || o.samples != 0 || o.no_predict))
    fail("D104", "--from and an option for measuring", "--from reads what was measured");
  const std::vector<lab::Experiment> selected = lab::select(o.only);
  if ((o.json == "-") + (o.csv == "-") + (o.html == "-") > 1)
    fail("D104", "two outputs on standard output", "name a file for one of them");
  std::vector<lab::KnownRow> before;
  if (!o.compare.empty()) {
    before = lab::read_known(earlier_results(o.compare), o.compare);
    if (before.empty())
      fail("D791", "nothing to compare with: no row in it was timed", "what muscope lab --json wrote",
           {o.compare, 0, 0});
  }
  std::optional<Folder> folder;
  if (o.from.empty()) {
    folder.emplace(o.keep);
    for (const std::string& out : {o.json, o.csv, o.html})
      if (!o.keep.empty() && is_file_of_the_lab(folder->path(), out))
        fail("D730", fmt::format("'{}' is a file that the lab's programs write with --keep", out), "name another");
  }
  OutputFile json(o.json), csv(o.csv), html(o.html);
  std::vector<lab::ProgramResults> programs;
  if (!o.from.empty()) {
    programs = measured_elsewhere(o.from, o.only.empty() ? std::vector<lab::Experiment>() : selected);
  } else {
    LabRequest request;
    request.plans = lab::plan(selected);
    request.quick = o.quick;
    request.samples = o.samples;
    request.predict = !o.no_predict;
    request.counters = o.counters;
    request.folder = folder->path();
    measure(request);
    programs = read_folder(folder->path(), request.plans);
  }
  const lab::Results results = lab::combine(programs);
  lab::Comparison comparison;
  if (!o.compare.empty()) comparison = lab::compare(before, results);
  if (json) json.write(lab::to_json(results, MUSCOPE_VERSION));
  if (csv) csv.write(lab::to_csv(results));
  if (html) html.write(lab::to_html(results, MUSCOPE_VERSION, comparison.text));
  if (!o.compare.empty() && comparison.slower + comparison.faster + comparison.same == 0)
    fail("D791", "nothing to compare: no row is in both results", "results of the same experiments, in the same units",
         {o.compare, 0, 0});
  const std::string text = o.compare.empty() ? lab::to_text(results, {.why = !o.brief}) : comparison.text;
  if (json.is_stdout() || csv.is_stdout() || html.is_stdout())
    std::fputs(text.c_str(), stderr);
  else
    write_stdout(text);
  return results.wrong > 0 || comparison.slower > 0 || (o.strict && results.noisy > 0) ? kFound : kOk;
}

}  // namespace muscope::cli
