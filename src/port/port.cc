#include "port/port.h"

#include <fmt/format.h>

#include <algorithm>

#include "port/build_file.h"
#include "port/source.h"

namespace muscope::port {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;

bool is_binary(std::string_view text) { return text.find('\0') != std::string_view::npos; }

std::uint64_t changed_lines_of(std::string_view text, const std::vector<Edit>& edits) {
  std::uint64_t lines = 0;
  std::size_t line_end = 0;
  bool first = true;
  for (const Edit& edit : edits) {
    if (!first && edit.begin <= line_end) continue;
    ++lines;
    first = false;
    line_end = std::min(text.find('\n', edit.begin), text.size());
  }
  return lines;
}

void add_finding(FileResult& result, const Rules& rules, std::string_view code, std::string text) {
  Finding finding;
  finding.code = code;
  finding.severity = rules.code(code).severity;
  finding.text = std::move(text);
  result.findings.push_back(std::move(finding));
}

FileResult port_one(std::string_view text, const std::string& path, FileKind kind, const Rules& rules, NameCache& names,
                    const Project& project, const Options& options) {
  if (kind == FileKind::kSource) return port_source(text, path, rules, names, project, options);
  return port_build_file(text, path, kind == FileKind::kCMake ? BuildKind::kCMake : BuildKind::kMake, rules, project,
                         options);
}

void finish(FileReport& report, std::string_view text, Totals& totals) {
  FileResult& result = report.result;
  report.bytes = text.size();
  report.lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) +
                 (text.empty() || text.ends_with('\n') ? 0 : 1);
  report.changed_lines = changed_lines_of(text, result.edits);
  locate(text, result.findings);
  result.edits.clear();
  result.edits.shrink_to_fit();
  ++totals.files;
  totals.changed_files += report.changed_lines > 0 ? 1 : 0;
  totals.renamed_files += report.path != report.new_path ? 1 : 0;
  totals.left_alone += result.left_alone ? 1 : 0;
  totals.bytes += report.bytes;
  totals.lines += report.lines;
  totals.changed_lines += report.changed_lines;
  totals.in_comments += result.in_comments;
  totals.in_strings += result.in_strings;
  for (const auto& [name, use] : result.names) {
    totals.names += use.count;
    totals.by_library[use.library] += use.count;
  }
  for (const Finding& finding : result.findings) {
    ++totals.by_code[finding.code];
    ++(finding.severity == Severity::kError     ? totals.errors
       : finding.severity == Severity::kWarning ? totals.warnings
                                                : totals.notes);
  }
}

}  // namespace

PortReport port_tree(const Tree& tree, const Rules& rules, const Options& options, bool rename, bool all,
                     const OnFile& on_file, const OnPlan& on_plan) {
  PortReport report;
  report.options = options;
  NameCache names(rules, options.target.direction);
  Project project;
  RenameIndex index;
  std::vector<TreeFile> files = tree.files;
  std::vector<char> readable(files.size(), 1);
  for (std::size_t i = 0; i < files.size(); ++i) {
    TreeFile& file = files[i];
    if (file.kind != FileKind::kSource) continue;
    const std::optional<std::string> text = read_file(tree.root + "/" + file.path, kMostBytes);
    readable[i] = text && !is_binary(*text);
    if (!readable[i]) continue;
    const bool foreign = collect_declarations(*text, names, project);
    if (!rename || (foreign && !options.force && options.target.direction == Direction::kToMusa)) continue;
    if (const std::string to = renamed_path(file.path, options.target.direction); !to.empty()) {
      file.new_path = to;
      index.add(file.path, to);
    }
  }
  project.renamed_file = [&](const std::string& from, const std::string& name) { return index.resolve(from, name); };

  if (on_plan) on_plan(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TreeFile& file = files[i];
    FileReport entry;
    entry.path = file.path;
    entry.new_path = file.new_path;
    entry.kind = file.kind;
    if (file.special) {
      add_finding(entry.result, rules, "P028",
                  "this is a pipe, a socket or a device, no file: it is neither read nor copied");
      finish(entry, "", report.totals);
      report.files.push_back(std::move(entry));
      continue;
    }
    if (file.link) {
      if (file.link_leaves)
        add_finding(entry.result, rules, "P038", "this link leads out of the project: it is not followed");
      if (!entry.result.findings.empty()) {
        finish(entry, "", report.totals);
        report.files.push_back(std::move(entry));
      }
      if (all) on_file(file, "", "");
      continue;
    }
    if (file.kind == FileKind::kOther && !all) continue;
    const std::optional<std::string> text = read_file(tree.root + "/" + file.path, kMostBytes);
    const bool taken = file.kind != FileKind::kOther && text && readable[i] != 0 && !is_binary(*text);
    if (!taken) {
      if (file.kind != FileKind::kOther || !text) {
        add_finding(entry.result, rules, "P028",
                    text  ? "this file holds zero bytes: it is no text (or UTF-16), and stays as it is"
                    : all ? "this file is larger than 512 MiB and is not copied"
                          : "this file is larger than 512 MiB and stays as it is");
        finish(entry, "", report.totals);
        report.files.push_back(std::move(entry));
      }
      if (all && text) on_file(file, *text, *text);
      continue;
    }
    entry.result = port_one(*text, file.path, file.kind, rules, names, project, options);
    const std::string after = edited(*text, entry.result.edits);
    finish(entry, *text, report.totals);
    on_file(file, *text, after);
    report.files.push_back(std::move(entry));
  }
  return report;
}

PortReport port_text(const std::string& text, const std::string& name, const Rules& rules, const Options& options,
                     std::string& after) {
  PortReport report;
  report.options = options;
  NameCache names(rules, options.target.direction);
  Project project;
  FileReport entry;
  entry.path = entry.new_path = name;
  const FileKind kind = kind_of_file(name);
  entry.kind = kind == FileKind::kOther ? FileKind::kSource : kind;
  after = text;
  if (is_binary(text)) {
    add_finding(entry.result, rules, "P028",
                "the text holds zero bytes: it is no text (or UTF-16), and stays as it is");
  } else {
    collect_declarations(text, names, project);
    entry.result = port_one(text, name, entry.kind, rules, names, project, options);
    after = edited(text, entry.result.edits);
  }
  finish(entry, text, report.totals);
  report.files.push_back(std::move(entry));
  return report;
}

}  // namespace muscope::port
