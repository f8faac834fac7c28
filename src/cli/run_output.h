// The files that a report goes to: found writable before the program runs, written after it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace muscope::cli {

/// One file, opened early. "-" is stdout.
class OutputFile {
 public:
  OutputFile() = default;
  /// Opens `path` for writing without touching what is in it, and makes it when there is none. An empty path is no
  /// file. Throws Error D730, also when `path` holds source code or a program.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  ///< a file that was made here and never written is removed
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  explicit operator bool() const { return !path_.empty(); }
  bool is_stdout() const { return path_ == "-"; }
  const std::string& path() const { return path_; }

  /// Replaces the content. Throws Error D731 with the reason (disk full, broken pipe).
  void write(const std::string& content);
  /// The same for content that comes in parts: `produce` hands each to what it gets.
  using Sink = std::function<void(std::string_view)>;
  void write_parts(const std::function<void(const Sink&)>& produce);

 private:
  void close();
  void claim();
  void release();
  std::string path_;
  int fd_ = -1;
  bool created_ = false;
  bool written_ = false;
};

/// Says that the file is read: no output may replace it, now or later, under any name or link. Throws Error D730 when
/// one is to. A path that leads nowhere, or to a pipe, is no file.
void keep_input(const std::string& path);

/// Says that the file will be replaced by other means than OutputFile. Throws Error D730 when it is read, or when a
/// report goes there.
void check_output(const std::string& path);

/// Writes all of `text` to stdout, through stdio's buffer. Throws Error D731.
void write_stdout(std::string_view text);

}  // namespace muscope::cli
