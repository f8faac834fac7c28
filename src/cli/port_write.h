// Writing of ported files: nothing is written before everything is known to be writable, and no file is half written.
#pragma once

#include <string>
#include <vector>

#include "port/tree.h"

namespace muscope::cli {

/// Throws Error D104 when the folder is the tree, holds it, or lies in it.
void check_out_dir(const port::Tree& tree, const std::string& out_dir);

/// Replaces the file, or prints to stdout for "-". Throws Error D783.
void write_text_file(const std::string& path, const std::string& text);

class PortWriter {
 public:
  /// `backup`: appended to old files' names; empty: they are not kept.
  PortWriter(const port::Tree& tree, std::string out_dir, std::string backup)
      : tree_(tree), out_dir_(std::move(out_dir)), backup_(std::move(backup)) {}
  /// With an output folder: written there at once, a link as the same link. Else kept until write_in_place(). Throws
  /// Error D783.
  void add(const port::TreeFile& file, const std::string& before, const std::string& after);
  /// Throws Error D784 when a new name or a backup is taken, before anything is written; D783.
  void write_in_place();

 private:
  struct Change {
    port::TreeFile file;
    std::string text;
  };
  const port::Tree& tree_;
  std::string out_dir_, backup_;
  std::vector<Change> changes_;
};

}  // namespace muscope::cli
