#include "runtime/host_object.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "cubin/elf_view.h"

namespace muscope::runtime {
namespace {

// A name can be relative to a folder that the program has left; the link in /proc always leads to the executable.
std::string path_of(const Dl_info& info) {
  const bool main_program = info.dli_fname == nullptr || info.dli_fname[0] == '\0' || access(info.dli_fname, R_OK) != 0;
  return main_program ? "/proc/self/exe" : info.dli_fname;
}

// Addresses [first, second) of the managed section, before the object's base is added.
std::optional<std::pair<std::uint64_t, std::uint64_t>> managed_section(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range;
  struct stat status{};
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      std::string why;
      if (const auto elf = cubin::ElfView::parse({static_cast<const std::uint8_t*>(mapped), bytes}, why)) {
        if (const auto* section = elf->find("__nv_managed_data__"))
          range.emplace(section->address, section->address + section->size);
      }
      munmap(mapped, bytes);
    }
  }
  close(file);
  return range;
}

}  // namespace

std::string object_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr || info.dli_fname[0] == '\0') return "the program";
  return info.dli_fname;
}

std::string closed_library(const std::string& file) {
  // File names as in CUDA 13.0's folder lib64; the first row that a name begins with holds.
  constexpr std::pair<std::string_view, std::string_view> kLibraries[] = {
      {"libcublas", "cuBLAS"},     {"libnvblas", "cuBLAS"},   {"libcufft", "cuFFT"},     {"libcusparse", "cuSPARSE"},
      {"libcusolver", "cuSOLVER"}, {"libcurand", "cuRAND"},   {"libcudnn", "cuDNN"},     {"libcutensor", "cuTENSOR"},
      {"libcudss", "cuDSS"},       {"libnvjpeg", "nvJPEG"},   {"libnvgraph", "nvGRAPH"}, {"libnccl", "NCCL"},
      {"libnpp", "NPP"},           {"libnvinfer", "TensorRT"}};
  const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
  for (const auto& [begin, product] : kLibraries) {
    if (name.starts_with(begin)) return std::string(product);
  }
  return {};
}

std::string LibraryCall::place() const { return function.empty() ? file : function + " in " + file; }

LibraryCall library_call() {
  constexpr int kDeepest = 128;
  void* frames[kDeepest];
  const int count = backtrace(frames, kDeepest);
  LibraryCall call;
  for (int n = 0; n < count; ++n) {
    Dl_info info{};
    // The call stands before the place that it returns to, which may be another function's.
    const void* const at = static_cast<const std::uint8_t*>(frames[n]) - 1;
    const std::string file = dladdr(at, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
    const std::string product = closed_library(file);
    if (product.empty()) {
      if (!call.product.empty()) break;  // whoever called the library
      continue;
    }
    call.product = product;
    call.file = file.substr(file.rfind('/') + 1);
    call.function = info.dli_sname != nullptr ? info.dli_sname : "";
  }
  return call;
}

bool in_managed_section(const void* address, std::size_t bytes) {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return false;
  const auto* const map = static_cast<const link_map*>(extra);
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new std::map<std::string, std::optional<std::pair<std::uint64_t, std::uint64_t>>>;
  const std::lock_guard lock(*mutex);
  const std::string path = path_of(info);
  auto found = known->find(path);
  if (found == known->end()) found = known->emplace(path, managed_section(path)).first;
  if (!found->second) return false;
  const std::uint64_t at = reinterpret_cast<std::uint64_t>(address) - map->l_addr;
  return at >= found->second->first && at + bytes <= found->second->second;
}

}  // namespace muscope::runtime
