// What functions (CUfunction) and kernels of libraries (CUkernel) have in common: both are the runtime's kernel
// handles.
#pragma once

#include "driver/entry.h"

namespace muscope::driver {

/// `device` is checked where it is not negative; all devices are alike.
CUresult get_attribute(int* value, CUfunction_attribute attribute, const void* function, int device);
CUresult set_attribute(const void* function, CUfunction_attribute attribute, int value, int device);
CUresult set_cache_config(const void* function, CUfunc_cache config);
CUresult function_name(const char** name, const void* function, Needs needs);
CUresult parameter_info(const void* function, std::size_t index, std::size_t* offset, std::size_t* size, Needs needs);

}  // namespace muscope::driver
