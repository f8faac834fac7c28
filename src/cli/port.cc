// `muscope port`: CUDA source to MUSA, and back.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/embedded_text.h"
#include "cli/input_file.h"
#include "cli/port_write.h"
#include "cli/run_output.h"
#include "cli/run_progress.h"
#include "port/output.h"
#include "port/port.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInput = std::size_t{512} << 20;

constexpr std::string_view kExamples =
    "  muscope port src                          what would change, and what needs a hand; nothing is written\n"
    "  muscope port src --diff | less\n"
    "  muscope port src --out-dir src_musa       a copy of the tree, ported\n"
    "  muscope port src --in-place --arch mp_22 --sdk 4.3 --sarif port.sarif\n"
    "  muscope port - < kernel.cu > kernel.mu\n"
    "  muscope port src --shim cuda_to_musa.h    keep the source, name the names\n"
    "  muscope port src_musa --to cuda --out-dir src_cuda\n";

struct PortOptions {
  std::string path, to = "musa", sdk = "5.2", out_dir, output, shim, json, sarif, backup = ".orig";
  std::vector<std::string> archs, rules;
  port::TreeOptions tree;
  port::Options port;
  bool dry_run = false, diff = false, in_place = false, no_backup = false, keep_names = false, no_ignore = false;
  bool notes = false, all = false, quiet = false;
};

void add_options(CLI::App& app, PortOptions& o) {
  app.add_option("PATH", o.path, "a file, a folder, or - for standard input")->required();
  app.add_flag("--dry-run", o.dry_run, "write nothing, report (this is the default)")->group("Where to");
  app.add_flag("--diff", o.diff, "print a unified diff (for git apply or patch)")->group("Where to");
  app.add_flag("--in-place", o.in_place, "change the files, keep each old one beside it")->group("Where to");
  app.add_option("--out-dir", o.out_dir, "write the whole tree there")->type_name("FOLDER")->group("Where to");
  app.add_option("-o,--output", o.output, "write one file there (- for stdout)")->type_name("FILE")->group("Where to");
  app.add_option("--shim", o.shim, "write a header with the names that are used; sources stay CUDA")
      ->type_name("FILE")
      ->group("Where to");
  app.add_option("--backup", o.backup, "what --in-place appends to old files' names")
      ->capture_default_str()
      ->group("Where to");
  app.add_flag("--no-backup", o.no_backup, "--in-place keeps no old files")->group("Where to");
  app.add_option("--to", o.to, "musa or cuda")
      ->check(CLI::IsMember({"musa", "cuda"}))
      ->capture_default_str()
      ->group("What");
  app.add_option("--sdk", o.sdk, "version of the MUSA SDK, which findings depend on")
      ->capture_default_str()
      ->group("What");
  app.add_option("--arch", o.archs, "cards to build for: mp_21, mp_22, mp_31 (default: all)")
      ->delimiter(',')
      ->group("What");
  app.add_flag("--comments", o.port.comments, "change names in comments too")->group("What");
  app.add_flag("--strings", o.port.strings, "change names in strings too")->group("What");
  app.add_flag("--keep-names", o.keep_names, ".cu and .cuh files keep their names")->group("What");
  app.add_flag("--force", o.port.force, "change CUDA names in files that speak MUSA too")->group("What");
  app.add_option("--rules", o.rules, "another table of rules, as in data/port")->type_name("FILE")->group("What");
  app.add_option("--exclude", o.tree.exclude, "leave out what matches, as in .gitignore")
      ->type_name("PATTERN")
      ->group("Files");
  app.add_option("--include", o.tree.include, "only files that match")->type_name("PATTERN")->group("Files");
  app.add_flag("--no-ignore", o.no_ignore, "do not obey .gitignore and .muscopeignore")->group("Files");
  app.add_option("--json", o.json, "write all findings and names as JSON (- for stdout)")
      ->type_name("FILE")
      ->group("Report");
  app.add_option("--sarif", o.sarif, "write all findings as SARIF 2.1.0 (- for stdout)")
      ->type_name("FILE")
      ->group("Report");
  app.add_flag("--notes", o.notes, "list notes too")->group("Report");
  app.add_flag("--all", o.all, "list all findings, not the first 200")->group("Report");
  app.add_flag("--quiet", o.quiet, "no report as text")->group("Report");
}

int number_in(std::string_view text, const std::string& whole, const char* option, const char* hint) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 99)
    fail("D114", fmt::format("{} '{}' is not understood", option, arch::printable(whole)), hint);
  return value;
}

void read_target(PortOptions& o) {
  port::Target& target = o.port.target;
  target.direction = o.to == "musa" ? port::Direction::kToMusa : port::Direction::kToCuda;
  const std::size_t dot = o.sdk.find('.');
  const std::string_view sdk = o.sdk;
  constexpr const char* kSdkHint = "a version such as 3.1, 4.3 or 5.2";
  const int major = number_in(sdk.substr(0, dot), o.sdk, "--sdk", kSdkHint);
  std::string_view minor = dot == std::string_view::npos ? "0" : sdk.substr(dot + 1);
  minor = minor.substr(0, minor.find('.'));
  target.sdk = major * 100 + number_in(minor, o.sdk, "--sdk", kSdkHint);
  if (o.archs.empty()) return;
  target.archs.clear();
  for (const std::string& arch : o.archs) {
    if (arch != "mp_21" && arch != "mp_22" && arch != "mp_31")
      fail("D114", fmt::format("--arch '{}' is not known", arch::printable(arch)),
           "mp_21 (S80, S70, S3000), mp_22 (S4000) or mp_31 (S5000)");
    target.archs.push_back(number_in(arch.substr(3), arch, "--arch", ""));
  }
}

void check_modes(const PortOptions& o) {
  const std::pair<const char*, bool> modes[] = {{"--dry-run", o.dry_run},        {"--diff", o.diff},
                                                {"--in-place", o.in_place},      {"--out-dir", !o.out_dir.empty()},
                                                {"--output", !o.output.empty()}, {"--shim", !o.shim.empty()}};
  const char* first = nullptr;
  for (const auto& [name, given] : modes) {
    if (!given) continue;
    if (first != nullptr) fail("D104", fmt::format("{} and {}", first, name), "one of them");
    first = name;
  }
  if (o.path == "-" && (o.in_place || !o.out_dir.empty()))
    fail("D104", fmt::format("standard input and {}", first), "standard input goes to standard output, or to --output");
  if (o.in_place && !o.no_backup && (o.backup.empty() || o.backup.find('/') != std::string::npos))
    fail("D104", o.backup.empty() ? "--backup is empty" : "--backup has a / in it",
         "an ending such as .orig; --no-backup keeps no old files");
  const int to_stdout = (o.output == "-" || (o.path == "-" && first == nullptr) || o.diff ? 1 : 0) +
                        (o.json == "-" ? 1 : 0) + (o.sarif == "-" ? 1 : 0) + (o.shim == "-" ? 1 : 0);
  if (to_stdout > 1) fail("D104", "two outputs on standard output", "name a file for one of them");
}

port::Rules load_rules(const PortOptions& o) {
  std::vector<std::string> own;
  std::vector<port::RuleText> tables;
  for (const EmbeddedText& text : port_texts()) tables.push_back({text.name, text.text});
  own.reserve(o.rules.size());
  for (const std::string& file : o.rules) {
    keep_input(file);
    own.push_back(read_input(file, std::size_t{16} << 20, "D782", "a table as in data/port"));
    tables.push_back({file, own.back()});
  }
  return port::Rules(tables);
}

struct Outputs {
  OutputFile json, sarif;
};

/// The report in all forms. `code` is what muscope will end with.
void report_out(const PortOptions& o, const port::Rules& rules, const port::PortReport& report, Outputs& outputs,
                bool stdout_taken, int code) {
  if (outputs.json) outputs.json.write(port::to_json(report, rules, MUSCOPE_VERSION));
  if (outputs.sarif) outputs.sarif.write(port::to_sarif(report, rules, MUSCOPE_VERSION, code));
  if (o.quiet) return;
  const bool elsewhere = stdout_taken || outputs.json.is_stdout() || outputs.sarif.is_stdout();
  port::TextOptions text;
  text.colour = may_colour(elsewhere ? STDERR_FILENO : STDOUT_FILENO);
  text.notes = o.notes;
  if (o.all) text.most = static_cast<std::size_t>(-1);
  std::string out = port::findings_text(report, rules, text);
  if (!out.empty()) out += "\n";
  out += port::summary_text(report, rules);
  if (elsewhere)
    std::fputs(out.c_str(), stderr);
  else
    write_stdout(out);
}

int port_stdin(const PortOptions& o, const port::Rules& rules, Outputs& outputs) {
  const std::string text = read_input("-", kMostInput, "D782", "");
  std::string after;
  OutputFile file(o.output.empty() || o.diff ? std::string() : o.output);
  port::PortReport report = port::port_text(text, "stdin.cu", rules, o.port, after);
  report.path = "-";
  const int code = report.remain() ? kFound : kOk;
  const bool stdout_taken = o.output.empty() || o.output == "-";
  if (o.diff)
    write_stdout(port::unified_diff({"stdin.cu", port::FileKind::kSource, "stdin.cu", false, false}, text, after));
  else if (!o.shim.empty())
    OutputFile(o.shim).write(port::shim_header(report));
  else if (file)
    file.write(after);
  else if (!o.dry_run)
    write_stdout(after);
  report_out(o, rules, report, outputs, stdout_taken && !o.dry_run, code);
  return code;
}

int port_path(const PortOptions& o, const port::Rules& rules, Outputs& outputs) {
  port::Tree tree = port::read_tree(o.path, o.tree);
  // A report that lies in the tree is no part of the project.
  std::erase_if(tree.files, [&](const port::TreeFile& file) {
    const fs::path path = fs::path(tree.root) / file.path;
    std::error_code error;
    return file.kind == port::FileKind::kOther && !file.link &&
           ((outputs.json && fs::equivalent(path, outputs.json.path(), error)) ||
            (outputs.sarif && fs::equivalent(path, outputs.sarif.path(), error)));
  });
  keep_tree(tree);
  check_text_file(o.output, false);
  check_text_file(o.shim, true);
  const bool whole = !o.out_dir.empty();
  if (whole) check_out_dir(tree, o.out_dir);
  if (!o.output.empty() && !tree.single) fail("D104", "--output and a folder", "--out-dir takes a whole tree");
  const bool rename = !o.keep_names && o.output.empty() && o.shim.empty();
  PortWriter writer(tree, o.out_dir, o.no_backup ? std::string() : o.backup);
  std::string single;
  const port::OnFile compare = [&](const port::TreeFile& file, const std::string&, const std::string& after) {
    writer.compare(file, after);
  };
  const port::OnPlan plan = [&](const std::vector<port::TreeFile>& files) {
    if (writer.plan(files)) port::port_tree(tree, rules, o.port, rename, whole, compare);
  };
  const port::OnFile write = [&](const port::TreeFile& file, const std::string& before, const std::string& after) {
    if (o.diff) write_stdout(port::unified_diff(file, before, after));
    if (whole || o.in_place) writer.add(file, before, after);
    if (!o.output.empty()) single = after;
  };
  port::PortReport report = port::port_tree(tree, rules, o.port, rename, whole, write, plan);
  report.path = o.path;
  if (o.in_place) writer.write_in_place();
  if (!o.shim.empty()) write_text_file(o.shim, port::shim_header(report));
  if (!o.output.empty()) write_text_file(o.output, single);
  const int code = report.remain() ? kFound : kOk;
  report_out(o, rules, report, outputs, o.diff || o.output == "-" || o.shim == "-", code);
  return code;
}

}  // namespace

int port_command(const Arguments& args) {
  CLI::App app(
      "CUDA source, headers and build files to MUSA (Moore Threads), and back. Only identifiers change; what needs a\n"
      "hand is reported with a code that muscope explain knows. Exit code 0: nothing remains; 4: findings remain.",
      "muscope port");
  PortOptions o;
  add_options(app, o);
  parse(app, args, kExamples);
  read_target(o);
  check_modes(o);
  o.tree.ignore_files = !o.no_ignore;
  const port::Rules rules = load_rules(o);
  Outputs outputs{OutputFile(o.json), OutputFile(o.sarif)};
  return o.path == "-" ? port_stdin(o, rules, outputs) : port_path(o, rules, outputs);
}

}  // namespace muscope::cli
