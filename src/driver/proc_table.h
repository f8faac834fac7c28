// The driver's functions by name and version, for cuGetProcAddress.
#pragma once

namespace muscope::driver {

/// The newest version of `symbol` ("cuMemAlloc") that CUDA `version` (12040) has; null when there is none. `newer`:
/// there is one in a later CUDA.
void* function_of(const char* symbol, int version, bool& newer);

}  // namespace muscope::driver
