// Device code that the program registered: fat binaries, kernels, variables. Decoded, parsed and lowered when first
// needed, once per device.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "code/kernel.h"
#include "code/loaded_module.h"
#include "cubin/cubin.h"
#include "cubin/fatbin.h"
#include "runtime/cuda_abi.h"
#include "runtime/machine_choice.h"
#include "views/records.h"

namespace muscope::runtime {

class Runtime;
struct FatBinary;

/// One kernel, by the address of its host stub.
struct KernelEntry {
  FatBinary* binary = nullptr;
  std::string mangled;
  const void* host = nullptr;
  std::uint32_t id = 0;  ///< views::KernelInfo::id

  // What the program asked for with cudaFuncSetAttribute and cudaFuncSetCacheConfig; -1 where it did not.
  std::atomic<int> max_dynamic_shared{-1};
  std::atomic<int> carveout{-1};            ///< percent
  std::atomic<bool> large_clusters{false};  ///< cudaFuncAttributeNonPortableClusterSizeAllowed
  std::atomic<int> cache_preference{-1};    ///< of cudaFuncSetCacheConfig, as model::LaunchShape has it

  /// As model::LaunchShape::carveout_preference.
  int carveout_preference() const { return carveout.load() >= 0 ? carveout.load() : cache_preference.load(); }

  std::mutex mutex;
  std::vector<std::shared_ptr<const code::Kernel>> loaded;  ///< by device
  std::shared_ptr<views::KernelInfo> info;                  ///< as the spool has it; set with the first of them
};

/// One device variable, by the address of its host shadow.
struct VariableEntry {
  FatBinary* binary = nullptr;
  std::string name;
  std::size_t size = 0;
  const void* host = nullptr;
  bool constant = false;
  void** managed_pointer = nullptr;  ///< nvcc's __managed__: where the program wants its address
  bool managed_in_place = false;     ///< clang's: the host shadow is the variable
  bool managed_placed = false;       ///< by the module of a device
};

/// One registered fat binary.
struct FatBinary {
  const void* wrapper = nullptr;
  int toolkit = 13;  ///< major version of the runtime that it was built for
  std::string program;
  std::vector<std::unique_ptr<KernelEntry>> kernels;
  std::vector<std::unique_ptr<VariableEntry>> variables;

  std::mutex mutex;
  bool decoded = false;
  std::deque<std::string> bytes;  ///< what the fatbin's entries point into, when it is a copy (add_image)
  cubin::Fatbin fatbin;
  std::string ptx_name;
  int ptx_sm = 0;
  std::shared_ptr<const ptx::Module> module;
  std::unique_ptr<cubin::CubinInfo> cubin;  ///< made for exactly this GPU; may be null
  std::string cubin_name;
  MachineChoice machine;
  bool only_machine_code = false;  ///< `module` says what there is, its kernels have no bodies (machine_only.h)
  std::vector<std::unique_ptr<code::LoadedModule>> loaded;  ///< by device
};

/// Thread-safe. Entries live as long as the process: handles and host addresses stay valid after unregistration, since
/// libraries unregister in destructors while others still call.
class Modules {
 public:
  /// Of this process. Does not start the runtime: programs register before main(), also such that never use CUDA.
  static Modules& of_process();

  FatBinary* add_binary(const void* wrapper, int toolkit);
  void add_kernel(FatBinary& binary, const void* host, std::string_view mangled);
  /// Device code that the program loads itself (cuModuleLoadData), copied: not registered, no host stubs. `name` is how
  /// messages call it.
  FatBinary& add_image(const cubin::Fatbin& image, const std::string& name);
  /// The kernel of that name of a loaded binary, which gets a handle if it has none; null when there is none.
  KernelEntry* kernel_named(Runtime& runtime, FatBinary& binary, std::string_view name, int device);
  /// Forgets an image: its kernels' handles, its variables' memory. No launch of it may be under way.
  void discard(FatBinary& binary);
  VariableEntry& add_variable(FatBinary& binary, const void* host, std::string_view name, std::size_t size,
                              bool constant);

  /// Null when no kernel has that host stub, or that handle (any more).
  KernelEntry* find_kernel(const void* host);
  VariableEntry* find_variable(const void* host);

  /// The binary's module on a device. Throws Error: D503 when it has no PTX, D2xx, D3xx.
  code::LoadedModule& load(Runtime& runtime, FatBinary& binary, int device);
  /// The kernel on a device, ready to run. Throws Error as load() does; null when the module has no such kernel.
  std::shared_ptr<const code::Kernel> load(Runtime& runtime, KernelEntry& kernel, int device);
  /// What the machine code for exactly this GPU says of the kernel; null when the program carries none.
  static const cubin::CubinKernel* machine_code(const KernelEntry& kernel);
  /// The variable's place on a device; address 0 when the module has none of that name.
  code::LoadedModule::Symbol load(Runtime& runtime, VariableEntry& variable, int device);

  /// Drops what load() made for a device; variables have their initial values again when next loaded.
  void unload(int device);

  /// Gives every managed variable its address. Called by __cudaInitModule and before the first launch.
  void init_managed(Runtime& runtime, FatBinary& binary);

 private:
  void decode(Runtime& runtime, FatBinary& binary);
  std::mutex mutex_;
  std::vector<std::unique_ptr<FatBinary>> binaries_;
  std::unordered_map<const void*, KernelEntry*> kernels_;
  std::unordered_map<const void*, VariableEntry*> variables_;
  std::atomic<std::uint32_t> next_kernel_{1};
};

}  // namespace muscope::runtime
