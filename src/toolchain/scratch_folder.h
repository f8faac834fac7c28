// A folder for the files of one call of a tool that reads and writes files only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace muscope::toolchain {

/// Made with a name that nobody has, for this user only; removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    path_ = std::filesystem::temp_directory_path(error).string() + "/muscope-ptxas-XXXXXX";
    good_ = ::mkdtemp(path_.data()) != nullptr;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    if (good_) std::filesystem::remove_all(path_, error);
  }
  bool good() const { return good_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  bool good_ = false;
};

}  // namespace muscope::toolchain
