#include "base/diagnostic.h"

#include <fmt/format.h>

namespace muscope {
namespace {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

/// Names come from files: what would steer a terminal is written as \x1b.
std::string without_control(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      out += fmt::format("\\x{:02x}", c);
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  std::string out = fmt::format("{} {}: {}\n", name_of(diagnostic.severity), diagnostic.code, diagnostic.text);
  const SourceLocation& at = diagnostic.where;
  if (!at.file.empty()) {
    out += "  at " + at.file;
    if (at.line > 0) out += fmt::format(":{}", at.line);
    if (at.column > 0) out += fmt::format(":{}", at.column);
    out += '\n';
  }
  if (!diagnostic.hint.empty()) out += "  help: " + diagnostic.hint + '\n';
  return without_control(out);
}

Error::Error(Diagnostic diagnostic) : Error(std::vector<Diagnostic>{std::move(diagnostic)}) {}

Error::Error(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& d : diagnostics_) text_ += to_text(d);
}

void fail(std::string_view code, std::string text, std::string hint, SourceLocation where) {
  throw Error(Diagnostic{Severity::kError, std::string(code), std::move(text), std::move(where), std::move(hint)});
}

}  // namespace muscope
