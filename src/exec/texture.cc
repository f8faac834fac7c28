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

Texel fetch(const Texture& t, std::int64_t x, std::int64_t y, std::int64_t z, std::uint64_t layer) {
  Texel out;
  std::uint64_t ix = 0, iy = 0, iz = 0;
  bool inside = wrap(x, t.width, t.address[0], ix);
  if (t.dimensions >= 2) inside = wrap(y, t.height, t.address[1], iy) && inside;
  if (t.dimensions >= 3) inside = wrap(z, t.depth, t.address[2], iz) && inside;
  if (t.layered) iz = layer >= t.depth ? t.depth - 1 : layer;
  if (!inside) {
    out.f = t.border;
    for (unsigned c = 0; c < 4; ++c) out.u[c] = std::bit_cast<std::uint32_t>(t.border[c]);
    return out;
  }
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

/// Splits a coordinate for linear filtering: 1.8 fixed-point weight (CUDA C++ Programming Guide, "Linear Filtering").
void split(float coordinate, std::int64_t& index, float& weight) {
  const float shifted = coordinate - 0.5f;
  const float fixed = std::floor(shifted * 256.0f + 0.5f);
  const float whole = std::floor(fixed / 256.0f);
  index = static_cast<std::int64_t>(whole);
  weight = (fixed - whole * 256.0f) / 256.0f;
}

float bounded(float c) { return std::isfinite(c) ? std::fmax(-1e9f, std::fmin(1e9f, c)) : 0.0f; }

Texel sample(const Texture& t, const float* coordinate, const std::int32_t* integer, std::uint64_t layer) {
  const std::uint64_t sizes[3] = {t.width, t.height, t.depth};
  if (integer) return fetch(t, integer[0], integer[1], integer[2], layer);
  float c[3];
  for (int d = 0; d < 3; ++d)
    c[d] = bounded(d < t.dimensions
                       ? (t.normalized_coordinates ? coordinate[d] * static_cast<float>(sizes[d]) : coordinate[d])
                       : 0);
  if (!t.linear_filter)
    return fetch(t, static_cast<std::int64_t>(std::floor(c[0])), static_cast<std::int64_t>(std::floor(c[1])),
                 static_cast<std::int64_t>(std::floor(c[2])), layer);
  std::int64_t i[3] = {};
  float weight[3] = {};
  for (int d = 0; d < t.dimensions; ++d) split(c[d], i[d], weight[d]);
  Texel out;
  for (unsigned corner = 0; corner < (1u << t.dimensions); ++corner) {
    float factor = 1;
    std::int64_t at[3] = {i[0], i[1], i[2]};
    for (int d = 0; d < t.dimensions; ++d) {
      const bool upper = (corner >> d) & 1;
      factor *= upper ? weight[d] : 1 - weight[d];
      at[d] += upper;
    }
    if (factor == 0) continue;
    const Texel texel = fetch(t, at[0], at[1], at[2], layer);
    for (unsigned k = 0; k < 4; ++k) out.f[k] += factor * texel.f[k];
  }
  for (unsigned k = 0; k < 4; ++k) out.u[k] = std::bit_cast<std::uint32_t>(out.f[k]);
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
  const bool layered = source.offset & 16;
  const unsigned coordinates = static_cast<unsigned>(source.offset & 15) - layered;
  const std::uint32_t places[3] = {op->b, op->c, op->d};
  std::shared_ptr<const Texture> texture;
  std::uint64_t current = 0;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t handle = handles ? handles[l] : 0;
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
