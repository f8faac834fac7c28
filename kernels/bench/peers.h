// Peers that come as shared libraries, loaded when there: cuBLAS and cuDNN. No linking, so the programs start without.
#pragma once

#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <vector>

namespace bench {

/// A library by name, from the loader's path, from $MUSCOPE_PEERS (folders separated by ':') or the toolkit's folder.
inline void* load_library(const std::string& name) {
  std::vector<std::string> places = {name, "/usr/local/cuda/lib64/" + name};
  if (const char* folders = std::getenv("MUSCOPE_PEERS")) {
    std::string rest = folders;
    while (!rest.empty()) {
      const std::size_t end = rest.find(':');
      places.push_back(rest.substr(0, end) + "/" + name);
      rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
  }
  for (const std::string& place : places) {
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  std::fprintf(stderr, "%s is not there: %s\n", name.c_str(), dlerror());
  return nullptr;
}

/// cublasSgeam as a transpose. `ready` is false where cuBLAS is not installed.
class Geam {
 public:
  Geam() {
    void* library = load_library("libcublas.so.13");
    if (library == nullptr) return;
    const auto create = reinterpret_cast<decltype(&cublasCreate_v2)>(dlsym(library, "cublasCreate_v2"));
    geam_ = reinterpret_cast<decltype(&cublasSgeam)>(dlsym(library, "cublasSgeam"));
    const auto version = reinterpret_cast<decltype(&cublasGetVersion_v2)>(dlsym(library, "cublasGetVersion_v2"));
    ready = create != nullptr && geam_ != nullptr && create(&handle_) == CUBLAS_STATUS_SUCCESS;
    int number = 0;
    if (ready && version != nullptr) version(handle_, &number);
    std::fprintf(stderr, "cuBLAS %d\n", number);
  }
  /// out (cols x rows, row-major) = transpose of in (rows x cols, row-major), both without gaps.
  cudaError_t operator()(float* out, const float* in, std::size_t rows, std::size_t cols) const {
    const float one = 1.0f, zero = 0.0f;
    const int m = static_cast<int>(rows), n = static_cast<int>(cols);
    return geam_(handle_, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, in, n, &zero, out, m, out, m) == CUBLAS_STATUS_SUCCESS
               ? cudaSuccess
               : cudaErrorUnknown;
  }
  bool ready = false;

 private:
  cublasHandle_t handle_ = nullptr;
  decltype(&cublasSgeam) geam_ = nullptr;
};

}  // namespace bench
