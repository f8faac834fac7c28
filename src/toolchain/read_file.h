// Whole files.
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace muscope::toolchain {

/// The bytes of a file; nothing when it cannot be opened or read (a directory can be opened only). Never throws for
/// what the file system does: std::istreambuf_iterator would.
inline std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad() || text.bad()) return std::nullopt;
  return std::move(text).str();
}

}  // namespace muscope::toolchain
