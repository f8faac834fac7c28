#include "cli/port_write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/diagnostic.h"
#include "cli/run_output.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_write(const std::string& path, int error) {
  fail("D783", fmt::format("'{}' cannot be written: {}", path, std::strerror(error)),
       "nothing of this file was changed");
}

/// A whole file or none: beside it first, then in its place.
void replace_file(const std::string& path, const std::string& text, mode_t mode) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) fail_write(path, errno);
  std::size_t done = 0;
  int error = 0;
  while (done < text.size() && error == 0) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n >= 0)
      done += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      error = errno;
  }
  if (error == 0 && fchmod(fd, mode) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    fail_write(path, error);
  }
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777u : 0644u;
}

bool within(const fs::path& inner, const fs::path& outer) {
  const std::string a = inner.string() + "/", b = outer.string() + "/";
  return a.starts_with(b);
}

}  // namespace

void check_out_dir(const port::Tree& tree, const std::string& out_dir) {
  std::error_code error;
  const fs::path out = fs::weakly_canonical(fs::absolute(out_dir), error);
  const fs::path root = fs::weakly_canonical(fs::absolute(tree.root), error);
  const fs::path clean = out.has_filename() ? out : out.parent_path();
  if (clean == root || (!tree.single && within(clean, root)) || (!tree.single && within(root, clean)))
    fail("D104", fmt::format("--out-dir '{}' and '{}' lie in each other", out_dir, tree.root),
         "name a folder beside the project");
}

void write_text_file(const std::string& path, const std::string& text) {
  if (path == "-") return write_stdout(text);
  replace_file(path, text, 0644);
}

void PortWriter::add(const port::TreeFile& file, const std::string& before, const std::string& after) {
  if (out_dir_.empty()) {
    if (!file.link && (before != after || file.path != file.new_path)) changes_.push_back({file, after});
    return;
  }
  const std::string to = out_dir_ + "/" + file.new_path;
  std::error_code error;
  const fs::path folder = fs::path(to).parent_path();
  fs::create_directories(folder, error);
  if (error) fail_write(folder.string(), error.value());
  if (file.link) {
    fs::remove(to, error);
    fs::copy_symlink(tree_.root + "/" + file.path, to, error);
    if (error) fail_write(to, error.value());
    return;
  }
  replace_file(to, after, mode_of(tree_.root + "/" + file.path));
}

void PortWriter::write_in_place() {
  std::error_code error;
  for (const Change& change : changes_) {
    const std::string old_path = tree_.root + "/" + change.file.path;
    const std::string new_path = tree_.root + "/" + change.file.new_path;
    if (old_path != new_path && fs::exists(fs::symlink_status(new_path, error)))
      fail("D784", fmt::format("'{}' is to become '{}', which is there already", old_path, new_path),
           "nothing was written; move it away, or use --keep-names");
    if (!backup_.empty() && fs::exists(fs::symlink_status(old_path + backup_, error)))
      fail("D784", fmt::format("the backup '{}' is there already", old_path + backup_),
           "nothing was written; move it away, or use --backup with another ending, or --no-backup");
  }
  for (const Change& change : changes_) {
    const std::string old_path = tree_.root + "/" + change.file.path;
    const std::string new_path = tree_.root + "/" + change.file.new_path;
    const mode_t mode = mode_of(old_path);
    if (!backup_.empty()) {
      // A hard link keeps the old content until the new one is in its place.
      fs::create_hard_link(old_path, old_path + backup_, error);
      if (error) fs::copy_file(old_path, old_path + backup_, error);
      if (error) fail_write(old_path + backup_, error.value());
    }
    replace_file(new_path, change.text, mode);
    if (old_path != new_path && !fs::remove(old_path, error)) fail_write(old_path, error.value());
  }
}

}  // namespace muscope::cli
