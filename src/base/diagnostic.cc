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
  return out;
}

Error::Error(Diagnostic diagnostic) : Error(std::vector<Diagnostic>{std::move(diagnostic)}) {}

Error::Error(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& d : diagnostics_) text_ += to_text(d);
}

void fail(std::string_view code, std::string text, std::string hint, SourceLocation where) {
  throw Error(Diagnostic{Severity::kError, std::string(code), std::move(text), std::move(where), std::move(hint)});
}

}  // namespace muscope
