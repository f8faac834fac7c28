#include "port/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/sarif.h"

namespace muscope::port {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
}

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::kSource:
      return "source";
    case FileKind::kCMake:
      return "cmake";
    case FileKind::kMake:
      return "make";
    default:
      return "other";
  }
}

/// Names of source text may hold any bytes; on a terminal they must not act.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out;
}

std::string sdk_text(int sdk) { return fmt::format("{}.{}", sdk / 100, sdk % 100); }

std::string archs_text(const Target& target) {
  std::string out;
  for (const int arch : target.archs) out += fmt::format("{}mp_{}", out.empty() ? "" : ", ", arch);
  return out;
}

/// All names that were changed, over all files.
std::map<std::string, NameUse> names_of(const PortReport& report) {
  std::map<std::string, NameUse> all;
  for (const FileReport& file : report.files) {
    for (const auto& [name, use] : file.result.names) {
      NameUse& sum = all[name];
      const std::uint64_t count = sum.count + use.count;
      sum = use;
      sum.count = count;
    }
  }
  return all;
}

}  // namespace

std::string findings_text(const PortReport& report, const Rules& rules, const TextOptions& options) {
  std::string out;
  std::size_t listed = 0, more = 0;
  std::set<std::string> codes;
  for (const FileReport& file : report.files) {
    for (const Finding& finding : file.result.findings) {
      if (finding.severity == Severity::kNote && !options.notes) continue;
      codes.insert(finding.code);
      if (listed == options.most) {
        ++more;
        continue;
      }
      ++listed;
      const std::string_view severity = name_of(finding.severity);
      const char* colour = finding.severity == Severity::kError     ? "\x1b[31m"
                           : finding.severity == Severity::kWarning ? "\x1b[33m"
                                                                    : "";
      const std::string place =
          finding.line > 0 ? fmt::format("{}:{}:{}", file.path, finding.line, finding.column) : file.path;
      out += fmt::format("{}: {}{} {}{}: {}\n", printable(place), options.colour ? colour : "", severity, finding.code,
                         options.colour && *colour != 0 ? "\x1b[0m" : "", printable(finding.text));
    }
  }
  if (more > 0) out += fmt::format("... and {} more: --all lists them, --json and --sarif hold all\n", more);
  if (!codes.empty()) {
    out += "\n";
    for (const std::string& code : codes) {
      const CodeInfo& info = rules.code(code);
      out += fmt::format("  {}  {}  (muscope explain {})\n", code, info.title, code);
    }
  }
  return out;
}

std::string summary_text(const PortReport& report, const Rules& rules) {
  const Totals& t = report.totals;
  const bool to_musa = report.options.target.direction == Direction::kToMusa;
  std::string out = fmt::format("{} -> {}", to_musa ? "CUDA" : "MUSA", to_musa ? "MUSA" : "CUDA");
  if (to_musa)
    out += fmt::format(", SDK {}, {}", sdk_text(report.options.target.sdk), archs_text(report.options.target));
  const auto noun = [](std::uint64_t n, const char* one) { return fmt::format("{}{}", one, n == 1 ? "" : "s"); };
  out += fmt::format("\n{:>9} {}, {} changed, {} renamed, {} left alone\n", t.files, noun(t.files, "file"),
                     t.changed_files, t.renamed_files, t.left_alone);
  out += fmt::format("{:>9} {}, {} changed\n{:>9} {} changed", t.lines, noun(t.lines, "line"), t.changed_lines, t.names,
                     noun(t.names, "name"));
  std::string separator = ": ";
  for (const std::string& library : rules.libraries()) {
    const auto found = t.by_library.find(library);
    if (found == t.by_library.end()) continue;
    out += fmt::format("{}{} {}", separator, library, found->second);
    separator = ", ";
  }
  for (const char* extra : {"thrust", "libcu++"})
    if (const auto found = t.by_library.find(extra); found != t.by_library.end())
      out += fmt::format("{}{} {}", separator, extra, found->second), separator = ", ";
  out += "\n";
  if (t.in_comments + t.in_strings > 0)
    out += fmt::format("{:>9} names stay in comments, {} in strings (--comments, --strings)\n", t.in_comments,
                       t.in_strings);
  out += fmt::format("{:>9} {}, {} {}, {} {}\n", t.errors, noun(t.errors, "error"), t.warnings,
                     noun(t.warnings, "warning"), t.notes, noun(t.notes, "note"));
  return out;
}

std::string to_json(const PortReport& report, const Rules& rules, const std::string& version) {
  const Totals& t = report.totals;
  const Target& target = report.options.target;
  Json archs = Json::array();
  for (const int arch : target.archs) archs.push_back(fmt::format("mp_{}", arch));
  Json files = Json::array();
  for (const FileReport& file : report.files) {
    Json findings = Json::array();
    for (const Finding& f : file.result.findings) {
      Json finding{{"code", f.code},     {"severity", name_of(f.severity)}, {"line", f.line},
                   {"column", f.column}, {"end_line", f.end_line},          {"end_column", f.end_column}};
      if (!f.name.empty()) finding["name"] = f.name;
      if (!f.library.empty()) finding["library"] = f.library;
      finding["text"] = f.text;
      findings.push_back(std::move(finding));
    }
    Json own = Json::object();
    for (const auto& [name, count] : file.result.own_names) own[name] = count;
    files.push_back({{"path", file.path},
                     {"new_path", file.new_path},
                     {"kind", name_of(file.kind)},
                     {"bytes", file.bytes},
                     {"lines", file.lines},
                     {"changed_lines", file.changed_lines},
                     {"left_alone", file.result.left_alone},
                     {"names_in_comments", file.result.in_comments},
                     {"names_in_strings", file.result.in_strings},
                     {"own_names", std::move(own)},
                     {"findings", std::move(findings)}});
  }
  Json names = Json::array();
  for (const auto& [name, use] : names_of(report))
    names.push_back({{"from", name},
                     {"to", use.to},
                     {"library", use.library},
                     {"count", use.count},
                     {"by_rule", use.by_rule},
                     {"seen", use.seen},
                     {"reversible", !use.one_way}});
  Json codes = Json::object();
  for (const auto& [code, count] : t.by_code)
    codes[code] = {
        {"title", rules.code(code).title}, {"severity", name_of(rules.code(code).severity)}, {"count", count}};
  Json libraries = Json::object();
  for (const auto& [library, count] : t.by_library) libraries[library] = count;
  const Json all{{"schema", "muscope.port/1"},
                 {"version", version},
                 {"path", report.path},
                 {"to", target.direction == Direction::kToMusa ? "musa" : "cuda"},
                 {"sdk", sdk_text(target.sdk)},
                 {"archs", std::move(archs)},
                 {"totals",
                  {{"files", t.files},
                   {"changed_files", t.changed_files},
                   {"renamed_files", t.renamed_files},
                   {"left_alone", t.left_alone},
                   {"bytes", t.bytes},
                   {"lines", t.lines},
                   {"changed_lines", t.changed_lines},
                   {"names", t.names},
                   {"names_by_library", std::move(libraries)},
                   {"names_in_comments", t.in_comments},
                   {"names_in_strings", t.in_strings},
                   {"errors", t.errors},
                   {"warnings", t.warnings},
                   {"notes", t.notes},
                   {"codes", std::move(codes)}}},
                 {"names", std::move(names)},
                 {"files", std::move(files)}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_sarif(const PortReport& report, const Rules& rules, const std::string& version, int exit_code) {
  sarif::Document document;
  document.tool_version = version;
  document.exit_code = exit_code;
  document.column_kind = "unicodeCodePoints";
  std::map<std::string, std::size_t> index;
  for (const CodeInfo& code : rules.codes()) {
    index[code.code] = document.rules.size();
    document.rules.push_back({{"id", code.code},
                              {"shortDescription", {{"text", code.title}}},
                              {"help", {{"text", fmt::format("muscope explain {}", code.code)}}},
                              {"defaultConfiguration", {{"level", name_of(code.severity)}}}});
  }
  for (const FileReport& file : report.files) {
    std::map<std::string, int> seen;
    for (const Finding& f : file.result.findings) {
      const std::string key = fmt::format("{}:{}:{}", f.code, file.path, f.name);
      document.results.push_back(
          {{"ruleId", f.code},
           {"ruleIndex", index.at(f.code)},
           {"level", name_of(f.severity)},
           {"message", {{"text", f.text}}},
           {"locations", Json::array({sarif::location(file.path, f.line, f.column, f.end_column)})},
           {"partialFingerprints", {{"muscopePort/v1", fmt::format("{}:{}", key, seen[key]++)}}}});
    }
  }
  return sarif::text_of(std::move(document));
}

std::string shim_header(const PortReport& report) {
  const std::map<std::string, NameUse> names = names_of(report);
  std::set<std::string> headers;
  std::vector<std::pair<std::string, std::string>> macros;
  for (const auto& [name, use] : names) {
    if (use.library == "build" || name == "cuda") continue;
    if (name.find('.') != std::string::npos || name.find('/') != std::string::npos)
      headers.insert(use.to);
    else
      macros.emplace_back(name, use.to);
  }
  std::string out(kShimMark);
  out +=
      "the CUDA names that this project uses, as MUSA's. Its sources stay CUDA; they\n"
      "// include this header first when they are compiled with mcc, in place of CUDA's headers.\n"
      "// Not in here: what muscope port reports, such as inline PTX and comparisons of __CUDA_ARCH__ with numbers.\n"
      "#pragma once\n#if defined(__MUSA__) || defined(__MUSACC__) || defined(__MUSA_ARCH__)\n\n#include "
      "<musa_runtime.h>\n";
  for (const std::string& header : headers)
    if (header != "musa_runtime.h") out += fmt::format("#include <{}>\n", header);
  out += "\n";
  for (const auto& [name, to] : macros) {
    // Macros that the compiler defines, and keeps itself.
    if (name.starts_with("__CUDA") || name == "__NVCC__") {
      out += fmt::format("#if defined({1}) && !defined({0})\n#define {0} {1}\n#endif\n", name, to);
    } else {
      out += fmt::format("#define {} {}\n", name, to);
    }
  }
  out += "\n#endif\n";
  return out;
}

}  // namespace muscope::port
