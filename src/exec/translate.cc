#include "exec/translate.h"

#include <fmt/format.h>

#include <bit>

#include "exec/launch_context.h"
#include "exec/managed_pages.h"

namespace muscope::exec {
namespace {

const char* verb_of(const XOp* op) {
  switch (op->source->opcode) {
    case ptx::Opcode::k_st:
    case ptx::Opcode::k_stmatrix:
      return "store";
    case ptx::Opcode::k_wmma:
      return op->source->transposed ? "store" : "load";
    case ptx::Opcode::k_atom:
    case ptx::Opcode::k_red:
      return "atomic";
    default:
      if (op->source->async) return op->site != 0xffffffffu ? "copy" : "mbarrier";
      return "load";
  }
}

const char* name_of(memory::Kind kind) {
  switch (kind) {
    case memory::Kind::kDevice:
      return "device allocation";
    case memory::Kind::kHeap:
      return "block of the kernels' malloc()";
    case memory::Kind::kManaged:
      return "managed allocation";
    case memory::Kind::kPinned:
      return "pinned host allocation";
    case memory::Kind::kRegistered:
      return "registered host range";
    case memory::Kind::kVirtual:
      return "mapping";
    case memory::Kind::kModule:
      break;
  }
  return "module variable";
}

std::string bytes_text(std::uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

/// "4 bytes past the end of device allocation #3 of 1,024 bytes" or where the nearest one is.
std::string neighbourhood(const memory::AddressSpace& memory, std::uint64_t address) {
  memory::Allocation below, above;
  for (const memory::Allocation& a : memory.allocations()) {
    if (a.base <= address)
      below = a;
    else if (above.id == 0)
      above = a;
  }
  if (address < 4096) return "the pointer is null";
  if (below.id != 0 && address < below.end)
    return fmt::format("inside {} #{} of {}", name_of(below.kind), below.id, bytes_text(below.end - below.base));
  if (below.id != 0 && address - below.end < (std::uint64_t{1} << 32))
    return fmt::format("{} past the end of {} #{} of {}", bytes_text(address - below.end), name_of(below.kind),
                       below.id, bytes_text(below.end - below.base));
  if (above.id != 0 && above.base - address < (std::uint64_t{1} << 32))
    return fmt::format("{} before {} #{} of {}", bytes_text(above.base - address), name_of(above.kind), above.id,
                       bytes_text(above.end - above.base));
  if (memory.in_device_range(address)) return "device memory that is not allocated (freed, or never was)";
  return "no device allocation is near; is it a host pointer?";
}

/// Memory that is there, but not for this device, or not for writing.
bool fault_not_allowed(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, const memory::Allocation& a) {
  const LaunchRequest& request = *w.worker->launch->request;
  const bool peer = !a.own_rights;
  std::string why = fmt::format("device {} has no {}access to it", request.device, peer ? "peer " : "");
  if (!peer && a.lets(request.device, request.reach, false))
    why = fmt::format("device {} may only read it", request.device);
  raise(w, op, Outcome::kIllegalAddress, "D601",
        fmt::format("global {} of {} bytes at {:#x}: {} of device {}, {}", verb_of(op), op->bytes, address,
                    name_of(a.kind), a.device, why),
        peer ? "cudaDeviceEnablePeerAccess() while this device is current"
             : "cuMemSetAccess, or cudaMemPoolSetAccess for memory of a pool");
  w.worker->fault.lane = lane;
  return false;
}

bool writes(const XOp* op) {
  const std::string_view verb = verb_of(op);
  return verb == "store" || verb == "atomic";
}

}  // namespace

const XOp* raise(Warp& w, const XOp* op, Outcome outcome, std::string code, std::string text, std::string hint) {
  Fault& f = w.worker->fault;
  f.outcome = outcome;
  f.op = static_cast<std::uint32_t>(op - w.worker->program->ops.data());
  f.block = w.block->index;
  f.order = w.block->order;
  f.warp = w.index;
  f.lane = w.active ? static_cast<std::uint32_t>(std::countr_zero(w.active)) : 0;
  f.code = std::move(code);
  f.text = std::move(text);
  f.hint = std::move(hint);
  w.stop = Stop::kFault;
  return nullptr;
}

void fault_misaligned(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, const char* space) {
  raise(w, op, Outcome::kMisaligned, "D602",
        fmt::format("{} {} of {} bytes at {:#x} is not aligned to {} bytes", space, verb_of(op), op->bytes, address,
                    op->bytes),
        "an access of n bytes must lie at a multiple of n; check casts to wider types and odd row lengths");
  w.worker->fault.lane = lane;
}

void fault_outside(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, const char* space,
                   const std::string& detail) {
  std::string text = fmt::format("{} {} of {} bytes at {:#x} is outside ", space, verb_of(op), op->bytes, address);
  std::string hint;
  if (!detail.empty()) {
    text += "every allocation: " + detail;
    hint = "check the index against the size; cudaMalloc takes bytes, not elements";
  } else if (std::string_view(space) == "shared") {
    text += fmt::format("the block's {} bytes of shared memory",
                        w.block->shared_bytes - w.worker->program->kernel->shared_base);
    hint = "is the dynamic shared memory size of the launch large enough?";
  } else if (std::string_view(space) == "local") {
    text += fmt::format("the thread's {} bytes of local memory", w.local_stride);
    hint = "an index into a local array is out of range, or the stack is too small";
  } else {
    text += "its bank";
  }
  raise(w, op, Outcome::kIllegalAddress, "D601", std::move(text), std::move(hint));
  w.worker->fault.lane = lane;
}

void note(Warp& w, const XOp* op, const char* code, const std::string& text, const char* hint) {
  const auto index = static_cast<std::uint32_t>(op - w.worker->program->ops.data());
  Noted& noted = w.worker->finding_by_op[{index, code}];
  views::Finding& f = noted.finding;
  if (f.count++ == 0) {
    noted.block = w.block->index;
    f.code = code;
    f.text = text;
    f.hint = hint;
    f.frame = op->source->frame;
    f.ptx_line = op->source->source ? op->source->source->ptx_line : 0;
  }
}

void touch_managed(Warp& w, const memory::Allocation& allocation, std::uint64_t low, std::uint64_t high) {
  w.worker->launch->managed_pages += mark_resident(allocation, low, high);
}

bool resolve_global(Warp& w, const XOp* op, const std::uint64_t* addresses, std::uint32_t bytes, std::uint64_t* host) {
  memory::AddressSpace& memory = *w.worker->memory;
  memory::Allocation record = w.worker->records[op->site];
  const LaunchRequest& request = *w.worker->launch->request;
  for (GroupMask left = w.active; left; left &= left - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t address = addresses[l];
    const auto holds = [&](const memory::Allocation& a) {
      return a.id != 0 && address >= a.base && address < a.end && a.end - address >= bytes;
    };
    if (!holds(record)) {
      const memory::Allocation found = memory.find(address);
      if (holds(found)) {
        // Asked once for what the site then uses without a look.
        if (!found.lets(request.device, request.reach, writes(op))) return fault_not_allowed(w, op, l, address, found);
        record = found;
      } else if (memory.mapped(address, bytes) && memory.within_reach(address, request.reach)) {
        // Hardware maps 2 MiB at a time: the access goes through there, and so it does here.
        note(w, op, "D610",
             fmt::format("global {} of {} bytes is outside its allocation: {}", verb_of(op), bytes,
                         neighbourhood(memory, address)),
             "hardware does not notice this because memory is mapped in 2 MiB pieces; the data may belong to another "
             "array");
        host[l] = reinterpret_cast<std::uint64_t>(memory.host_pointer(address));
        continue;
      } else {
        fault_outside(w, op, l, address, "global", neighbourhood(memory, address));
        return false;
      }
    }
    host[l] = address + static_cast<std::uint64_t>(record.distance);
    if (record.kind == memory::Kind::kManaged) touch_managed(w, record, address, address + bytes);
  }
  if (record.id != 0) w.worker->records[op->site] = record;
  return true;
}

void read_only_bank(const Warp& w, bool param, std::uint64_t& low, std::uint64_t& bytes, std::uint64_t& host) {
  const LaunchContext& launch = *w.worker->launch;
  if (param) {
    low = code::kParamWindow;
    bytes = launch.request->params.size();
    host = reinterpret_cast<std::uint64_t>(launch.request->params.data());
    return;
  }
  const code::Kernel& kernel = *launch.program->kernel;
  low = kernel.const_bank_base;
  bytes = kernel.const_bank_size;
  host = bytes ? reinterpret_cast<std::uint64_t>(w.worker->memory->host_pointer(low)) : 0;
}

}  // namespace muscope::exec
