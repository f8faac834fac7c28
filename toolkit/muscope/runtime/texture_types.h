// Textures and surfaces: what an object reads from and how.
#ifndef MUSCOPE_RUNTIME_TEXTURE_TYPES_H
#define MUSCOPE_RUNTIME_TEXTURE_TYPES_H

#include "memory_types.h"

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D,
};

enum cudaResourceViewFormat {
  cudaResViewFormatNone,
  cudaResViewFormatUnsignedChar1,
  cudaResViewFormatUnsignedChar2,
  cudaResViewFormatUnsignedChar4,
  cudaResViewFormatSignedChar1,
  cudaResViewFormatSignedChar2,
  cudaResViewFormatSignedChar4,
  cudaResViewFormatUnsignedShort1,
  cudaResViewFormatUnsignedShort2,
  cudaResViewFormatUnsignedShort4,
  cudaResViewFormatSignedShort1,
  cudaResViewFormatSignedShort2,
  cudaResViewFormatSignedShort4,
  cudaResViewFormatUnsignedInt1,
  cudaResViewFormatUnsignedInt2,
  cudaResViewFormatUnsignedInt4,
  cudaResViewFormatSignedInt1,
  cudaResViewFormatSignedInt2,
  cudaResViewFormatSignedInt4,
  cudaResViewFormatHalf1,
  cudaResViewFormatHalf2,
  cudaResViewFormatHalf4,
  cudaResViewFormatFloat1,
  cudaResViewFormatFloat2,
  cudaResViewFormatFloat4,
  cudaResViewFormatUnsignedBlockCompressed1,
  cudaResViewFormatUnsignedBlockCompressed2,
  cudaResViewFormatUnsignedBlockCompressed3,
  cudaResViewFormatUnsignedBlockCompressed4,
  cudaResViewFormatSignedBlockCompressed4,
  cudaResViewFormatUnsignedBlockCompressed5,
  cudaResViewFormatSignedBlockCompressed5,
  cudaResViewFormatUnsignedBlockCompressed6H,
  cudaResViewFormatSignedBlockCompressed6H,
  cudaResViewFormatUnsignedBlockCompressed7,
};

enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder,
};

enum cudaTextureFilterMode {
  cudaFilterModePoint,
  cudaFilterModeLinear,
};

enum cudaTextureReadMode {
  cudaReadModeElementType,
  cudaReadModeNormalizedFloat,
};

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero,
  cudaBoundaryModeClamp,
  cudaBoundaryModeTrap,
};

enum cudaSurfaceFormatMode {
  cudaFormatModeForced,
  cudaFormatModeAuto,
};

struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t width;
      size_t height;
      size_t pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned int flags;
};

struct cudaResourceViewDesc {
  enum cudaResourceViewFormat format;
  size_t width;
  size_t height;
  size_t depth;
  unsigned int firstMipmapLevel;
  unsigned int lastMipmapLevel;
  unsigned int firstLayer;
  unsigned int lastLayer;
  unsigned int reserved[16];
};

struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap;
};

#endif
