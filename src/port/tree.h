// The files of a project: found on disk, with ignore rules, told apart by kind, with their new names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "port/rules.h"

namespace muscope::port {

enum class FileKind { kSource, kCMake, kMake, kOther };

FileKind kind_of_file(std::string_view name);

struct TreeFile {
  std::string path;  ///< below the root, with / between its parts
  FileKind kind = FileKind::kOther;
  std::string new_path;      ///< the same unless the file is renamed
  bool link = false;         ///< a symbolic link; never read through
  bool link_leaves = false;  ///< and what it leads to lies outside the tree
  bool special = false;      ///< a pipe, a socket or a device: neither read nor copied
};

struct TreeOptions {
  std::vector<std::string> exclude;  ///< patterns of .gitignore
  std::vector<std::string> include;  ///< only files that match one; empty: all
  bool ignore_files = true;          ///< .gitignore and .muscopeignore are obeyed
  bool rename = true;                ///< .cu and .cuh become .mu and .muh
};

struct Tree {
  std::string root;             ///< a folder on disk
  std::vector<TreeFile> files;  ///< by path
  bool single = false;          ///< PATH was one file
};

/// A folder with all below it, or one file. Throws Error D782 for what cannot be read.
Tree read_tree(const std::string& path, const TreeOptions& options);

/// ".cu" -> ".mu" and so on; empty when the name stays. Files of cub/ keep theirs.
std::string renamed_path(std::string_view path, Direction direction);

/// The content of a file. Throws Error D782. Nothing for a file beyond `most` bytes.
std::optional<std::string> read_file(const std::string& path, std::size_t most);

/// Which files have other names now, and how others refer to them.
class RenameIndex {
 public:
  void add(const std::string& path, const std::string& new_path);
  /// `name` as written in the file at `from`: resolved beside it, from the root, or as the end of just one path. The
  /// reference with the new name, or an empty text.
  std::string resolve(const std::string& from, const std::string& name) const;

 private:
  std::unordered_map<std::string, std::string> renamed_;
  std::unordered_map<std::string, std::vector<std::string>> by_name_;  ///< last part of the path
};

}  // namespace muscope::port
