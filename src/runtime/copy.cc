#include "runtime/copy.h"

#include <cstring>
#include <memory>
#include <vector>

#include "runtime/capture.h"
#include "runtime/host_probe.h"
#include "runtime/runtime.h"
#include "runtime/spool.h"

namespace muscope::runtime {
namespace {

bool device_reaches(Place place) {
  return place == Place::kDevice || place == Place::kPinned || place == Place::kManaged;
}

// First and one-past-last address that the box touches; false on overflow.
bool extent(const Area& area, const Box& box, std::uint64_t& bytes) {
  std::uint64_t rows = 0, slices = 0;
  if (__builtin_mul_overflow(box.rows - 1, area.pitch, &rows)) return false;
  if (__builtin_mul_overflow(box.slices - 1, area.slice, &slices)) return false;
  return !__builtin_add_overflow(rows, slices, &bytes) && !__builtin_add_overflow(bytes, box.width, &bytes);
}

// Mappings side by side count as one.
bool mappings_let(Runtime& runtime, std::uint64_t address, std::uint64_t bytes, unsigned device, bool write) {
  for (std::uint64_t at = address; at < address + bytes;) {
    const memory::Allocation mapping = runtime.memory().find(at);
    if (mapping.id == 0 || !mapping.lets(device, 0, write)) return false;
    at = mapping.end;
  }
  return true;
}

// May the box be read (written) there? Copies reach memory of every device; what is mapped asks who may use it (H200).
bool accessible(Runtime& runtime, const Area& area, const Box& box, Place place, bool write, const Stream& stream) {
  std::uint64_t bytes = 0;
  if (place == Place::kNowhere || !extent(area, box, bytes)) return false;
  if (place != Place::kHost) {
    const memory::Allocation allocation = runtime.memory().find(area.address);
    if (allocation.kind == memory::Kind::kVirtual)
      return mappings_let(runtime, area.address, bytes, static_cast<unsigned>(stream.device()), write);
    if (allocation.id != 0 && bytes <= allocation.end - area.address) return true;
    if (place == Place::kDevice) return false;
  }
  const void* const pointer = reinterpret_cast<const void*>(area.address);
  return write ? host_writable(pointer, bytes) : host_readable(pointer, bytes);
}

views::HostMemory host_memory(Runtime& runtime, std::uint64_t address, Place place) {
  switch (place) {
    case Place::kHost:
      return views::HostMemory::kPageable;
    case Place::kManaged:
      return views::HostMemory::kManaged;
    case Place::kPinned: {
      const auto block = runtime.blocks().find(runtime.memory().find(address).base);
      const bool mapped = block && (block->flags & cudaHostAllocMapped) != 0;
      return mapped ? views::HostMemory::kMapped : views::HostMemory::kPinned;
    }
    default:
      return views::HostMemory::kNone;
  }
}

// Both sides in host terms: what the program said, or where the pointers lead when it left that open.
void count(Runtime& runtime, const Area& to, Place to_place, const Area& from, Place from_place, std::uint64_t bytes,
           cudaMemcpyKind kind, const Caller& caller) {
  // Managed memory counts as device memory here, unless it is the side that the program calls host.
  const bool to_host =
      kind == cudaMemcpyDeviceToHost || (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
                                         (to_place == Place::kHost || to_place == Place::kPinned));
  const bool from_host =
      kind == cudaMemcpyHostToDevice || (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
                                         (from_place == Place::kHost || from_place == Place::kPinned));
  auto type = views::TransferKind::kDeviceToDevice;
  auto memory = views::HostMemory::kNone;
  if (to_host && from_host) {
    type = views::TransferKind::kHostToHost;
    memory = host_memory(runtime, from.address, from_place);
  } else if (to_host) {
    type = views::TransferKind::kDeviceToHost;
    memory = to_place == Place::kDevice ? views::HostMemory::kDevice : host_memory(runtime, to.address, to_place);
  } else if (from_host) {
    type = views::TransferKind::kHostToDevice;
    memory = from_place == Place::kDevice ? views::HostMemory::kDevice : host_memory(runtime, from.address, from_place);
  }
  Spool::of_process().transfer(type, memory, caller.async, bytes, caller.api, caller.address);
}

template <typename Row>
void for_each_row(const Box& box, Row&& row) {
  for (std::uint64_t z = 0; z < box.slices; ++z) {
    for (std::uint64_t y = 0; y < box.rows; ++y) row(y, z);
  }
}

std::uint8_t* row_of(std::uint8_t* base, const Area& area, std::uint64_t y, std::uint64_t z) {
  return base + y * area.pitch + z * area.slice;
}

// Rows that follow each other without gaps are one row.
void join_rows(Box& box, const Area& to, const Area& from) {
  if (box.slices > 1 && box.rows > 1) {
    if (to.slice != to.pitch * box.rows || from.slice != from.pitch * box.rows) return;
    box.rows *= box.slices;
    box.slices = 1;
  } else if (box.slices > 1) {
    return;
  }
  if (box.rows > 1 && to.pitch == box.width && from.pitch == box.width) {
    box.width *= box.rows;
    box.rows = 1;
  }
}

// Puts `work` into the stream; waits for it unless the program asked for an asynchronous call that need not wait.
cudaError_t run_in_stream(Runtime& runtime, const Caller& caller, bool wait, std::function<void()> work) {
  const StreamRef stream = runtime.stream(caller.stream);
  if (!stream) return cudaErrorInvalidResourceHandle;
  Operation operation;
  operation.run = [work = std::move(work)]() -> std::shared_ptr<exec::LaunchHandle> {
    work();
    return nullptr;
  };
  const Point point = runtime.scheduler().enqueue(stream, std::move(operation));
  if (wait) {
    runtime.scheduler().wait(point);
    runtime.write_output();
    // A kernel before it in the stream may have failed only now.
    return runtime.current_device().check_usable();
  }
  return cudaSuccess;
}

}  // namespace

Place place_of(Runtime& runtime, std::uint64_t address) {
  if (address == 0) return Place::kNowhere;
  const memory::Allocation allocation = runtime.memory().find(address);
  if (allocation.id == 0) return runtime.memory().in_device_range(address) ? Place::kNowhere : Place::kHost;
  switch (allocation.kind) {
    case memory::Kind::kManaged:
      return Place::kManaged;
    case memory::Kind::kPinned:
    case memory::Kind::kRegistered:
      return Place::kPinned;
    case memory::Kind::kDevice:
    case memory::Kind::kHeap:
    case memory::Kind::kModule:
    case memory::Kind::kVirtual:
      break;
  }
  return Place::kDevice;
}

cudaError_t copy(Runtime& runtime, const Area& to, const Area& from, const Box& box, cudaMemcpyKind kind,
                 const Caller& caller) {
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (box.empty()) return cudaSuccess;
  const Place to_place = place_of(runtime, to.address);
  const Place from_place = place_of(runtime, from.address);
  // The side that is said to be device memory must be reachable by a device; nothing is asked of the other.
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((to_device && !device_reaches(to_place)) || (from_device && !device_reaches(from_place)))
    return cudaErrorInvalidValue;
  const StreamRef stream = runtime.stream(caller.stream);
  const Stream& orders = stream ? *stream : *runtime.current_device().default_stream();
  if (!accessible(runtime, to, box, to_place, true, orders) ||
      !accessible(runtime, from, box, from_place, false, orders))
    return cudaErrorInvalidValue;
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const auto captured = capture(stream, caller.async, [&] { return CopyWork{to, from, box, kind}; }))
    return *captured;
  count(runtime, to, to_place, from, from_place, box.bytes(), kind, caller);

  auto* const target = static_cast<std::uint8_t*>(runtime.memory().host_pointer(to.address));
  auto* source = static_cast<std::uint8_t*>(runtime.memory().host_pointer(from.address));
  Box rows = box;
  join_rows(rows, to, from);
  // Pageable memory: an asynchronous copy has read its source, or written its target, when the call returns (CUDA
  // Runtime API, "API synchronization behavior").
  const bool wait = !caller.async || to_place == Place::kHost;
  std::shared_ptr<std::vector<std::uint8_t>> staged;
  Area source_area = from;
  if (caller.async && from_place == Place::kHost && !wait &&
      !runtime.scheduler().reached(runtime.scheduler().now(stream))) {
    staged = std::make_shared<std::vector<std::uint8_t>>(rows.bytes());
    std::uint8_t* at = staged->data();
    for_each_row(rows, [&](std::uint64_t y, std::uint64_t z) {
      std::memcpy(at, row_of(source, from, y, z), rows.width);
      at += rows.width;
    });
    source = staged->data();
    source_area = {0, rows.width, rows.width * rows.rows};
  }
  return run_in_stream(runtime, caller, wait, [=] {
    const auto keep = staged;
    for_each_row(rows, [&](std::uint64_t y, std::uint64_t z) {
      std::memmove(row_of(target, to, y, z), row_of(source, source_area, y, z), rows.width);
    });
  });
}

cudaError_t fill(Runtime& runtime, const Area& to, unsigned value, const Box& box, const Caller& caller,
                 unsigned element_bytes) {
  if (box.empty()) return cudaSuccess;
  const Place place = place_of(runtime, to.address);
  const StreamRef stream = runtime.stream(caller.stream);
  const Stream& orders = stream ? *stream : *runtime.current_device().default_stream();
  if (!device_reaches(place) || !accessible(runtime, to, box, place, true, orders)) return cudaErrorInvalidValue;
  // The stream's device does it, so it must be able to (H200).
  Device* const device = runtime.device(orders.device());
  if (!runtime.memory().find(to.address).lets(static_cast<unsigned>(orders.device()), device->reach(), true))
    return cudaErrorInvalidValue;
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const auto captured = capture(stream, caller.async, [&] { return FillWork{to, box, value, element_bytes}; }))
    return *captured;
  Spool::of_process().transfer(views::TransferKind::kMemset, views::HostMemory::kNone, caller.async, box.bytes(),
                               caller.api, caller.address);
  auto* const target = static_cast<std::uint8_t*>(runtime.memory().host_pointer(to.address));
  Box rows = box;
  join_rows(rows, to, to);
  return run_in_stream(runtime, caller, !caller.async, [=] {
    for_each_row(rows, [&](std::uint64_t y, std::uint64_t z) {
      std::uint8_t* const row = row_of(target, to, y, z);
      if (element_bytes == 1) {
        std::memset(row, static_cast<int>(value), rows.width);
      } else {
        for (std::uint64_t at = 0; at < rows.width; at += element_bytes) std::memcpy(row + at, &value, element_bytes);
      }
    });
  });
}

std::optional<Area> area_of(const Array& array, std::uint64_t x_bytes, std::uint64_t y, std::uint64_t z,
                            const Box& box) {
  const auto fits = [](std::uint64_t from, std::uint64_t count, std::uint64_t size) {
    return from <= size && count <= size - from;
  };
  if (!fits(x_bytes, box.width, array.row_bytes()) || !fits(y, box.rows, array.rows()) ||
      !fits(z, box.slices, array.slices())) {
    return std::nullopt;
  }
  return Area{array.address + x_bytes + y * array.pitch + z * array.slice_bytes(), array.pitch, array.slice_bytes()};
}

}  // namespace muscope::runtime
