// Registration: what compilers make programs call before main().
#include "runtime/entry.h"
#include "runtime/host_object.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

FatBinary* binary_of(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

void** add(const void* wrapper, int toolkit) {
  try {
    return reinterpret_cast<void**>(Modules::of_process().add_binary(wrapper, toolkit));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

MUSCOPE_EXPORT void** muscope___cudaRegisterFatBinary(void* wrapper) { return add(wrapper, 13); }

MUSCOPE_EXPORT void** muscope___cudaRegisterFatBinary_12(void* wrapper) { return add(wrapper, 12); }

MUSCOPE_EXPORT void** muscope___cudaRegisterFatBinary_11(void* wrapper) { return add(wrapper, 11); }

MUSCOPE_EXPORT void muscope___cudaRegisterFatBinaryEnd(void** handle) {
  if (handle == nullptr) return;
  // clang's managed variables are used by host code without any further call; their first values must be there now.
  for (const auto& variable : binary_of(handle)->variables) {
    if (!variable->managed_in_place) continue;
    enter([&](Runtime& runtime) {
      runtime.modules().init_managed(runtime, *binary_of(handle));
      return cudaSuccess;
    });
    return;
  }
}

// Libraries unregister in destructors while others may still call: what is registered stays.
MUSCOPE_EXPORT void muscope___cudaUnregisterFatBinary(void**) {}

MUSCOPE_EXPORT void muscope___cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*,
                                                   void*, void*, void*, int*) {
  if (handle == nullptr || name == nullptr) return;
  try {
    Modules::of_process().add_kernel(*binary_of(handle), host, name);
  } catch (...) {
  }
}

MUSCOPE_EXPORT void muscope___cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t size,
                                              int constant, int) {
  if (handle == nullptr || name == nullptr) return;
  try {
    VariableEntry& variable = Modules::of_process().add_variable(*binary_of(handle), host, name, size, constant != 0);
    variable.managed_in_place = constant == 0 && in_managed_section(host, size);
  } catch (...) {
  }
}

MUSCOPE_EXPORT void muscope___cudaRegisterHostVar(void** handle, const char* name, char* host, std::size_t size) {
  if (handle == nullptr || name == nullptr) return;
  try {
    Modules::of_process().add_variable(*binary_of(handle), host, name, size, false);
  } catch (...) {
  }
}

MUSCOPE_EXPORT void muscope___cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int,
                                                     std::size_t size, int, int) {
  if (handle == nullptr || name == nullptr) return;
  try {
    Modules::of_process().add_variable(*binary_of(handle), pointer, name, size, false).managed_pointer = pointer;
  } catch (...) {
  }
}

MUSCOPE_EXPORT char muscope___cudaInitModule(void** handle) {
  const cudaError_t error = enter([&](Runtime& runtime) {
    runtime.modules().init_managed(runtime, *binary_of(handle));
    return cudaSuccess;
  });
  return error == cudaSuccess ? 1 : 0;
}
