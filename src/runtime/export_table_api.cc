// cudaGetExportTable: tables of functions without names, by number. They are not documented and none is here; NVIDIA's
// closed libraries work with them, and are told by name to be missing.
#include "runtime/entry.h"
#include "runtime/host_object.h"
#include "runtime/process.h"

using muscope::runtime::closed_library;
using muscope::runtime::object_of;

MUSCOPE_EXPORT cudaError_t muscope_cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table == nullptr) return muscope::runtime::detail::end_call(cudaErrorInvalidValue);
  *table = nullptr;
  try {
    const std::string file = object_of(__builtin_return_address(0));
    const std::string library = closed_library(file);
    if (library.empty()) return muscope::runtime::not_supported("cudaGetExportTable");
    if (!muscope::runtime::enter_process()) return muscope::runtime::detail::end_call(cudaErrorInitializationError);
    muscope::runtime::tell("D516",
                           library + " is missing from emulation: " + file.substr(file.rfind('/') + 1) +
                               " asks for functions that only NVIDIA's driver has, and its calls that need them fail",
                           "the rest of the program runs; see `muscope explain D516`");
  } catch (...) {
  }
  return muscope::runtime::detail::end_call(cudaErrorNotSupported);
}
