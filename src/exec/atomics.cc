#include "exec/atomics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "exec/atomic_access.h"
#include "exec/cluster.h"
#include "exec/half.h"
#include "exec/reduction.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

using ptx::Mod;
using ptx::Space;
using ptx::Type;

enum Operation : std::uint8_t { kAdd, kExch, kCas, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kAddFlushed, kAddShared };

float flush(float v) { return std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v; }
/// f32 sums that are not a number have one pattern (H200).
float canonical(float v) { return v == v ? v : std::bit_cast<float>(0x7fffffffu); }

struct Half {
  std::uint16_t bits;
};
struct Half2 {
  std::uint32_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Brain2 {
  std::uint32_t bits;
};

template <typename T>
constexpr bool kIsPacked =
    std::is_same_v<T, Half> || std::is_same_v<T, Half2> || std::is_same_v<T, Brain> || std::is_same_v<T, Brain2>;

std::uint16_t add_half(std::uint16_t a, std::uint16_t b) { return to_half(half_to_float(a) + half_to_float(b)); }
std::uint16_t add_brain(std::uint16_t a, std::uint16_t b) { return to_bfloat(bfloat_to_float(a) + bfloat_to_float(b)); }

template <typename T>
T add(T a, T b) {
  if constexpr (std::is_same_v<T, Half>)
    return {add_half(a.bits, b.bits)};
  else if constexpr (std::is_same_v<T, Brain>)
    return {add_brain(a.bits, b.bits)};
  else if constexpr (std::is_same_v<T, Half2>)
    return {add_half(static_cast<std::uint16_t>(a.bits), static_cast<std::uint16_t>(b.bits)) |
            (std::uint32_t{add_half(static_cast<std::uint16_t>(a.bits >> 16), static_cast<std::uint16_t>(b.bits >> 16))}
             << 16)};
  else if constexpr (std::is_same_v<T, Brain2>)
    return {
        add_brain(static_cast<std::uint16_t>(a.bits), static_cast<std::uint16_t>(b.bits)) |
        (std::uint32_t{add_brain(static_cast<std::uint16_t>(a.bits >> 16), static_cast<std::uint16_t>(b.bits >> 16))}
         << 16)};
  else if constexpr (std::is_same_v<T, float>)
    return canonical(a + b);
  else if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}

/// f64 sums that are not a number (H200). Global memory keeps the bits of the operand, else of what was there; shared
/// memory has a loop of DADD and swaps, which keeps what was there, else the operand, made quiet.
double sum_or_payload(double old, double b, bool shared) {
  const double r = old + b;
  if (r == r) return r;
  const double first = shared ? old : b, second = shared ? b : old, source = first != first ? first : second;
  if (source == source) return std::bit_cast<double>(0xfff8000000000000ull);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(source) | (shared ? 0x0008000000000000ull : 0));
}

/// The new value of memory that holds `old`.
template <typename T>
T apply(std::uint8_t what, T old, T b, T c) {
  if constexpr (std::is_same_v<T, double>)
    if (what == kAdd || what == kAddShared) return sum_or_payload(old, b, what == kAddShared);
  if (what == kAdd) return add(old, b);
  if (what == kExch) return b;
  if constexpr (std::is_same_v<T, float>)
    if (what == kAddFlushed) return flush(add(flush(old), flush(b)));
  if constexpr (!kIsPacked<T>) {
    if (what == kMin) return b < old ? b : old;
    if (what == kMax) return old < b ? b : old;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (what) {
      case kCas:
        return old == b ? c : old;
      case kInc:
        return old >= b ? T{0} : static_cast<T>(old + 1);
      case kDec:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
      case kAnd:
        return old & b;
      case kOr:
        return old | b;
      case kXor:
        return old ^ b;
      default:
        break;
    }
  }
  return old;
}

template <std::size_t kBytes>
using Raw =
    std::conditional_t<kBytes == 2, std::uint16_t, std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>;

/// One lane's atomic on host memory; returns the old value. A lock-free loop, since other workers and the host may
/// write too.
template <typename T>
T atomic(std::uint8_t what, std::uint8_t* at, T b, T c, bool& changed) {
  using R = Raw<sizeof(T)>;
  auto* place = reinterpret_cast<R*>(at);
  R expected = __atomic_load_n(place, __ATOMIC_RELAXED);
  for (;;) {
    const T old = std::bit_cast<T>(expected);
    const R desired = std::bit_cast<R>(apply(what, old, b, c));
    if (desired == expected && what != kExch) return old;  // nothing to write: a failed CAS, an add of 0
    if (__atomic_compare_exchange_n(place, &expected, desired, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      changed = changed || desired != std::bit_cast<R>(old);
      return old;
    }
  }
}

template <typename T>
void join_pairs(T* to, const std::uint32_t* low) {
  for (unsigned l = 0; l < kGroupLanes; ++l)
    to[l] = std::bit_cast<T>(low[l] | std::uint64_t{low[l + kGroupLanes]} << 32);
}

template <typename T>
void split_pairs(const Warp& w, std::uint32_t* low, const T* from) {
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const auto bits = std::bit_cast<std::uint64_t>(from[l]);
    low[l] = static_cast<std::uint32_t>(bits);
    low[l + kGroupLanes] = static_cast<std::uint32_t>(bits >> 32);
  }
}

template <typename T>
void run_lanes(Warp& w, const XOp* op, std::uint8_t what, const std::uint64_t* host) {
  // One-byte-wide registers do not exist; 16-bit atomics use 16-bit lanes.
  const T* b = w.src<T>(op->b);
  const T* c = op->c != kNoPlace ? w.src<T>(op->c) : b;
  T* d = op->dst != kNoPlace ? w.dst<T>(op->dst) : nullptr;
  // Machine code keeps 64-bit values in register pairs.
  [[maybe_unused]] alignas(64) T wide_b[kGroupLanes], wide_c[kGroupLanes], wide_d[kGroupLanes];
  if constexpr (sizeof(T) == 8) {
    if (op->sass) {
      join_pairs(wide_b, w.src<std::uint32_t>(op->b));
      join_pairs(wide_c, w.src<std::uint32_t>(op->c != kNoPlace ? op->c : op->b));
      b = wide_b, c = wide_c;
      if (d) d = wide_d;
    }
  }
  bool changed = false;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const T operand = b[l], other = c[l];
    const T old = atomic<T>(what, reinterpret_cast<std::uint8_t*>(host[l]), operand, other, changed);
    if (d) d[l] = old;
  }
  if constexpr (sizeof(T) == 8)
    if (op->sass && d) split_pairs(w, w.dst<std::uint32_t>(op->dst), wide_d);
  if (changed)
    w.progress = true;
  else if (op->polls)
    ++w.polls;
}

/// Where the memory of a lane lies. Generic addresses and those of .shared::cluster say so themselves.
enum class Where : std::uint8_t { kGlobal, kOwnShared, kOtherShared, kLocal };

const char* name_of(Where where) {
  return where == Where::kLocal ? "local" : where == Where::kGlobal ? "global" : "shared";
}

/// `in_window`: becomes the address in the window of its space.
Where find_where(const Warp& w, const XOp* op, std::uint64_t address, std::uint64_t& in_window) {
  in_window = address;
  bool any = op->source->cluster;
  switch (op->source->space) {
    case Space::kGlobal:
      return Where::kGlobal;
    case Space::kGeneric:
      if (address - code::kLocalWindow < code::kWindowBytes) {
        in_window = address - code::kLocalWindow;
        return Where::kLocal;
      }
      if (address - code::kSharedWindow >= code::kWindowBytes) return Where::kGlobal;
      in_window = address - code::kSharedWindow;
      any = true;
      break;
    default:
      break;
  }
  // Without a register it is an offset in the own block's memory.
  if (!op->has_base && !(op->flags & (kUniform32 | kUniform64))) return Where::kOwnShared;
  const SharedPlace place = shared_place(*w.block, in_window, any);
  return place.block && place.block != w.block ? Where::kOtherShared : Where::kOwnShared;
}

/// Machine code: what ATOM can do where memory is not global. The code that follows does the rest: ptxas 13.0 writes a
/// loop of swaps for own shared memory, another one for sums of f32 and f64 in that of other blocks, and loads and
/// stores for local memory. Where it writes only the latter, the instruction has to do it.
bool does_atomic(Where where, std::uint8_t what, bool is_float) {
  if (where == Where::kGlobal) return true;
  if (where == Where::kLocal) return false;
  if (what == kExch || what == kCas) return true;
  return where == Where::kOtherShared && !is_float;  // minima and maxima of 64 bits: see D624
}

template <typename T>
const XOp* run(Warp& w, const XOp* op);

/// Runs `some` of the active lanes, then `others`.
template <typename T>
const XOp* run_apart(Warp& w, const XOp* op, GroupMask some, GroupMask others) {
  const GroupMask all = w.active;
  set_active(w, some);
  const XOp* next = run<T>(w, op);
  if (next && others != 0) {
    set_active(w, others);
    next = run<T>(w, op);
  }
  set_active(w, all);
  return next;
}

/// Host addresses of lanes in shared or local memory. False with a fault.
template <typename T>
bool find_hosts(Warp& w, const XOp* op, Where where, const std::uint64_t* address, std::uint64_t* host) {
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    if (address[l] & (sizeof(T) - 1)) {
      fault_misaligned(w, op, l, address[l], name_of(where));
      return false;
    }
    if (where == Where::kGlobal) continue;
    std::uint8_t* memory = w.local + std::size_t{w.local_stride} * l;
    std::uint64_t offset = address[l], bytes = w.local_stride;
    if (where != Where::kLocal) {
      const bool any = op->source->cluster || op->source->space == Space::kGeneric;
      SharedPlace place = shared_place(*w.block, address[l], any);
      if (!op->has_base && !(op->flags & (kUniform32 | kUniform64))) place = {w.block, address[l]};
      if (!place.block) {
        fault_no_block(w, op, l, address[l], any);
        return false;
      }
      if (where == Where::kOtherShared) {
        touch_other_block(w, op, *place.block);
        place.block->progress = true;
      }
      memory = place.block->shared, offset = place.offset, bytes = place.block->shared_bytes;
    }
    if (offset > bytes || sizeof(T) > bytes - offset) {
      fault_outside(w, op, l, address[l], name_of(where), {});
      return false;
    }
    host[l] = reinterpret_cast<std::uint64_t>(memory) + offset;
  }
  return true;
}

template <typename T>
const XOp* run(Warp& w, const XOp* op) {
  alignas(64) std::uint64_t address[kGroupLanes] = {}, host[kGroupLanes] = {};
  Where where[kGroupLanes] = {};
  atomic_addresses(w, op, address);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    where[l] = find_where(w, op, address[l], address[l]);
  }
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.active));
  // Machine code: ATOM leaves lanes alone whose memory it cannot serve, and says so in its predicate.
  if (op->source->space == Space::kGeneric && op->sass && op->has_dst2) {
    GroupMask served = 0;
    for (GroupMask m = w.active; m; m &= m - 1)
      if (does_atomic(where[std::countr_zero(m)], op->imm8, std::is_floating_point_v<T>)) served |= m & (0u - m);
    std::uint32_t* done = w.dst<std::uint32_t>(op->dst2);
    const GroupMask all = w.active;
    if (served == 0 || served != all) {
      const XOp* next = served == 0 ? op + 1 : run_apart<T>(w, op, served, 0);
      if (next) *done = (*done & ~all) | served;
      return next;
    }
    *done |= served;
  }
  // Lanes in different spaces run one space at a time.
  GroupMask same = 0;
  for (GroupMask m = w.active; m; m &= m - 1)
    if (where[std::countr_zero(m)] == where[first]) same |= m & (0u - m);
  if (same != w.active) return run_apart<T>(w, op, same, w.active & ~same);
  const Where space = where[first];
  if (op->sass && sizeof(T) == 8 && space == Where::kOtherShared && (op->imm8 == kMin || op->imm8 == kMax))
    note(w, op, "D624", "64-bit minimum or maximum on the shared memory of another block, which loses updates on a GPU",
         "ptxas 13.0 leaves it to a load and a store where hardware has no such atomic: use 32 bits, or atomicCAS()");
  if (!find_hosts<T>(w, op, space, address, host)) return nullptr;
  bool host_memory = false;
  if (space == Where::kGlobal) {
    if (!resolve_global(w, op, address, sizeof(T), host)) return nullptr;
    const memory::Kind kind = w.worker->records[op->site].kind;
    host_memory = kind == memory::Kind::kPinned || kind == memory::Kind::kRegistered;
  }
  if (w.worker->sink && space != Where::kOtherShared) {
    trace::WarpAccess access;
    access.site = op->site;
    access.space = space == Where::kOwnShared ? trace::Space::kShared
                   : space == Where::kLocal   ? trace::Space::kLocal
                                              : trace::Space::kGlobal;
    access.kind = op->source->result_used ? trace::Kind::kAtom : trace::Kind::kRed;
    access.bytes = sizeof(T);
    access.shape = shape_of(address, w.active, access.stride);
    access.base = access.shape == trace::Shape::kAffine ? address[0] : address[first];
    access.addresses = address;
    access.host_memory = host_memory;
    access.generic = op->source->space == Space::kGeneric;
    access.increment = op->flags & 4;
    access.mask = w.active;
    access.warp = w.index;
    access.block = w.block->index;
    access.issue = w.steps;
    w.worker->sink->access(access);
  }
  // atom.add.f32 flushes subnormals in global memory, not in shared memory (PTX ISA, "atom"; H200).
  const bool shared = space == Where::kOwnShared || space == Where::kOtherShared;
  const bool flushes = std::is_same_v<T, float> && !shared && op->imm8 == kAdd;
  const bool loops = std::is_same_v<T, double> && shared && op->imm8 == kAdd;
  run_lanes<T>(w, op, flushes ? std::uint8_t{kAddFlushed} : loops ? std::uint8_t{kAddShared} : op->imm8, host);
  return op + 1;
}

/// By the number of sass::MemoryForm::atomic.
std::uint8_t operation_of(std::uint8_t number) {
  static constexpr std::uint8_t kByNumber[] = {kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas, kAdd};
  return number < std::size(kByNumber) ? kByNumber[number] : std::uint8_t{kAdd};
}

/// Adds to one element of a vector and gives what was there; narrow ones in the lower half.
template <typename T>
std::uint32_t add_one(std::uint8_t what, std::uint8_t* at, std::uint32_t operand, bool& changed) {
  const T b = std::bit_cast<T>(static_cast<Raw<sizeof(T)>>(operand));
  return std::bit_cast<Raw<sizeof(T)>>(atomic<T>(what, at, b, b, changed));
}

template <typename T>
bool reduce_one(std::uint8_t what, std::uint8_t* at, const std::uint8_t* operand) {
  T b;
  std::memcpy(&b, operand, sizeof b);
  bool changed = false;
  atomic<T>(what, at, b, b, changed);
  return true;
}

}  // namespace

bool can_add_elements(ptx::Type type) {
  return type == Type::kF32 || type == Type::kF16 || type == Type::kF16x2 || type == Type::kBF16 ||
         type == Type::kBF16x2;
}

std::uint32_t add_element(ptx::Type type, std::uint8_t* at, std::uint32_t operand, bool& changed) {
  switch (type) {
    case Type::kF16:
      return add_one<Half>(kAdd, at, operand, changed);
    case Type::kF16x2:
      return add_one<Half2>(kAdd, at, operand, changed);
    case Type::kBF16:
      return add_one<Brain>(kAdd, at, operand, changed);
    case Type::kBF16x2:
      return add_one<Brain2>(kAdd, at, operand, changed);
    default:
      return add_one<float>(kAddFlushed, at, operand, changed);
  }
}

bool reduce_element(ptx::Type type, std::uint8_t number, bool flushes, std::uint8_t* at, const std::uint8_t* operand) {
  const std::uint8_t operation = operation_of(number);
  switch (type) {
    case Type::kB32:
    case Type::kU32:
      return reduce_one<std::uint32_t>(operation, at, operand);
    case Type::kS32:
      return reduce_one<std::int32_t>(operation, at, operand);
    case Type::kB64:
    case Type::kU64:
      return reduce_one<std::uint64_t>(operation, at, operand);
    case Type::kS64:
      return reduce_one<std::int64_t>(operation, at, operand);
    case Type::kF32:
      return reduce_one<float>(flushes && operation == kAdd ? std::uint8_t{kAddFlushed} : operation, at, operand);
    case Type::kF64:
      return reduce_one<double>(operation, at, operand);
    case Type::kF16:
      return operation == kAdd && reduce_one<Half>(operation, at, operand);
    case Type::kBF16:
      return operation == kAdd && reduce_one<Brain>(operation, at, operand);
    default:
      return false;
  }
}

bool reduce_range(ptx::Type type, std::uint8_t number, bool flushes, std::uint8_t* to, const std::uint8_t* from,
                  std::uint64_t bytes) {
  const auto step = static_cast<std::uint64_t>(std::max(1, ptx::size_of(type)));
  for (std::uint64_t at = 0; at + step <= bytes; at += step)
    if (!reduce_element(type, number, flushes, to + at, from + at)) return false;
  return true;
}

std::uint8_t atomic_operation(const sass::Instruction& i) { return operation_of(i.memory.atomic); }

std::uint8_t atomic_operation(const ptx::Instruction& i) {
  if (i.has(Mod::k_exch)) return kExch;
  if (i.has(Mod::k_cas)) return kCas;
  if (i.has(Mod::k_min)) return kMin;
  if (i.has(Mod::k_max)) return kMax;
  if (i.has(Mod::k_inc)) return kInc;
  if (i.has(Mod::k_dec)) return kDec;
  if (i.has(Mod::k_and)) return kAnd;
  if (i.has(Mod::k_or)) return kOr;
  if (i.has(Mod::k_xor)) return kXor;
  return kAdd;
}

Handler find_atomic(const code::Op& op) {
  if (op.space != Space::kGlobal && op.space != Space::kShared && op.space != Space::kGeneric) return nullptr;
  if (op.vector > 1) return find_vector_atomic(op);
  switch (op.type) {
    case Type::kB16:
    case Type::kU16:
      return run<std::uint16_t>;
    case Type::kB32:
    case Type::kU32:
      return run<std::uint32_t>;
    case Type::kS32:
      return run<std::int32_t>;
    case Type::kB64:
    case Type::kU64:
      return run<std::uint64_t>;
    case Type::kS64:
      return run<std::int64_t>;
    case Type::kF32:
      return run<float>;
    case Type::kF64:
      return run<double>;
    case Type::kF16:
      return run<Half>;
    case Type::kF16x2:
      return run<Half2>;
    case Type::kBF16:
      return run<Brain>;
    case Type::kBF16x2:
      return run<Brain2>;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec
