// NCCL, where the system has it: found and loaded when the program runs, nothing is linked to it. Its environment
// variables (NCCL_NVLS_ENABLE, NCCL_P2P_LEVEL, ...) act as they always do; none is set here.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

namespace lab {

/// The functions that are used, by their names. Numbers of types and operations are part of NCCL's interface.
struct Nccl {
  using Comm = void*;
  static constexpr int kFloat = 7, kSum = 0;
  int (*init_all)(Comm*, int, const int*) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*get_version)(int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*reduce)(const void*, void*, std::size_t, int, int, int, Comm, cudaStream_t) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Comm, cudaStream_t) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*send)(const void*, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Comm, cudaStream_t) = nullptr;

  std::string path;  ///< of the library that was loaded

  bool load() {
    void* library = nullptr;
    for (const std::string& place : places()) {
      library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) {
        path = place;
        break;
      }
    }
    if (library == nullptr) return false;
    const auto find = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(init_all, "ncclCommInitAll") && find(destroy, "ncclCommDestroy") &&
           find(get_version, "ncclGetVersion") && find(error_text, "ncclGetErrorString") &&
           find(group_start, "ncclGroupStart") && find(group_end, "ncclGroupEnd") &&
           find(all_reduce, "ncclAllReduce") && find(reduce, "ncclReduce") && find(broadcast, "ncclBroadcast") &&
           find(all_gather, "ncclAllGather") && find(reduce_scatter, "ncclReduceScatter") && find(send, "ncclSend") &&
           find(receive, "ncclRecv");
  }

 private:
  static std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  }

  /// Where the loader looks, where NCCL_HOME and CUDA_HOME say, and where pip puts it for the Pythons of PATH.
  static std::vector<std::string> places() {
    static const char* const kName = "libnccl.so.2";
    std::vector<std::string> all = {kName};
    const auto add = [&all](const std::string& pattern) {
      glob_t found{};
      if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
        all.insert(all.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
      globfree(&found);
    };
    const auto add_python = [&](const std::string& prefix) {
      for (const char* packages : {"site-packages", "dist-packages"})
        add(prefix + "/lib/python3*/" + packages + "/nvidia/nccl/lib/" + kName);
    };
    for (const char* name : {"NCCL_HOME", "CUDA_HOME"}) {
      const std::string home = variable(name);
      if (home.empty()) continue;
      for (const char* folder : {"/lib/", "/lib64/"}) add(home + folder + kName);
    }
    add(std::string("/usr/local/cuda/lib64/") + kName);
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (!variable(name).empty()) add_python(variable(name));
    if (!variable("HOME").empty()) add_python(variable("HOME") + "/.local");
    const std::string path = variable("PATH");
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      const std::string folder = path.substr(begin, end - begin);
      if (folder.size() > 4 && folder.compare(folder.size() - 4, 4, "/bin") == 0)
        add_python(folder.substr(0, folder.size() - 4));
      begin = end + 1;
    }
    return all;
  }
};

}  // namespace lab
