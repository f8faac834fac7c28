// What the SARIF 2.1.0 files of several commands have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace muscope::sarif {

using Json = nlohmann::ordered_json;

/// A path as a URI (RFC 3986): what may not stand in it is percent-encoded; an absolute one begins with file://.
std::string uri_text(std::string_view path);

/// A location object without logical locations. A relative path is relative to %SRCROOT%. Lines and columns from 1, 0:
/// not known; `end_column` is just behind the last character.
Json location(const std::string& path, int line, int column, int end_column = 0);

struct Document {
  std::string tool_version;
  Json rules = Json::array();
  Json results = Json::array();
  Json notifications = Json::array();
  int exit_code = 0;
  const char* column_kind = "utf16CodeUnits";
};

/// An error for `Document::notifications`.
Json notification(const std::string& text);

/// The whole file; bytes that are no UTF-8 are replaced.
std::string text_of(Document document);

}  // namespace muscope::sarif
