// Whole files.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

/// Why a file cannot be read: "No such file or directory", "it is a directory"; empty where it can be.
inline std::string why_unreadable(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "it is a directory";
  return S_ISREG(status.st_mode) ? std::string() : std::string("it is not a regular file");
}

}  // namespace muscope::toolchain
