// Functions that CUDA's device runtime supplies: vprintf, malloc, free, __assertfail.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>

#include "exec/builtin_call.h"
#include "exec/control.h"
#include "exec/device_format.h"
#include "exec/launch_context.h"
#include "exec/program.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

constexpr std::size_t kMaxString = 64 * 1024;
constexpr std::size_t kMaxOutput = 64u << 20;  ///< per block; CUDA's own buffer is 1 MiB a launch

std::string read_string(Warp& w, unsigned lane, std::uint64_t address) {
  std::string s;
  for (char c; s.size() < kMaxString && read(w, lane, address + s.size(), &c, 1) && c != 0;) s += c;
  return s;
}

const XOp* device_printf(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  each_lane(w, [&](unsigned lane) {
    const std::string format = read_string(w, lane, argument(w, call, 0, lane));
    const std::uint64_t arguments = argument(w, call, 1, lane);
    const FormatReader reader{[&](std::uint64_t offset, void* out, std::size_t bytes) {
                                return read(w, lane, arguments + offset, out, bytes);
                              },
                              [&](std::uint64_t address) { return read_string(w, lane, address); }};
    int count = 0;
    const std::string text = format_device_text(format, reader, count);
    if (w.block->output.size() < kMaxOutput) w.block->output += text;
    result(w, call, lane, static_cast<std::uint64_t>(count));
  });
  return op + 1;
}

const XOp* assertion(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  const unsigned lane = static_cast<unsigned>(std::countr_zero(w.active));
  const std::string condition = read_string(w, lane, argument(w, call, 0, lane));
  const std::string file = read_string(w, lane, argument(w, call, 1, lane));
  const auto line = static_cast<unsigned>(argument(w, call, 2, lane));
  const std::string function = read_string(w, lane, argument(w, call, 3, lane));
  const auto* tid = reinterpret_cast<const std::uint32_t*>(w.thread_bank);
  std::string message;
  each_lane(w, [&](unsigned l) {
    message += fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file, line,
                           function, w.block->id[0], w.block->id[1], w.block->id[2], tid[code::kTidX * kGroupLanes + l],
                           tid[code::kTidY * kGroupLanes + l], tid[code::kTidZ * kGroupLanes + l], condition);
  });
  std::fputs(message.c_str(), stderr);
  return raise(w, op, Outcome::kAssert, "D616", fmt::format("assertion `{}` failed at {}:{}", condition, file, line),
               "the assert() of the program itself");
}

const XOp* device_malloc(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  w.progress = true;
  each_lane(w, [&](unsigned lane) {
    const std::uint64_t bytes = argument(w, call, 0, lane);
    const unsigned device = w.worker->launch->request->device;
    result(w, call, lane, bytes == 0 ? 0 : w.worker->memory->allocate(bytes, memory::Kind::kHeap, device));
  });
  return op + 1;
}

const XOp* device_free(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  w.progress = true;
  bool bad = false;
  each_lane(w, [&](unsigned lane) {
    const std::uint64_t address = argument(w, call, 0, lane);
    if (address == 0) return;
    const memory::Allocation block = w.worker->memory->find(address);
    if (block.kind != memory::Kind::kHeap || block.base != address || !w.worker->memory->release(address)) bad = true;
  });
  // Records of the worker may name what is gone now.
  std::fill(w.worker->records.begin(), w.worker->records.end(), memory::Allocation{});
  if (bad)
    note(w, op, "D617", "free() of an address that device malloc() did not give",
         "double free, or a pointer into the middle of a block");
  return op + 1;
}

struct Builtin {
  const char* name;
  Handler run;
};
constexpr Builtin kBuiltins[] = {
    {"vprintf", device_printf}, {"__assertfail", assertion}, {"malloc", device_malloc}, {"free", device_free}};

}  // namespace

bool is_builtin(const std::string& name) {
  for (const Builtin& b : kBuiltins)
    if (name == b.name) return true;
  return false;
}

const XOp* run_builtin(Warp& w, const XOp* op) {
  const std::string& name = op->source->call->builtin;
  w.worker->launch->driver_calls.fetch_add(1, std::memory_order_relaxed);
  for (const Builtin& b : kBuiltins)
    if (name == b.name) return b.run(w, op);
  if (const Handler run = find_device_launch(name)) return run(w, op);
  return raise(w, op, Outcome::kUnsupported, "D609",
               fmt::format("muscope cannot execute a call to the external function '{}'", name),
               "the PTX does not hold its body; it may be part of a device library that is linked later");
}

}  // namespace muscope::exec
