// `muscope port`: a project from CUDA to MUSA or back, file by file, and what is to be told about it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "port/project.h"
#include "port/result.h"
#include "port/tree.h"

namespace muscope::port {

struct FileReport {
  std::string path, new_path;  ///< below the root
  FileKind kind = FileKind::kOther;
  std::uint64_t bytes = 0, lines = 0, changed_lines = 0;
  FileResult result;  ///< edits are dropped once they are made

  bool changed() const { return changed_lines > 0 || path != new_path; }
};

struct Totals {
  std::uint64_t files = 0, changed_files = 0, renamed_files = 0, left_alone = 0;
  std::uint64_t bytes = 0, lines = 0, changed_lines = 0;
  std::uint64_t names = 0;  ///< uses that were changed
  std::uint64_t errors = 0, warnings = 0, notes = 0;
  std::uint64_t in_comments = 0, in_strings = 0;
  std::map<std::string, std::uint64_t> by_library;  ///< uses that were changed
  std::map<std::string, std::uint64_t> by_code;     ///< findings
};

struct PortReport {
  std::string path;  ///< as given
  Options options;
  std::vector<FileReport> files;  ///< C++ and build files, and others with findings
  Totals totals;
  bool remain() const { return totals.errors + totals.warnings > 0; }
};

/// What is done with one file: its text before and after. Not called for files that are neither source nor build file
/// unless `all` is asked for; then with equal texts.
using OnFile = std::function<void(const TreeFile& file, const std::string& before, const std::string& after)>;

/// All files of the tree with their new names, before the first of them is handed on.
using OnPlan = std::function<void(const std::vector<TreeFile>& files)>;

/// Ports all files of a tree. Throws Error D782 for a file that cannot be read.
PortReport port_tree(const Tree& tree, const Rules& rules, const Options& options, bool rename, bool all,
                     const OnFile& on_file, const OnPlan& on_plan = {});

/// Ports one text, as if it were the file `name`.
PortReport port_text(const std::string& text, const std::string& name, const Rules& rules, const Options& options,
                     std::string& after);

/// A unified diff that git apply and patch understand; empty when nothing changed.
std::string unified_diff(const TreeFile& file, std::string_view before, std::string_view after);

}  // namespace muscope::port
