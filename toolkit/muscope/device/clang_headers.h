// Clang's own device headers: built-in variables, mathematics, integer and warp intrinsics, complex arithmetic.
#ifndef MUSCOPE_DEVICE_CLANG_HEADERS_H
#define MUSCOPE_DEVICE_CLANG_HEADERS_H

// Without debug information: an instruction that comes from one of these wrappers belongs to the user's line.
#pragma clang attribute push(__attribute__((nodebug)), apply_to = function)
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#pragma clang attribute pop

#endif
