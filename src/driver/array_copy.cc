#include "driver/array_copy.h"

#include "driver/entry.h"

namespace muscope::driver {
namespace {

struct Side {
  CUmemorytype type;
  CUdeviceptr address;  ///< of host or device memory
  CUarray array;
  std::size_t x, y, z, pitch, height;
};

CUresult read_side(Runtime& runtime, const Side& side, const runtime::Box& box, runtime::Area& area) {
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    const auto array = runtime.arrays().find(side.array);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    const auto found = runtime::area_of(*array, side.x, side.y, side.z, box);
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    area = *found;
    return CUDA_SUCCESS;
  }
  if (side.type != CU_MEMORYTYPE_HOST && side.type != CU_MEMORYTYPE_DEVICE && side.type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  const std::size_t row = side.x + box.width, rows = side.y + box.rows;
  if ((side.pitch != 0 && side.pitch < row) || (side.height != 0 && side.height < rows))
    return CUDA_ERROR_INVALID_VALUE;
  area.pitch = side.pitch != 0 ? side.pitch : row;
  area.slice = area.pitch * (side.height != 0 ? side.height : rows);
  area.address = side.address == 0 ? 0 : side.address + side.x + side.y * area.pitch + side.z * area.slice;
  return CUDA_SUCCESS;
}

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  const bool to_host = to == CU_MEMORYTYPE_HOST, from_host = from == CU_MEMORYTYPE_HOST;
  if (from_host) return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

}  // namespace

CUresult read_copy(Runtime& runtime, const CUDA_MEMCPY3D& asked, ArrayCopy& copy) {
  if (asked.srcLOD != 0 || asked.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto address = [](CUmemorytype type, const void* host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? address_of(host) : device;
  };
  const Side from{asked.srcMemoryType, address(asked.srcMemoryType, asked.srcHost, asked.srcDevice),
                  asked.srcArray,      asked.srcXInBytes,
                  asked.srcY,          asked.srcZ,
                  asked.srcPitch,      asked.srcHeight};
  const Side to{asked.dstMemoryType, address(asked.dstMemoryType, asked.dstHost, asked.dstDevice),
                asked.dstArray,      asked.dstXInBytes,
                asked.dstY,          asked.dstZ,
                asked.dstPitch,      asked.dstHeight};
  copy.box = {asked.WidthInBytes, asked.Height, asked.Depth};
  copy.kind = kind_of(to.type, from.type);
  constexpr std::size_t kMost = std::size_t{1} << 48;  // no address is larger: sums below cannot overflow
  for (const Side* const side : {&from, &to})
    for (const std::size_t number : {side->x, side->y, side->z, side->pitch, side->height})
      if (number > kMost) return CUDA_ERROR_INVALID_VALUE;
  if (copy.box.width > kMost || copy.box.rows > kMost || copy.box.slices > kMost) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = read_side(runtime, to, copy.box, copy.to)) return result;
  return read_side(runtime, from, copy.box, copy.from);
}

CUDA_MEMCPY3D as_boxes(const CUDA_MEMCPY2D& asked) {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = asked.srcXInBytes;
  box.srcY = asked.srcY;
  box.srcMemoryType = asked.srcMemoryType;
  box.srcHost = asked.srcHost;
  box.srcDevice = asked.srcDevice;
  box.srcArray = asked.srcArray;
  box.srcPitch = asked.srcPitch;
  box.dstXInBytes = asked.dstXInBytes;
  box.dstY = asked.dstY;
  box.dstMemoryType = asked.dstMemoryType;
  box.dstHost = asked.dstHost;
  box.dstDevice = asked.dstDevice;
  box.dstArray = asked.dstArray;
  box.dstPitch = asked.dstPitch;
  box.WidthInBytes = asked.WidthInBytes;
  box.Height = asked.Height;
  box.Depth = 1;
  return box;
}

}  // namespace muscope::driver
