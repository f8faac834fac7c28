// Copies and fills: checks that both sides may be touched, counts the traffic, puts the work into its stream.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/array.h"
#include "runtime/cuda_abi.h"
#include "runtime/scheduler.h"
#include "views/records.h"

namespace muscope::runtime {

class Runtime;

/// One side of a copy: `rows` x `slices` rows of `width` bytes.
struct Area {
  std::uint64_t address = 0;  ///< device address, or host pointer
  std::uint64_t pitch = 0;    ///< bytes from row to row
  std::uint64_t slice = 0;    ///< bytes from slice to slice
};

struct Box {
  std::uint64_t width = 0;  ///< bytes of a row
  std::uint64_t rows = 1;
  std::uint64_t slices = 1;

  bool empty() const { return width == 0 || rows == 0 || slices == 0; }
  std::uint64_t bytes() const { return width * rows * slices; }
};

/// The call that asked, for the record of host traffic.
struct Caller {
  const char* api = nullptr;      ///< "cudaMemcpy", a literal
  const void* address = nullptr;  ///< where it returns to
  bool async = false;
  cudaStream_t stream = nullptr;
};

/// What an address is, to a copy.
enum class Place : std::uint8_t {
  kHost,    ///< memory that CUDA knows nothing of
  kPinned,  ///< from cudaHostAlloc or registered: host memory that devices reach
  kManaged,
  kDevice,
  kNowhere,  ///< null, or a device address that nothing is allocated at
};
Place place_of(Runtime& runtime, std::uint64_t address);

/// A one-row area.
inline Area line(const void* pointer) { return {reinterpret_cast<std::uint64_t>(pointer), 0, 0}; }

/// Copies between host and device memory. `kind` is checked against where the pointers lead, as an H200 does it
/// (tests/counters/runtime_api_h200.txt). cudaErrorInvalidValue, cudaErrorInvalidMemcpyDirection,
/// cudaErrorInvalidResourceHandle.
cudaError_t copy(Runtime& runtime, const Area& to, const Area& from, const Box& box, cudaMemcpyKind kind,
                 const Caller& caller);

/// Fills with elements of 1, 2 or 4 bytes, the low bytes of `value`. The memory must be reachable by a device.
cudaError_t fill(Runtime& runtime, const Area& to, unsigned value, const Box& box, const Caller& caller,
                 unsigned element_bytes = 1);

/// Both sides of a 3D copy; an empty box where nothing is to copy. Errors of cudaMemcpy3D.
cudaError_t areas_of(Runtime& runtime, const cudaMemcpy3DParms& asked, Area& to, Area& from, Box& box);

/// The area of an array from texel offset (x_bytes, y, z) on; nothing when the box does not fit into it.
std::optional<Area> area_of(const Array& array, std::uint64_t x_bytes, std::uint64_t y, std::uint64_t z,
                            const Box& box);

}  // namespace muscope::runtime

/// The caller of the API function that this stands in.
#define MUSCOPE_CALLER(api, async, stream) \
  ::muscope::runtime::Caller { #api, __builtin_return_address(0), async, stream }
