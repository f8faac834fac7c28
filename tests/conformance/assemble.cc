// ptxas as an ordinary program.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "run.h"

namespace muscope::conformance {
namespace {

/// What a command prints; empty when it fails.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string text;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe)) text += buffer;
  const int status = pclose(pipe);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string find_ptxas() {
  for (const char* candidate : {"ptxas", "/usr/local/cuda/bin/ptxas"})
    if (output_of(std::string(candidate) + " --version 2>/dev/null").find("release 13.") != std::string::npos)
      return candidate;
  return {};
}

std::string assemble(const std::string& text, std::string& problem) {
  static const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return {};
  std::string folder = (std::filesystem::temp_directory_path() / "conformance.XXXXXX").string();
  if (!mkdtemp(folder.data())) {
    problem = "cannot make a folder";
    return {};
  }
  std::ofstream(folder + "/m.ptx") << text;
  std::string cubin;
  const std::string command =
      ptxas + " -arch=sm_90 -o " + folder + "/m.cubin " + folder + "/m.ptx > " + folder + "/log 2>&1";
  if (std::system(command.c_str()) == 0) cubin = contents(folder + "/m.cubin");
  if (cubin.empty()) problem = "ptxas: " + contents(folder + "/log");
  std::filesystem::remove_all(folder);
  return cubin;
}

}  // namespace muscope::conformance
