// The types and functions of the driver API, from our own toolkit headers: programs compiled with them and this library
// cannot disagree. abi_test.cc holds layouts against numbers taken from CUDA's headers.
#pragma once

// IWYU pragma: begin_exports
#include "../../toolkit/muscope/driver/api.h"
// IWYU pragma: end_exports
