#include "base/sarif.h"

#include <fmt/format.h>

#include <utility>

namespace muscope::sarif {

std::string uri_text(std::string_view path) {
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       std::string_view("-._~/!$&'()*+,;=@").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

Json location(const std::string& path, int line, int column, int end_column) {
  Json artifact{{"uri", uri_text(path)}};
  if (!path.starts_with('/')) artifact["uriBaseId"] = "%SRCROOT%";
  Json physical{{"artifactLocation", std::move(artifact)}};
  if (line > 0) {
    physical["region"] = {{"startLine", line}};
    if (column > 0) physical["region"]["startColumn"] = column;
    if (column > 0 && end_column > column) physical["region"]["endColumn"] = end_column;
  }
  return {{"physicalLocation", std::move(physical)}};
}

Json notification(const std::string& text) { return {{"level", "error"}, {"message", {{"text", text}}}}; }

std::string text_of(Document document) {
  Json invocation{{"executionSuccessful", document.notifications.empty()}, {"exitCode", document.exit_code}};
  if (!document.notifications.empty()) invocation["toolExecutionNotifications"] = std::move(document.notifications);
  Json driver{{"name", "muscope"}};
  if (!document.tool_version.empty()) driver["version"] = document.tool_version;
  driver["rules"] = std::move(document.rules);
  Json run{{"tool", {{"driver", std::move(driver)}}},
           {"invocations", Json::array({std::move(invocation)})},
           {"originalUriBaseIds", {{"%SRCROOT%", {{"description", {{"text", "The top of the source tree."}}}}}}},
           {"columnKind", document.column_kind},
           {"results", std::move(document.results)}};
  const Json all{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({std::move(run)})}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muscope::sarif
