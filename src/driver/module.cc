#include "driver/module.h"

#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <iterator>

#include "base/diagnostic.h"
#include "driver/entry.h"
#include "driver/link_image.h"
#include "runtime/host_object.h"
#include "runtime/host_probe.h"

namespace muscope::driver {
namespace {

std::atomic<unsigned> g_next_module{1};

// PTX that ptxas refuses is not PTX, whatever of it we could execute.
void refuse_bad_ptx(const FatBinary& binary) {
  const std::string& problem = binary.machine.problem;
  constexpr std::string_view kName = "ptxas ";  // and its version, where there is one
  const bool answered = problem.starts_with(kName) && problem.size() > kName.size() && problem[kName.size()] >= '0' &&
                        problem[kName.size()] <= '9';
  if (binary.machine.code || binary.only_machine_code || !answered) return;
  for (const char* const ours :
       {"muscope does not know", "there is no nvlink", "Unsupported .version", "cannot be read"})
    if (problem.find(ours) != problem.npos) return;
  fail("D510", binary.program + ": " + problem, "correct the PTX");
}

FatBinary& load(Runtime& runtime, cubin::Fatbin image, const std::string& name, int device, Jit& jit) {
  const std::string options = jit.ptxas_options();
  for (cubin::FatbinEntry& entry : image.entries)
    if (entry.kind == cubin::EntryKind::kPtx && !options.empty()) entry.options += ' ' + options;
  separate_units(image);
  FatBinary& binary = runtime.modules().add_image(image, name);
  try {
    runtime.modules().load(runtime, binary, device);
    refuse_bad_ptx(binary);
  } catch (const Error& error) {
    jit.errors(error);
    runtime.modules().discard(binary);
    throw;
  }
  return binary;
}

std::string next_name(const std::string& source) { return fmt::format("module {} of {}", g_next_module++, source); }

// Text is PTX to a real driver, however far from it.
bool is_text(const void* image) {
  const auto byte = *static_cast<const unsigned char*>(image);
  return byte == '\n' || byte == '\t' || byte == '\r' || (byte >= 0x20 && byte < 0x7f);
}

void drop(Runtime& runtime, const std::shared_ptr<Module>& module) {
  if (module->borrowed) return;
  runtime.scheduler().wait_device(module->context->device());
  runtime.modules().discard(*module->binary);
}

}  // namespace

Images& Images::of_process() {
  static Images* const images = new Images;
  return *images;
}

CUmodule Images::module_of(FatBinary& binary, const ContextRef& context) {
  for (const auto& module : modules.all())
    if (module->binary == &binary && (!module->borrowed || module->context == context))
      return reinterpret_cast<CUmodule>(module.get());
  return reinterpret_cast<CUmodule>(modules.add(std::make_shared<Module>(Module{&binary, context, true})));
}

CUmodule Images::add(FatBinary& binary, const ContextRef& context) {
  {
    const std::lock_guard lock(mutex_);
    owners_[&binary] = context;
  }
  return reinterpret_cast<CUmodule>(modules.add(std::make_shared<Module>(Module{&binary, context, false})));
}

std::shared_ptr<Module> Images::drop(const void* handle) {
  std::shared_ptr<Module> module = modules.drop(handle);
  if (module && !module->borrowed) {
    const std::lock_guard lock(mutex_);
    owners_.erase(module->binary);
  }
  return module;
}

ContextRef Images::context_of(const FatBinary& binary) const {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(&binary);
  return found == owners_.end() ? nullptr : found->second;
}

CUlibrary Images::library_of(const FatBinary& binary) const {
  for (const auto& library : libraries.all())
    if (library->binary == &binary) return reinterpret_cast<CUlibrary>(library.get());
  return nullptr;
}

FatBinary& load_image(Runtime& runtime, const void* image, const void* caller, int device, Jit& jit) {
  cubin::Fatbin fatbin;
  try {
    fatbin = cubin::decode_registered(image, runtime::host_readable);
  } catch (const Error& error) {
    jit.errors(error);
    if (is_text(image))  // CUDA_ERROR_INVALID_IMAGE, as the driver says
      fail(error.diagnostics().front().code, "what the program loads as a module is not PTX: it has no .version", "");
    throw;
  }
  return load(runtime, std::move(fatbin), next_name(runtime::object_of(caller)), device, jit);
}

bool readable_image(const void* image) {
  constexpr std::size_t kMagic = 4;  // bytes that tell what it is
  return image != nullptr && runtime::host_readable(image, kMagic);
}

FatBinary* load_file(Runtime& runtime, const char* path, int device, Jit& jit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return nullptr;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return nullptr;
  const cubin::Bytes span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  cubin::Fatbin fatbin;
  try {
    fatbin = cubin::decode_bytes(span);
  } catch (const Error& error) {
    jit.errors(error);
    if (!bytes.empty() && is_text(bytes.data()))
      fail("D510", std::string(path) + " is not PTX: it has no .version", "");
    throw;
  }
  return &load(runtime, std::move(fatbin), path, device, jit);
}

void unload(Runtime& runtime, std::uint64_t handle) {
  if (const auto module = Images::of_process().drop(pointer_of(handle))) drop(runtime, module);
}

void unload_all(Runtime& runtime, const ContextRef& context) {
  for (const auto& module : Images::of_process().modules.all())
    if (module->context == context) {
      Images::of_process().drop(module.get());
      drop(runtime, module);
    }
}

CUresult find_function(Runtime& runtime, const void* function, KernelEntry*& kernel, int device) {
  kernel = function == nullptr ? nullptr : runtime.modules().find_kernel(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const ContextRef owner = Images::of_process().context_of(*kernel->binary);
  if (!owner) return CUDA_SUCCESS;
  const bool fits = device < 0 || device == runtime.current_device().index()
                        ? owner == ThreadContexts::of_thread(runtime).current()
                        : owner->device() == device;
  if (!fits) return CUDA_ERROR_INVALID_HANDLE;
  return CUDA_SUCCESS;
}

CUresult find_variable(Runtime& runtime, FatBinary& binary, int device, const char* name, CUdeviceptr* pointer,
                       std::size_t* bytes) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* const symbol = runtime.modules().load(runtime, binary, device).symbol(name);
  if (symbol == nullptr || symbol->address == 0) return CUDA_ERROR_NOT_FOUND;
  if (pointer != nullptr) *pointer = symbol->address;
  if (bytes != nullptr) *bytes = symbol->size;
  return CUDA_SUCCESS;
}

}  // namespace muscope::driver
