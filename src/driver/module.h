// Modules and libraries: device code that the program loads itself, as handles of the driver API.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "cubin/fatbin.h"
#include "driver/context.h"
#include "driver/jit.h"
#include "runtime/modules.h"

namespace muscope::driver {

using runtime::FatBinary;
using runtime::KernelEntry;

struct Module {
  FatBinary* binary = nullptr;
  ContextRef context;     ///< that it was loaded in: its device has it
  bool borrowed = false;  ///< of a library or of the program itself: cuModuleUnload does not drop it
};

struct Library {
  FatBinary* binary = nullptr;
};

/// Handles of the process. Thread-safe.
class Images {
 public:
  static Images& of_process();
  runtime::Handles<Module> modules;
  runtime::Handles<Library> libraries;

  /// A module of the context that it is loaded in.
  CUmodule add(FatBinary& binary, const ContextRef& context);
  /// Null when there is no such module.
  std::shared_ptr<Module> drop(const void* handle);

  /// The module that has the binary in this context; made when there is none.
  CUmodule module_of(FatBinary& binary, const ContextRef& context);
  /// The context that functions of the binary belong to; null: any (libraries, registered code).
  ContextRef context_of(const FatBinary& binary) const;
  /// The library of the binary; null when it is none's.
  CUlibrary library_of(const FatBinary& binary) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const FatBinary*, ContextRef> owners_;  ///< asked at every launch
};

/// Copies and decodes what the program gives at `image`: PTX text, a cubin, a fat binary, its wrapper, or what
/// cuLinkComplete made. `caller`: return address in the program. Throws Error (D2xx, D3xx, D503, D509) when it cannot
/// be loaded on the device; the log has it then.
FatBinary& load_image(Runtime& runtime, const void* image, const void* caller, int device, Jit& jit);
/// False for null and for where no memory is.
bool readable_image(const void* image);
/// As load_image(), from a file. Null when it cannot be read.
FatBinary* load_file(Runtime& runtime, const char* path, int device, Jit& jit);

/// Drops a module by its handle (also one that holds a context's code when that is destroyed).
void unload(Runtime& runtime, std::uint64_t module);
/// All modules of a context.
void unload_all(Runtime& runtime, const ContextRef& context);

/// The kernel behind a CUfunction or CUkernel. CUDA_ERROR_INVALID_HANDLE when there is none, or when it belongs to a
/// module of another context than the current one, or than that of `device`, where a stream names another one.
CUresult find_function(Runtime& runtime, const void* function, KernelEntry*& kernel, int device = -1);

/// Bytes and place of a variable. CUDA_ERROR_NOT_FOUND.
CUresult find_variable(Runtime& runtime, FatBinary& binary, int device, const char* name, CUdeviceptr* pointer,
                       std::size_t* bytes);

}  // namespace muscope::driver
