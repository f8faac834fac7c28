// cudaGetExportTable: tables of functions without names, by number. They are not documented and none is here; NVIDIA's
// closed libraries work with them, and are told by name to be missing.
#include "runtime/entry.h"
#include "runtime/process.h"

MUSCOPE_EXPORT cudaError_t muscope_cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table == nullptr) return muscope::runtime::detail::end_call(cudaErrorInvalidValue);
  *table = nullptr;
  return muscope::runtime::not_supported("cudaGetExportTable");
}
