#include "cli/run_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"

namespace muscope::cli {
namespace {

[[noreturn]] void fail_writing(const std::string& path, int error) {
  fail("D731",
       fmt::format("writing the report to {} failed: {}", path == "-" ? "stdout" : '\'' + path + '\'',
                   std::strerror(error)),
       error == ENOSPC ? "free space there, or name another file" : "name another file");
}

/// Files by device and inode, whatever they are called.
using FileId = std::pair<dev_t, ino_t>;
std::map<FileId, std::string>& outputs() {
  static std::map<FileId, std::string> files;
  return files;
}
std::map<FileId, std::string>& inputs() {
  static std::map<FileId, std::string> files;
  return files;
}

[[noreturn]] void fail_input(const std::string& output, const std::string& input) {
  fail("D730", fmt::format("'{}' is read from '{}', a report does not overwrite it", output, input),
       "name another file for what is written");
}

[[noreturn]] void fail_shared(const std::string& one, const std::string& other) {
  fail("D730", fmt::format("'{}' and '{}' are one file, and two reports go there", one, other),
       "name a file of its own for each");
}

/// 0 or an errno value.
int write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    data.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// What a report must not replace, in words: "--json app.cu" is a forgotten file name. Empty: it may be replaced.
std::string_view precious_content(const std::string& path) {
  constexpr std::string_view kSources[] = {".cu", ".cuh", ".mu", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx"};
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return {};
  const std::string extension = std::filesystem::path(path).extension().string();
  if (std::find(std::begin(kSources), std::end(kSources), extension) != std::end(kSources)) return "source code";
  // Not by its mode: on file systems of Windows every file may be executed.
  std::string begin(4, '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == "\x7f"
                  "ELF" ||
                 begin.starts_with("#!")
             ? "a program"
             : std::string_view();
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path.empty() || is_stdout()) return;
  if (const std::string_view what = precious_content(path); !what.empty()) {
    path_.clear();
    fail("D730", fmt::format("'{}' is {}, a report does not overwrite it", path, what),
         "--json and --csv are followed by the report's file: --json report.json, or - for stdout");
  }
  fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0 && errno == ENOENT) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    created_ = fd_ >= 0;
  }
  if (fd_ < 0) {
    const int error = errno;
    path_.clear();
    fail("D730", fmt::format("cannot write the report to '{}': {}", path, std::strerror(error)),
         "the program was not run; name a file that can be written");
  }
  claim();
}

// One file for two reports would hold the last one only.
void OutputFile::claim() {
  struct stat status{};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const FileId id{status.st_dev, status.st_ino};
  if (const auto input = inputs().find(id); input != inputs().end()) {
    struct stat now{};  // an input that is gone has left its number to this file
    if (::stat(input->second.c_str(), &now) == 0 && FileId(now.st_dev, now.st_ino) == id) {
      const std::string path = path_;
      close();
      fail_input(path, input->second);
    }
    inputs().erase(input);
  }
  if (const auto [known, fresh] = outputs().try_emplace(id, path_); !fresh) {
    const std::string path = path_;
    ::close(std::exchange(fd_, -1));  // the other one removes the file where it was made here
    path_.clear();
    fail_shared(known->second, path);
  }
}

void OutputFile::release() {
  struct stat status{};
  if (::fstat(fd_, &status) == 0) outputs().erase({status.st_dev, status.st_ino});
}

void keep_input(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const FileId id{status.st_dev, status.st_ino};
  if (const auto output = outputs().find(id); output != outputs().end()) fail_input(output->second, path);
  inputs().insert_or_assign(id, path);  // a number may have been that of a file that is gone
}

void check_output(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const FileId id{status.st_dev, status.st_ino};
  if (const auto input = inputs().find(id); input != inputs().end()) fail_input(path, input->second);
  if (const auto output = outputs().find(id); output != outputs().end()) fail_shared(output->second, path);
}

OutputFile::~OutputFile() { close(); }

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::exchange(other.path_, {});
  fd_ = std::exchange(other.fd_, -1);
  created_ = std::exchange(other.created_, false);
  written_ = std::exchange(other.written_, false);
  return *this;
}

void OutputFile::close() {
  if (fd_ < 0) return;
  release();
  ::close(fd_);
  fd_ = -1;
  if (created_ && !written_) ::unlink(path_.c_str());
}

void OutputFile::write(const std::string& content) {
  write_parts([&](const Sink& sink) { sink(content); });
}

void OutputFile::write_parts(const std::function<void(const Sink&)>& produce) {
  written_ = true;
  if (is_stdout()) return produce(write_stdout);
  struct stat status{};
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && ::ftruncate(fd_, 0) != 0) fail_writing(path_, errno);
  produce([&](std::string_view part) {
    if (const int error = write_all(fd_, part); error != 0) fail_writing(path_, error);
  });
  release();
  // Some file systems tell of a full disk only when the file is closed.
  if (::close(std::exchange(fd_, -1)) != 0) fail_writing(path_, errno);
}

void write_stdout(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_writing("-", errno != 0 ? errno : EIO);
  }
}

}  // namespace muscope::cli
