#include "check/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "diff/kernel_group.h"
#include "report/kernel_name.h"
#include "report/source_text.h"

namespace muscope::check {

std::string path_text(const CheckContext& context, std::string_view file) {
  std::filesystem::path path{std::string(file)};
  if (path.is_relative()) path = std::filesystem::path(context.directory) / path;
  return report::relative_path(path.lexically_normal().string(), context.root);
}

SourceLocation shown_at(const Judgement& judgement) {
  return judgement.at.file.empty() ? judgement.budget->where : judgement.at;
}

std::string message_of(const Judgement& judgement) {
  return judgement.cause.empty() ? judgement.text : fmt::format("{}; {}", judgement.text, judgement.cause);
}

std::string message_and_advice(const Judgement& judgement) {
  const std::string message = message_of(judgement);
  return judgement.advice.empty() ? message : fmt::format("{}\nadvice: {}", message, judgement.advice);
}

std::string fingerprint(const CheckContext& context, const Judgement& j, std::uint64_t nth) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", id_of(j.rule), j.kernel, j.metric != nullptr ? j.metric->name : "",
                  path_text(context, shown_at(j).file), nth);
  // FNV-1a of 64 bits: the name of a finding, not a secret.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

std::vector<const Judgement*> findings_of(const CheckResult& result) {
  std::vector<const Judgement*> all;
  for (const Judgement& j : result.judgements)
    if (is_finding(j)) all.push_back(&j);
  std::stable_sort(all.begin(), all.end(), [](const Judgement* a, const Judgement* b) {
    const SourceLocation x = shown_at(*a), y = shown_at(*b);
    return std::tie(x.file, x.line, x.column) < std::tie(y.file, y.line, y.column);
  });
  return all;
}

std::string budget_text(const Judgement& j) {
  if (j.metric == nullptr) return std::string(id_of(j.rule));
  std::string text = short_name(*j.metric);
  if (!j.allowed) return text;
  const std::string unit(j.metric->unit);
  const bool at_most = j.rule == Rule::kMax || (j.rule == Rule::kRatchet && j.budget->ratchet == Ratchet::kDown);
  return fmt::format("{} {} {}", text, at_most ? "<=" : ">=", diff::value_text(*j.allowed, unit));
}

}  // namespace muscope::check
