// The MUSA runtime: CUDA's, with musa for cuda in every name.
#ifndef MUSCOPE_MUSA_RUNTIME_H
#define MUSCOPE_MUSA_RUNTIME_H

#include "cuda_runtime.h"

#include "muscope/musa/error_values.h"
#include "muscope/musa/functions.h"
#include "muscope/musa/types.h"
#include "muscope/musa/values.h"

#define MUSART_VERSION 40300
#if defined(__CUDACC__) && !defined(__MUSACC__)
#define __MUSACC__ 1
#endif
#if defined(__CUDACC__) && !defined(__MUSA__)
#define __MUSA__ 1
#endif
#if defined(__cplusplus) && !defined(MUSCOPE_MUSA_SPOKEN)
// Tells the runtime that this program speaks MUSA: names of errors, messages.
#define MUSCOPE_MUSA_SPOKEN 1
extern "C" __attribute__((weak)) void __cudaSpeakMusa(void);
namespace {
#if !defined(__CUDA_ARCH__)
__attribute__((constructor, used)) void muscope_speak_musa() {
  if (__cudaSpeakMusa) __cudaSpeakMusa();
}
#endif
}  // namespace
#endif
// Constants: MUSART_PI and so on stand in math_constants.h under CUDA's names.

#endif
