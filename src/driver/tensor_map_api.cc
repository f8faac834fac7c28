// Tensor maps: cuTensorMapEncodeTiled() and what changes a map. What is refused was tried on an H200
// (tests/programs/tensor_maps.cu).
#include <cstring>

#include "driver/entry.h"
#include "exec/tensor_map.h"

using namespace muscope::driver;
using muscope::exec::TensorMap;

namespace {

constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40, kMostDim = std::uint64_t{1} << 32;
constexpr std::uint32_t kUnit = 16, kMostBox = 256, kMostStep = 8, kMostRank = 5;
/// A tile of 256 KiB is refused; what fits into the shared memory of a block is not.
constexpr std::uint64_t kMostTile = 227 * 1024;

bool is_float(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/// Whether the shape is one that maps can have.
bool is_sound(const TensorMap& map, const cuuint32_t* box, const cuuint32_t* steps) {
  std::uint64_t bytes = map.element_bytes();
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.dims[d] == 0 || map.dims[d] > kMostDim) return false;
    if (box[d] == 0 || box[d] > kMostBox || steps[d] == 0 || steps[d] > kMostStep) return false;
    if (d > 0 && (map.strides[d - 1] % kUnit != 0 || map.strides[d - 1] >= kMostStride)) return false;
    bytes *= box[d];
  }
  if (bytes > kMostTile) return false;
  const std::uint32_t row = box[0] * map.element_bytes();
  if (map.interleaved) return map.rank >= 3;
  const std::uint32_t span = map.swizzle == TensorMap::Swizzle::kNone ? 0 : kUnit << static_cast<unsigned>(map.swizzle);
  return row % kUnit == 0 && (span == 0 || row <= span);
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuTensorMapEncodeTiled)(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                             const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                             const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                             CUtensorMapFloatOOBfill fill) {
  return enter(Needs::kInit, [&](Runtime&) -> CUresult {
    if (map == nullptr || dims == nullptr || box == nullptr || steps == nullptr || rank == 0 || rank > kMostRank ||
        (rank > 1 && strides == nullptr) || reinterpret_cast<std::uintptr_t>(address) % kUnit != 0 ||
        static_cast<unsigned>(type) > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ ||
        static_cast<unsigned>(interleave) > CU_TENSOR_MAP_INTERLEAVE_32B ||
        static_cast<unsigned>(swizzle) > CU_TENSOR_MAP_SWIZZLE_128B ||
        static_cast<unsigned>(promotion) > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        static_cast<unsigned>(fill) > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
      return CUDA_ERROR_INVALID_VALUE;
    TensorMap out;
    out.type = static_cast<std::uint8_t>(type);
    out.rank = static_cast<std::uint8_t>(rank);
    out.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
    out.nan_fill = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    out.interleaved = interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
    out.address = reinterpret_cast<std::uint64_t>(address);
    if (out.nan_fill && !is_float(type)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned d = 0; d < rank; ++d) {
      out.dims[d] = dims[d];
      if (d > 0) out.strides[d - 1] = strides[d - 1];
    }
    if (!is_sound(out, box, steps)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned d = 0; d < rank; ++d) {
      out.box[d] = static_cast<std::uint16_t>(box[d]);
      out.steps[d] = static_cast<std::uint8_t>(steps[d]);
    }
    const TensorMap::Bytes bytes = out.encode();
    std::memcpy(map, bytes.data(), bytes.size());
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuTensorMapReplaceAddress)(CUtensorMap* map, void* address) {
  return enter(Needs::kInit, [&](Runtime&) -> CUresult {
    if (map == nullptr || reinterpret_cast<std::uintptr_t>(address) % kUnit != 0) return CUDA_ERROR_INVALID_VALUE;
    TensorMap::Bytes bytes;
    std::memcpy(bytes.data(), map, bytes.size());
    auto old = TensorMap::decode(bytes);
    if (!old) return CUDA_ERROR_INVALID_VALUE;
    old->address = reinterpret_cast<std::uint64_t>(address);
    bytes = old->encode();
    std::memcpy(map, bytes.data(), bytes.size());
    return CUDA_SUCCESS;
  });
}
