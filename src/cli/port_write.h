// Writing of ported files: nothing is written before everything is known to be writable, and no file is half written.
#pragma once

#include <string>
#include <vector>

#include "port/tree.h"

namespace muscope::cli {

/// Throws Error D104 when the folder is the tree, holds it, or lies in it.
void check_out_dir(const port::Tree& tree, const std::string& out_dir);

/// Says that the files which are read, source and build files of the tree, are inputs: no report may replace them
/// (keep_input). Throws Error D730.
void keep_tree(const port::Tree& tree);

/// Throws Error D730 when `path` is a file that is read, or one that a report goes to; D784 for a file that is no shim
/// when `shim` says that one goes there.
void check_text_file(const std::string& path, bool shim);

/// Replaces the file, or prints to stdout for "-". Throws Error D783.
void write_text_file(const std::string& path, const std::string& text);

class PortWriter {
 public:
  /// `backup`: appended to old files' names; empty: they are not kept.
  PortWriter(const port::Tree& tree, std::string out_dir, std::string backup)
      : tree_(tree), out_dir_(std::move(out_dir)), backup_(std::move(backup)) {}
  /// Looks at all names before anything is written: with an output folder, throws Error D784 when two files are to have
  /// one name there. True when some of the names are there already, which `compare` is to look at.
  bool plan(const std::vector<port::TreeFile>& files) const;
  /// Throws Error D784 when the output folder has something else under this name than what add() would write.
  void compare(const port::TreeFile& file, const std::string& after) const;
  /// With an output folder: written there at once, a link as the same link. Else kept until write_in_place(). Throws
  /// Error D783.
  void add(const port::TreeFile& file, const std::string& before, const std::string& after);
  /// Throws Error D784 when a new name or a backup is taken, and D783 when a file or a backup cannot be written, before
  /// anything is changed. When a file cannot be put in its place after all, D783 says which were changed.
  void write_in_place();

 private:
  struct Change {
    port::TreeFile file;
    std::string text;
    std::string staged;      ///< the new text beside its place
    bool backed_up = false;  ///< a backup was made
  };
  void check_names() const;
  void stage(Change& change);
  void unstage();
  const port::Tree& tree_;
  std::string out_dir_, backup_;
  std::vector<Change> changes_;
};

}  // namespace muscope::cli
