// Formats of texels: a component's type and their number here, bits of each in the runtime.
#pragma once

#include "driver/driver_abi.h"
#include "runtime/cuda_abi.h"

namespace muscope::driver {

/// False when the hardware's plain formats do not include it (components of 8, 16 or 32 bits, 1, 2 or 4 of them).
inline bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& out) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
  switch (static_cast<int>(format)) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      bits = 8;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      bits = 16;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      bits = 32;
      break;
    default:
      return false;
  }
  if (format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT32)
    kind = cudaChannelFormatKindSigned;
  if (format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT) kind = cudaChannelFormatKindFloat;
  if (channels != 1 && channels != 2 && channels != 4) return false;
  out = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
  return true;
}

/// The way back.
inline CUarray_format format_of(const cudaChannelFormatDesc& format) {
  const bool is_signed = format.f == cudaChannelFormatKindSigned, real = format.f == cudaChannelFormatKindFloat;
  if (format.x == 8) return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
  if (format.x == 16)
    return real ? CU_AD_FORMAT_HALF : is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
  return real ? CU_AD_FORMAT_FLOAT : is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
}

inline unsigned channels_in(const cudaChannelFormatDesc& format) {
  return format.z != 0 || format.w != 0 ? 4 : format.y != 0 ? 2 : 1;
}

}  // namespace muscope::driver
