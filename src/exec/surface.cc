// Accesses of surfaces: raw bytes, x counting bytes (.b, .D.BA), or elements that are converted (.p, .P), as an H200
// does them (tests/counters/surfaces_h200.txt).
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "code/texture_form.h"
#include "exec/half.h"
#include "exec/texture.h"
#include "exec/texture_ops.h"
#include "exec/translate.h"
#include "model/texture.h"

namespace muscope::exec {
namespace {

using code::TextureForm;
using Outside = TextureForm::Outside;

constexpr unsigned kMostBytes = 16;

/// The range that a lane's coordinates reach; null bytes: nothing.
struct Reached {
  std::uint8_t* bytes = nullptr;
  std::uint64_t offset = model::kNoSurfaceElement;  ///< for counting (model::surface_offset)
  bool outside = false;
};

/// A coordinate within `count` places, or why not. False: outside.
bool place_in(std::int64_t& at, std::uint64_t count, Outside outside) {
  const auto n = static_cast<std::int64_t>(count);
  if (at >= 0 && at < n) return true;
  if (outside == Outside::kNearest) at = at < 0 ? 0 : n - 1;
  return outside == Outside::kNearest;
}

unsigned element_bytes(const Surface& s) {
  unsigned bits = 0;
  for (const std::uint8_t channel : s.channel_bits) bits += channel;
  return bits / 8;
}

/// `size` bytes at x. Layers are taken as unsigned 16-bit numbers, as hardware does.
Reached reach(const Surface& s, const TextureForm& form, const std::int32_t* at, std::int32_t layer, unsigned size) {
  const std::uint64_t row = s.width * element_bytes(s);
  std::int64_t x = at[0], y = form.dimensions > 1 ? at[1] : 0, z = form.dimensions > 2 ? at[2] : 0;
  if (form.layered) z = layer & 0xffff;
  Reached out;
  bool inside = true;
  if (form.formatted) {
    inside = place_in(x, s.width, form.outside);
    x *= element_bytes(s);
  } else {
    std::int64_t n = x / size;
    if (x < 0) n = -1;
    inside = place_in(n, row / size, form.outside);
    x = n * size;
  }
  inside = place_in(y, s.height, form.outside) && inside;
  inside = place_in(z, form.layered || form.dimensions > 2 ? s.depth : 1, form.outside) && inside;
  out.outside = !inside;
  // A volume that is read by layers has its first slice in each (H200).
  if (form.layered && s.dimensions == 3) z = 0;
  if (inside) {
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y),
               uz = static_cast<std::uint64_t>(z);
    out.bytes = s.bytes + uz * s.slice + uy * s.pitch + ux;
    out.offset = model::surface_offset(ux, uy, uz, row, s.height);
  }
  return out;
}

std::uint16_t half_of(std::uint32_t bits) {
  // Rounded towards zero; of a number that is none the upper bits are kept.
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7c00 | ((bits >> 13) & 0x3ff));
  return to_half(static_cast<double>(std::bit_cast<float>(bits)), HalfRounding::kZero);
}

/// sust.p: values to the surface's own format: integers saturate, components that are not given are 0.
unsigned format_values(const Surface& s, const std::uint32_t* values, unsigned count, std::uint8_t* out) {
  unsigned at = 0;
  for (unsigned c = 0; c < 4 && s.channel_bits[c] != 0; ++c) {
    const unsigned bits = s.channel_bits[c];
    std::uint32_t v = c < count ? values[c] : 0;
    if (s.channel_kind == ChannelKind::kFloat && bits == 16) v = half_of(v);
    if (s.channel_kind == ChannelKind::kUnsigned && bits < 32) v = std::min(v, (1u << bits) - 1);
    if (s.channel_kind == ChannelKind::kSigned && bits < 32) {
      const std::int32_t most = (1 << (bits - 1)) - 1;
      v = static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(v), -most - 1, most));
    }
    std::memcpy(out + at, &v, bits / 8);
    at += bits / 8;
  }
  return at;
}

template <typename T>
void reduce(std::uint8_t* where, T value, const TextureForm& form) {
  const std::atomic_ref<T> cell(*reinterpret_cast<T*>(where));
  T old = cell.load(std::memory_order_relaxed), next = old;
  using Signed = std::make_signed_t<T>;
  do {
    const bool less = form.is_signed ? static_cast<Signed>(value) < static_cast<Signed>(old) : value < old;
    switch (form.operation) {
      case 0:
        next = old + value;
        break;
      case 1:
        next = less ? value : old;
        break;
      case 2:
        next = less ? old : value;
        break;
      case 5:
        next = old & value;
        break;
      case 6:
        next = old | value;
        break;
      default:
        next = old ^ value;
        break;
    }
  } while (!cell.compare_exchange_weak(old, next, std::memory_order_relaxed));
}

/// Why the instruction cannot be executed on this surface; null when it can. An H200 reads zeros where one has a single
/// coordinate and the other two; others were not measured.
const char* obstacle(const Surface& s, const TextureForm& form, unsigned size, bool& nothing) {
  const bool plain = !form.layered && !s.layered;
  nothing = plain && form.dimensions != s.dimensions && form.dimensions < 3 && s.dimensions < 3;
  if (nothing) return nullptr;
  const bool same = form.dimensions == s.dimensions && form.layered == s.layered;
  const bool first_layer = form.dimensions == 2 && !form.layered && s.layered && s.dimensions == 2;
  const bool slices = form.dimensions == 2 && form.layered && s.dimensions == 3;
  if (!same && !first_layer && !slices) return "this access of a surface of another shape";
  if (!form.formatted && (s.width * element_bytes(s)) % size != 0)
    return "accesses of a surface whose rows do not end at a whole one";
  return nullptr;
}

/// The lane's value in the instruction's registers, as bytes.
unsigned collect(const Warp& w, const code::Op& source, unsigned element, unsigned l, std::uint8_t* out) {
  for (unsigned k = 0; k < source.vector; ++k) {
    const std::uint32_t place = source.list[k].bits;
    if (source.dst_lane_bytes == 8)
      std::memcpy(out + k * element, &w.src<std::uint64_t>(place)[l], element);
    else if (source.dst_lane_bytes == 2)
      std::memcpy(out + k * element, &w.src<std::uint16_t>(place)[l], element);
    else
      std::memcpy(out + k * element, &w.src<std::uint32_t>(place)[l], element);
  }
  return source.vector * element;
}

void hand_out(Warp& w, const code::Op& source, unsigned element, unsigned l, const std::uint8_t* bytes) {
  for (unsigned k = 0; k < source.vector; ++k) {
    if (!source.list[k].exists()) continue;
    const std::uint32_t place = source.list[k].bits;
    std::uint64_t v = 0;
    std::memcpy(&v, bytes + k * element, element);
    const unsigned unused = 64 - 8 * element;
    if (ptx::is_signed(source.type)) v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v << unused) >> unused);
    if (source.dst_lane_bytes == 8)
      w.dst<std::uint64_t>(place)[l] = v;
    else if (source.dst_lane_bytes == 2)
      w.dst<std::uint16_t>(place)[l] = static_cast<std::uint16_t>(v);
    else
      w.dst<std::uint32_t>(place)[l] = static_cast<std::uint32_t>(v);
  }
}

const XOp* refuse(Warp& w, const XOp* op, const char* what) {
  return raise(w, op, Outcome::kUnsupported, "D609", std::string("muscope cannot execute ") + what,
               "see `muscope explain D609`");
}

void report_access(Warp& w, const XOp* op, const TextureForm& form, unsigned bytes,
                   const std::array<std::uint64_t, kGroupLanes>& offsets) {
  if (!w.worker->sink) return;
  const ptx::Opcode opcode = op->source->opcode;
  trace::WarpAccess access;
  access.site = op->site;
  access.space = trace::Space::kSurface;
  access.kind = opcode == ptx::Opcode::k_suld   ? trace::Kind::kLoad
                : opcode == ptx::Opcode::k_sust ? trace::Kind::kStore
                                                : trace::Kind::kRed;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.request_lanes = static_cast<std::uint8_t>(model::lanes_per_surface_request(form.dimensions, form.layered));
  access.addresses = offsets.data();
  access.mask = w.active;
  access.warp = w.index;
  access.block = w.block->index;
  access.issue = w.steps;
  w.worker->sink->access(access);
}

}  // namespace

const XOp* run_surface(Warp& w, const XOp* op) {
  const code::Op& source = *op->source;
  const TextureForm form = TextureForm::unpack(source.matrix);
  const bool load = source.opcode == ptx::Opcode::k_suld, store = source.opcode == ptx::Opcode::k_sust;
  const auto element = static_cast<unsigned>(ptx::size_of(source.type));
  const unsigned size = element * source.vector;
  const code::Place* place = source.list.data() + source.vector;
  std::shared_ptr<const Surface> surface;
  std::uint64_t current = 0;
  bool searched = false, nothing = false;
  std::array<std::uint64_t, kGroupLanes> offsets;
  offsets.fill(model::kNoSurfaceElement);
  unsigned bytes_per_lane = size;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t handle = object_handle(w, op, l);
    if (!searched || handle != current) {
      surface = find_surface(handle);
      searched = true, current = handle, nothing = !surface;
      if (!surface)
        note(w, op, "D615", "surface access through a handle that is no surface object: zeros are read",
             "was the surface object destroyed, or never created?");
      else if (const char* what = obstacle(*surface, form, size, nothing))
        return refuse(w, op, what);
      if (surface && form.formatted) bytes_per_lane = element_bytes(*surface);
    }
    const auto word = [&](std::size_t n) { return static_cast<std::int32_t>(w.src<std::uint32_t>(place[n].bits)[l]); };
    std::int32_t at[3] = {};
    std::size_t n = 0;
    const std::int32_t layer = form.layered ? word(n++) : 0;
    for (unsigned d = 0; d < form.dimensions; ++d) at[d] = word(n++);
    std::uint8_t bytes[kMostBytes] = {};
    Reached to;
    if (!nothing) {
      if (!form.formatted && at[0] % static_cast<std::int32_t>(size) != 0) {
        fault_misaligned(w, op, l, static_cast<std::uint32_t>(at[0]), "surface");
        return nullptr;
      }
      to = reach(*surface, form, at, layer, size);
      if (to.outside && form.outside == Outside::kFault) {
        const std::string where =
            std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(form.layered ? layer : at[2]);
        return raise(w, op, Outcome::kIllegalAddress, "D601",
                     "surface access outside of the surface, at (" + where + ")",
                     "x counts bytes; with cudaBoundaryModeZero or cudaBoundaryModeClamp it is no fault");
      }
    }
    offsets[l] = to.offset;
    if (load) {
      if (to.bytes) std::memcpy(bytes, to.bytes, size);
      hand_out(w, source, element, l, bytes);
      continue;
    }
    collect(w, source, element, l, bytes);
    if (!to.bytes) continue;
    if (store && form.formatted) {
      std::uint32_t values[4] = {};
      std::memcpy(values, bytes, sizeof values);
      const unsigned count = format_values(*surface, values, source.vector, bytes);
      std::memcpy(to.bytes, bytes, count);
    } else if (store) {
      std::memcpy(to.bytes, bytes, size);
    } else if (size == 8) {
      std::uint64_t v = 0;
      std::memcpy(&v, bytes, sizeof v);
      reduce(to.bytes, v, form);
    } else {
      if (form.formatted && (surface->channel_bits[0] != 32 || surface->channel_kind == ChannelKind::kFloat))
        return refuse(w, op, "a reduction of elements of this format");
      std::uint32_t v = 0;
      std::memcpy(&v, bytes, sizeof v);
      reduce(to.bytes, v, form);
    }
  }
  report_access(w, op, form, bytes_per_lane, offsets);
  return op + 1;
}

}  // namespace muscope::exec
