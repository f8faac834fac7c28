// Everything that device code has without an include.
#ifndef MUSCOPE_DEVICE_BUILTINS_H
#define MUSCOPE_DEVICE_BUILTINS_H

#include "clang_headers.h"

#endif
