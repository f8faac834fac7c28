#include "cli/port_write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "base/diagnostic.h"
#include "cli/run_output.h"
#include "port/output.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_write(const std::string& path, int error,
                             const std::string& hint = "nothing of this file was changed") {
  fail("D783", fmt::format("'{}' cannot be written: {}", path, std::strerror(error)), hint);
}

/// A new file with this text in the folder of `path`; its name, or an empty text and the reason in `error`.
std::string written_beside(const std::string& path, const std::string& text, mode_t mode, int& error) {
  // A name of its own: that of the file may be as long as names can be.
  std::string temporary = (fs::path(path).parent_path() / ".muscope-port-XXXXXX").string();
  const int fd = mkstemp(temporary.data());
  error = fd < 0 ? errno : 0;
  if (fd < 0) return {};
  std::size_t done = 0;
  while (done < text.size() && error == 0) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n >= 0)
      done += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      error = errno;
  }
  if (error == 0 && fchmod(fd, mode) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return temporary;
  unlink(temporary.c_str());
  return {};
}

/// A whole file or none: beside it first, then in its place.
void replace_file(const std::string& path, const std::string& text, mode_t mode) {
  int error = 0;
  const std::string temporary = written_beside(path, text, mode, error);
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    unlink(temporary.c_str());
  }
  if (error != 0) fail_write(path, error);
}

/// Whether the file holds this text and nothing else.
bool holds(const std::string& path, const std::string& text) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) != text.size()) return false;
  std::ifstream in(path, std::ios::binary);
  std::string there(text.size(), '\0');
  in.read(there.data(), static_cast<std::streamsize>(there.size()));
  return static_cast<std::size_t>(in.gcount()) == text.size() && there == text;
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

void keep_tree(const port::Tree& tree) {
  for (const port::TreeFile& file : tree.files)
    if (file.kind != port::FileKind::kOther && !file.link) keep_input(tree.root + "/" + file.path);
}

void check_text_file(const std::string& path, bool shim) {
  if (path.empty() || path == "-") return;
  check_output(path);
  struct stat status{};
  if (!shim || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  std::string begin(port::kShimMark.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin != port::kShimMark)
    fail("D784", fmt::format("'{}' is there already, and was not written by --shim", path),
         "nothing was written; move it away, or name another file");
}

void write_text_file(const std::string& path, const std::string& text) {
  if (path == "-") return write_stdout(text);
  // A device or a pipe is written to; only a file is replaced.
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return OutputFile(path).write(text);
  replace_file(path, text, 0644);
}

bool PortWriter::plan(const std::vector<port::TreeFile>& files) const {
  if (out_dir_.empty()) return false;
  std::unordered_map<std::string, const port::TreeFile*> taken;
  for (const port::TreeFile& file : files) {
    if (file.special) continue;
    if (const auto [other, fresh] = taken.try_emplace(file.new_path, &file); !fresh)
      fail("D784", fmt::format("'{}' and '{}' are both to become '{}'", other->second->path, file.path, file.new_path),
           "nothing was written; move one of them away, or use --keep-names");
  }
  bool exist = false;
  std::error_code error;
  for (const port::TreeFile& file : files) {
    if (file.special) continue;
    for (fs::path folder = fs::path(file.new_path).parent_path(); !folder.empty(); folder = folder.parent_path())
      if (const auto other = taken.find(folder.string()); other != taken.end())
        fail("D784", fmt::format("'{}' is to become '{}', which is a folder", other->second->path, folder.string()),
             "nothing was written; move one of them away, or use --keep-names");
    exist |= fs::exists(fs::symlink_status(out_dir_ + "/" + file.new_path, error));
  }
  return exist;
}

void PortWriter::compare(const port::TreeFile& file, const std::string& after) const {
  const std::string to = out_dir_ + "/" + file.new_path;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(to, error);
  if (!fs::exists(status)) return;
  const bool same = file.link ? fs::is_symlink(status) &&
                                    fs::read_symlink(to, error) == fs::read_symlink(tree_.root + "/" + file.path, error)
                              : holds(to, after);
  if (!same)
    fail("D784", fmt::format("'{}' is there already and is not what would be written", to),
         "nothing was written; name a folder that is new or empty, or move the old one away");
}

void PortWriter::add(const port::TreeFile& file, const std::string& before, const std::string& after) {
  if (out_dir_.empty()) {
    if (!file.link && (before != after || file.path != file.new_path)) changes_.push_back({file, after, {}, false});
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

void PortWriter::check_names() const {
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
}

/// The new text and the backup, beside the file, which stays.
void PortWriter::stage(Change& change) {
  constexpr const char* kNothing = "nothing was changed, no file has another content or name than before";
  const std::string old_path = tree_.root + "/" + change.file.path;
  int reason = 0;
  change.staged = written_beside(old_path, change.text, mode_of(old_path), reason);
  if (reason != 0) fail_write(tree_.root + "/" + change.file.new_path, reason, kNothing);
  change.text = {};
  if (backup_.empty()) return;
  // A hard link keeps the old content until the new one is in its place.
  std::error_code error;
  fs::create_hard_link(old_path, old_path + backup_, error);
  if (error) fs::copy_file(old_path, old_path + backup_, error);
  if (error) fail_write(old_path + backup_, error.value(), kNothing);
  change.backed_up = true;
}

/// Takes away what stage() made and what is not in its place.
void PortWriter::unstage() {
  std::error_code error;
  for (Change& change : changes_) {
    if (!change.staged.empty()) fs::remove(change.staged, error);
    if (change.backed_up) fs::remove(tree_.root + "/" + change.file.path + backup_, error);
  }
}

void PortWriter::write_in_place() {
  check_names();
  try {
    for (Change& change : changes_) stage(change);
  } catch (...) {
    unstage();
    throw;
  }
  std::size_t done = 0;
  for (Change& change : changes_) {
    const std::string old_path = tree_.root + "/" + change.file.path;
    const std::string new_path = tree_.root + "/" + change.file.new_path;
    int error = rename(change.staged.c_str(), new_path.c_str()) != 0 ? errno : 0;
    if (error == 0) {
      change.staged.clear();
      change.backed_up = false;
      if (old_path != new_path && unlink(old_path.c_str()) != 0) error = errno;
    }
    if (error != 0) {
      unstage();
      fail_write(new_path, error,
                 done == 0 ? std::string("no file before it was changed")
                           : fmt::format("{} of {} files were changed before it, '{}' to '{}'", done, changes_.size(),
                                         changes_.front().file.path, changes_[done - 1].file.path));
    }
    ++done;
  }
}

}  // namespace muscope::cli
