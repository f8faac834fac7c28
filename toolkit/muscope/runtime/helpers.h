// make_cudaExtent and its kin, and channel descriptors by type.
#ifndef MUSCOPE_RUNTIME_HELPERS_H
#define MUSCOPE_RUNTIME_HELPERS_H

#include <stddef.h>

#include "../../cuda_runtime_api.h"

static inline struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  struct cudaExtent extent;
  extent.width = width;
  extent.height = height;
  extent.depth = depth;
  return extent;
}

static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos pos;
  pos.x = x;
  pos.y = y;
  pos.z = z;
  return pos;
}

static inline struct cudaPitchedPtr make_cudaPitchedPtr(void* ptr, size_t pitch, size_t width, size_t height) {
  struct cudaPitchedPtr pitched;
  pitched.ptr = ptr;
  pitched.pitch = pitch;
  pitched.xsize = width;
  pitched.ysize = height;
  return pitched;
}

#if defined(__cplusplus)
namespace muscope_toolkit {
/// How one component of a texel of type T is stored: its kind; bits follow from sizeof.
template <class T>
struct Channel;
#define MUSCOPE_CHANNEL(type, kind)                          \
  template <>                                                \
  struct Channel<type> {                                     \
    static constexpr cudaChannelFormatKind kKind = kind;     \
    static constexpr int kBits = int(sizeof(type) * 8);      \
    static constexpr int kCount = 1;                         \
  }
#define MUSCOPE_CHANNELS(name, type, kind)                   \
  MUSCOPE_CHANNEL_OF(name##1, type, kind, 1);                \
  MUSCOPE_CHANNEL_OF(name##2, type, kind, 2);                \
  MUSCOPE_CHANNEL_OF(name##3, type, kind, 3);                \
  MUSCOPE_CHANNEL_OF(name##4, type, kind, 4)
#define MUSCOPE_CHANNEL_OF(vector, type, kind, n)            \
  template <>                                                \
  struct Channel<vector> {                                   \
    static constexpr cudaChannelFormatKind kKind = kind;     \
    static constexpr int kBits = int(sizeof(type) * 8);      \
    static constexpr int kCount = n;                         \
  }
MUSCOPE_CHANNEL(char, cudaChannelFormatKindSigned);
MUSCOPE_CHANNEL(signed char, cudaChannelFormatKindSigned);
MUSCOPE_CHANNEL(unsigned char, cudaChannelFormatKindUnsigned);
MUSCOPE_CHANNEL(short, cudaChannelFormatKindSigned);
MUSCOPE_CHANNEL(unsigned short, cudaChannelFormatKindUnsigned);
MUSCOPE_CHANNEL(int, cudaChannelFormatKindSigned);
MUSCOPE_CHANNEL(unsigned int, cudaChannelFormatKindUnsigned);
MUSCOPE_CHANNEL(float, cudaChannelFormatKindFloat);
MUSCOPE_CHANNELS(char, signed char, cudaChannelFormatKindSigned);
MUSCOPE_CHANNELS(uchar, unsigned char, cudaChannelFormatKindUnsigned);
MUSCOPE_CHANNELS(short, short, cudaChannelFormatKindSigned);
MUSCOPE_CHANNELS(ushort, unsigned short, cudaChannelFormatKindUnsigned);
MUSCOPE_CHANNELS(int, int, cudaChannelFormatKindSigned);
MUSCOPE_CHANNELS(uint, unsigned int, cudaChannelFormatKindUnsigned);
MUSCOPE_CHANNELS(float, float, cudaChannelFormatKindFloat);
#undef MUSCOPE_CHANNEL
#undef MUSCOPE_CHANNELS
#undef MUSCOPE_CHANNEL_OF
}  // namespace muscope_toolkit

/// Descriptor of a texel of type T; for types that no texture can hold (double, 64-bit integers) there is none.
template <class T>
static inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  using C = muscope_toolkit::Channel<T>;
  return cudaCreateChannelDesc(C::kBits, C::kCount > 1 ? C::kBits : 0, C::kCount > 2 ? C::kBits : 0,
                               C::kCount > 3 ? C::kBits : 0, C::kKind);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}
#endif

#endif
