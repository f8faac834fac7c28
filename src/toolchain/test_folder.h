// A folder of its own for one test, removed afterwards. Only for tests.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace muscope::toolchain {

class TestFolder {
 public:
  TestFolder() : path_((std::filesystem::temp_directory_path() / "muscope-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

  /// Writes a file, with the folders above it, and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  /// Writes a shell script that can be executed.
  std::string write_script(const std::string& name, const std::string& body) const {
    std::string file = write(name, "#!/bin/sh\n" + body);
    ::chmod(file.c_str(), 0755);
    return file;
  }

  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

 private:
  std::string path_;
};

/// Sets an environment variable for one scope; nullptr unsets it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { set(had_ ? before_.c_str() : nullptr); }

 private:
  void set(const char* value) const { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

  const char* name_;
  bool had_ = false;
  std::string before_;
};

}  // namespace muscope::toolchain
