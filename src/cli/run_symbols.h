// Host code addresses to text that a person can use: file and line where debug information allows.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "views/records_io.h"

namespace muscope::cli {

struct CodePlace {
  std::string function;  ///< demangled; empty when not known
  std::string file;      ///< as the compiler wrote it; empty when not known
  int line = 0;

  /// "suite.cu:120", else "main+0x1f3 in ./app", else "0x1234 in ./app"; empty when nothing is known.
  std::string text;
};

/// Asks addr2line (binutils) once per module for all addresses of a run. Without addr2line, or without debug
/// information, the nearest exported symbol has to do.
class CallSites {
 public:
  /// `path` is shown as `name`: a program that was compiled for this run lies in a cache.
  void call(const std::string& path, const std::string& name) { names_[path] = name; }
  void want(const views::CodeAddress& address);
  /// After the last want().
  void resolve();
  CodePlace place(const views::CodeAddress& address) const;

 private:
  std::string shown(const std::string& module) const;

  std::map<std::string, std::map<std::uint64_t, CodePlace>> modules_;
  std::map<std::string, std::string> names_;
};

/// What `addr2line -a -i -f -C` says of each address: the innermost frame that is not inside the CUDA headers, for a
/// call inlined from them belongs to the line that made it; the outermost where all are. `toolkit` is the folder of
/// ours.
std::vector<CodePlace> parse_inlined(const std::string& answers, const std::string& toolkit);

/// One "function\nfile:line" answer of `addr2line -f -C`; unknown parts ("??") are left empty.
CodePlace parse_addr2line(const std::string& function, const std::string& position);

}  // namespace muscope::cli
