// Addresses of host code as module and offset, which mean something outside this process.
#pragma once

#include "views/records_io.h"

namespace muscope::runtime {

/// Where the call returned that `return_address` belongs to; empty when it is null or in no loaded object. Reads no
/// debug information: `muscope run` finds file and line.
views::CodeAddress code_address(const void* return_address);

}  // namespace muscope::runtime
