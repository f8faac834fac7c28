#include "exec/texture.h"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "exec/texture_ops.h"

#include <bit>

#include "exec/half.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<const Texture>> textures;
  std::uint64_t next = 1;
};
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

/// The texel index of an integer coordinate under an address mode; false outside with border mode.
bool wrap(std::int64_t i, std::uint64_t size, AddressMode mode, std::uint64_t& out) {
  const auto n = static_cast<std::int64_t>(size);
  switch (mode) {
    case AddressMode::kClamp:
      out = static_cast<std::uint64_t>(i < 0 ? 0 : i >= n ? n - 1 : i);
      return true;
    case AddressMode::kWrap:
      out = static_cast<std::uint64_t>(((i % n) + n) % n);
      return true;
    case AddressMode::kMirror: {
      const std::int64_t k = ((i % (2 * n)) + 2 * n) % (2 * n);
      out = static_cast<std::uint64_t>(k < n ? k : 2 * n - 1 - k);
      return true;
    }
    case AddressMode::kBorder:
      break;
  }
  out = 0;
  if (i < 0 || i >= n) return false;
  out = static_cast<std::uint64_t>(i);
  return true;
}

struct Texel {
  std::array<float, 4> f{};
  std::array<std::uint32_t, 4> u{};
};

/// Wrap and mirror exist for normalised coordinates only; otherwise they clamp (CUDA C++ Programming Guide, "Texture
/// Object API").
AddressMode mode_of(const Texture& t, int dimension) {
  const AddressMode mode = t.address[static_cast<std::size_t>(dimension)];
  const bool clamps = !t.normalized_coordinates && (mode == AddressMode::kWrap || mode == AddressMode::kMirror);
  return clamps ? AddressMode::kClamp : mode;
}

/// The border, in the texture's own format (H200): clamped and rounded where it is read as a number, else its low bits.
Texel border_of(const Texture& t) {
  Texel out;
  const unsigned bits = t.channel_bits[0];
  const bool is_signed = t.channel_kind == ChannelKind::kSigned;
  for (unsigned c = 0; c < 4 && t.channel_bits[c] != 0; ++c) {
    out.f[c] = t.border[c];
    if (t.channel_kind == ChannelKind::kFloat && bits == 16)
      out.f[c] = half_to_float(to_half(static_cast<double>(t.border[c])));
    if (t.channel_kind != ChannelKind::kFloat && t.normalized_float) {
      const double one = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits)) - 1;
      const double v = std::fmin(1.0, std::fmax(is_signed ? -1.0 : 0.0, static_cast<double>(t.border[c])));
      out.f[c] = static_cast<float>(std::floor(v * one + 0.5) / one);
    }
    out.u[c] = std::bit_cast<std::uint32_t>(out.f[c]);
    if (t.channel_kind != ChannelKind::kFloat && !t.normalized_float && bits < 32) {
      const std::uint32_t high = out.u[c] << (32 - bits);
      out.u[c] =
          is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(high) >> (32 - bits)) : high >> (32 - bits);
    }
  }
  return out;
}

Texel fetch(const Texture& t, std::int64_t x, std::int64_t y, std::int64_t z, std::uint64_t layer) {
  Texel out;
  std::uint64_t ix = 0, iy = 0, iz = 0;
  bool inside = wrap(x, t.width, mode_of(t, 0), ix);
  if (t.dimensions >= 2) inside = wrap(y, t.height, mode_of(t, 1), iy) && inside;
  if (t.dimensions >= 3) inside = wrap(z, t.depth, mode_of(t, 2), iz) && inside;
  if (t.layered) iz = layer >= t.depth ? t.depth - 1 : layer;
  if (!inside) return border_of(t);
  unsigned channels = 0, bytes = t.channel_bits[0] / 8u;
  while (channels < 4 && t.channel_bits[channels] != 0) ++channels;
  const std::uint8_t* p = t.texels + iz * t.slice + iy * t.pitch + ix * channels * bytes;
  for (unsigned c = 0; c < channels; ++c, p += bytes) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, p, bytes);
    if (t.channel_kind == ChannelKind::kFloat) {
      out.f[c] = bytes == 2 ? half_to_float(static_cast<std::uint16_t>(raw)) : std::bit_cast<float>(raw);
      out.u[c] = std::bit_cast<std::uint32_t>(out.f[c]);
      continue;
    }
    const bool is_signed = t.channel_kind == ChannelKind::kSigned;
    const unsigned bits = bytes * 8;
    const std::int32_t s = is_signed && bits < 32 ? static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits)
                                                  : static_cast<std::int32_t>(raw);
    out.u[c] = is_signed ? static_cast<std::uint32_t>(s) : raw;
    if (t.normalized_float) {
      // CUDA C++ Programming Guide, "Texture Memory": full range maps to [0, 1] or [-1, 1].
      const double scale = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits)) - 1;
      out.f[c] =
          static_cast<float>(std::max(-1.0, (is_signed ? static_cast<double>(s) : static_cast<double>(raw)) / scale));
      out.u[c] = std::bit_cast<std::uint32_t>(out.f[c]);
    }
  }
  return out;
}

// Linear filtering as an H200 does it (all 1D and 2D samples of tests/counters/textures_h200.txt are equal
// to the bit, but for 8-bit signed texels): positions are
// rounded to 1/256 of a texel, ties up; the weights of a quad are multiples of 1/256 whose sums along each side are
// exact; the weighted sum is rounded once, ties away from zero, to the texture's own precision. The third dimension is
// two such samples weighted exactly, which hardware does with less.

constexpr int kWeightOne = 256;

/// The lower texel and the weight of the upper one.
void split(float coordinate, std::int64_t& index, int& weight) {
  const double fixed = std::floor((static_cast<double>(coordinate) - 0.5) * kWeightOne + 0.5);
  index = static_cast<std::int64_t>(std::floor(fixed / kWeightOne));
  weight = static_cast<int>(fixed - static_cast<double>(index) * kWeightOne);
}

/// Not-a-number samples at 0, infinities far outside; where coordinates repeat, there is no far outside.
float bounded(float c, AddressMode mode) {
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  if (c != c || (repeats && std::isinf(c))) return 0;
  return std::fmax(-1e9f, std::fmin(1e9f, c));
}

float round_away(double v) {
  const auto f = static_cast<float>(v);
  const double lost = v - static_cast<double>(f);
  if (lost == 0 || !std::isfinite(f)) return f;
  const float other = std::nextafter(f, lost > 0 ? HUGE_VALF : -HUGE_VALF);
  return static_cast<double>(other) - v == lost && std::fabs(other) > std::fabs(f) ? other : f;
}

float round_half_away(double v) {
  const std::uint16_t low = to_half(std::fabs(v), HalfRounding::kZero), high = static_cast<std::uint16_t>(low + 1);
  const auto below = static_cast<double>(half_to_float(low)), above = static_cast<double>(half_to_float(high));
  const float r = std::fabs(v) - below >= above - std::fabs(v) ? half_to_float(high) : half_to_float(low);
  return v < 0 ? -r : r;
}

/// A filtered channel in the precision in which the texture's filter works: f32, f16, or 16-bit integers of [-1, 1].
float filtered(const Texture& t, double sum) {
  if (t.channel_kind == ChannelKind::kFloat) return t.channel_bits[0] == 16 ? round_half_away(sum) : round_away(sum);
  const double one = t.channel_kind == ChannelKind::kSigned ? 32767 : 65535;
  return static_cast<float>(std::copysign(std::floor(std::fabs(sum) + 0.5), sum) / one);
}

/// A channel of a texel in the filter's own numbers.
double unfiltered(const Texture& t, float v) {
  if (t.channel_kind == ChannelKind::kFloat) return static_cast<double>(v);
  const bool is_signed = t.channel_kind == ChannelKind::kSigned;
  const double one = std::ldexp(1.0, t.channel_bits[0] - is_signed) - 1;
  return std::nearbyint(static_cast<double>(v) * one) * ((is_signed ? 32767 : 65535) / one);
}

Texel sample(const Texture& t, const float* coordinate, const std::int32_t* integer, std::uint64_t layer) {
  const std::uint64_t sizes[3] = {t.width, t.height, t.depth};
  if (integer) {
    // tex1Dfetch reads zeros outside of linear memory.
    const bool outside = integer[0] < 0 || static_cast<std::uint64_t>(integer[0]) >= t.width;
    if (t.dimensions == 1 && outside) return Texel{};
    return fetch(t, integer[0], integer[1], integer[2], layer);
  }
  float c[3] = {};
  for (int d = 0; d < t.dimensions; ++d)
    c[d] =
        bounded(t.normalized_coordinates ? coordinate[d] * static_cast<float>(sizes[d]) : coordinate[d], mode_of(t, d));
  if (!t.linear_filter)
    return fetch(t, static_cast<std::int64_t>(std::floor(c[0])), static_cast<std::int64_t>(std::floor(c[1])),
                 static_cast<std::int64_t>(std::floor(c[2])), layer);
  std::int64_t i[3] = {};
  int weight[3] = {};
  for (int d = 0; d < t.dimensions; ++d) split(c[d], i[d], weight[d]);
  // A 1D texture is one row at y = 0: in border mode half of it is border (H200).
  if (t.dimensions == 1 && mode_of(t, 1) == AddressMode::kBorder) split(0, i[1], weight[1]);
  const int both = (weight[0] * weight[1] + kWeightOne / 2) / kWeightOne;
  const int quad[4] = {kWeightOne - weight[0] - weight[1] + both, weight[0] - both, weight[1] - both, both};
  std::array<double, 4> sum{};
  for (unsigned corner = 0; corner < 8; ++corner) {
    const int z = corner & 4 ? weight[2] : kWeightOne - weight[2];
    const double factor = static_cast<double>(quad[corner & 3] * z) / (kWeightOne * kWeightOne);
    if (factor == 0) continue;
    const std::int64_t y = i[1] + ((corner >> 1) & 1);
    const Texel texel =
        t.dimensions == 1 && y != 0 ? border_of(t) : fetch(t, i[0] + (corner & 1), y, i[2] + (corner >> 2), layer);
    for (unsigned k = 0; k < 4; ++k) sum[k] += factor * unfiltered(t, texel.f[k]);
  }
  Texel out;
  for (unsigned k = 0; k < 4; ++k) {
    out.f[k] = filtered(t, sum[k]);
    out.u[k] = std::bit_cast<std::uint32_t>(out.f[k]);
  }
  return out;
}

}  // namespace

std::uint64_t register_texture(std::shared_ptr<const Texture> texture) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  const std::uint64_t handle = t.next++;
  t.textures[handle] = std::move(texture);
  return handle;
}

bool drop_texture(std::uint64_t handle) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  return t.textures.erase(handle) > 0;
}

std::shared_ptr<const Texture> find_texture(std::uint64_t handle) {
  Table& t = table();
  const std::shared_lock lock(t.mutex);
  const auto at = t.textures.find(handle);
  return at == t.textures.end() ? nullptr : at->second;
}

const XOp* run_texture(Warp& w, const XOp* op) {
  const code::Op& source = *op->source;
  const std::uint64_t* handles = op->a != kNoPlace ? w.src<std::uint64_t>(op->a) : nullptr;
  const std::uint32_t* words = op->sass ? w.src<std::uint32_t>(op->a) : nullptr;  // a uniform register pair
  const bool layered = source.offset & 16;
  const unsigned coordinates = static_cast<unsigned>(source.offset & 15) - layered;
  const std::uint32_t places[3] = {op->b, op->c, op->d};
  std::shared_ptr<const Texture> texture;
  std::uint64_t current = 0;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t handle = words ? words[0] | std::uint64_t{words[kGroupLanes]} << 32 : handles ? handles[l] : 0;
    if (!texture || handle != current) {
      texture = find_texture(handle);
      current = handle;
      if (!texture)
        return raise(w, op, Outcome::kIllegalAddress, "D615",
                     "texture fetch through a handle that is no texture object",
                     "was the texture object destroyed, or never created?");
    }
    float f[3] = {};
    std::int32_t i[3] = {};
    for (unsigned d = 0; d < coordinates; ++d) {
      const std::uint32_t raw = w.src<std::uint32_t>(places[d + layered])[l];
      f[d] = std::bit_cast<float>(raw);
      i[d] = static_cast<std::int32_t>(raw);
    }
    const std::uint64_t layer = layered ? w.src<std::uint32_t>(places[0])[l] : 0;
    const Texel texel = sample(*texture, f, source.type2 == ptx::Type::kS32 ? i : nullptr, layer);
    for (unsigned k = 0; k < source.list.size() && k < 4; ++k)
      if (source.list[k].exists()) w.dst<std::uint32_t>(source.list[k].bits)[l] = texel.u[k];
  }
  if (w.worker->sink) {
    trace::WarpAccess access;
    access.site = op->site;
    access.space = trace::Space::kTexture;
    access.bytes = op->bytes;
    access.shape = trace::Shape::kUniform;
    access.mask = w.active;
    access.warp = w.index;
    access.block = w.block->index;
    access.issue = w.steps;
    w.worker->sink->access(access);
  }
  return op + 1;
}

}  // namespace muscope::exec
