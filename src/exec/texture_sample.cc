#include "exec/texture_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/half.h"

namespace muscope::exec {
namespace {

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
      out.f[c] = static_cast<float>(std::copysign(std::ceil(std::fabs(v) * one - 0.5), v) / one);
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

/// The texel that is there.
Texel read_texel(const Texture& t, const TextureLevel& level, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  Texel out;
  unsigned channels = 0, bytes = t.channel_bits[0] / 8u;
  while (channels < 4 && t.channel_bits[channels] != 0) ++channels;
  const std::uint8_t* p = level.texels + z * level.slice + y * level.pitch + x * channels * bytes;
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

/// Which plane of the array a point of these coordinates is in.
std::uint64_t plane_of(const Texture& t, std::uint64_t layer) { return t.layered ? std::min(layer, t.depth - 1) : 0; }

Texel fetch(const Texture& t, const TextureLevel& level, std::int64_t x, std::int64_t y, std::int64_t z,
            std::uint64_t plane) {
  std::uint64_t ix = 0, iy = 0, iz = plane;
  bool inside = wrap(x, level.width, mode_of(t, 0), ix);
  if (t.dimensions >= 2) inside = wrap(y, level.height, mode_of(t, 1), iy) && inside;
  if (t.dimensions >= 3) inside = wrap(z, level.depth, mode_of(t, 2), iz) && inside;
  return inside ? read_texel(t, level, ix, iy, iz) : border_of(t);
}

// Linear filtering as an H200 does it (all samples of tests/counters/textures_h200.txt are equal to the bit, but for
// 8-bit signed texels, and those of textures_more_h200.txt but for the corners of seamless cubes): positions are
// rounded to 1/256 of a texel, ties up; the weights of a quad are multiples of 1/256 whose sums along each side are
// exact; the weighted sum is rounded once, ties away from zero, to the texture's own precision.

constexpr int kWeightOne = 256;
constexpr float kFarLevel = 1000;

/// The lower texel and the weight of the upper one.
void split(float coordinate, std::int64_t& index, int& weight) {
  const double fixed = std::floor((static_cast<double>(coordinate) - 0.5) * kWeightOne + 0.5);
  index = static_cast<std::int64_t>(std::floor(fixed / kWeightOne));
  weight = static_cast<int>(fixed - static_cast<double>(index) * kWeightOne);
}

/// Clamped positions have one texel: all weight is on it.
void keep_inside(std::uint64_t size, std::int64_t& index, int& weight) {
  const auto last = static_cast<std::int64_t>(size) - 1;
  if (index >= 0 && index < last) return;
  index = index < 0 ? 0 : last;
  weight = 0;
}

/// Not-a-number samples at 0, infinities far outside; where coordinates repeat, there is no far outside.
float bounded(float c, AddressMode mode) {
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  if (c != c || (repeats && std::isinf(c))) return 0;
  return std::fmax(-1e9f, std::fmin(1e9f, c));
}

/// A coordinate in texels.
float position(const Texture& t, int dimension, float c, std::uint64_t size) {
  const AddressMode mode = mode_of(t, dimension);
  if (!t.normalized_coordinates) return bounded(c, mode);
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  // Far out nothing is left of the fraction; only which repetition it is counts.
  if (repeats && std::fabs(c) > 0x1p23f && std::isfinite(c)) c = std::fmod(c, 2.0f);
  return bounded(c * static_cast<float>(size), mode);
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

using Sums = std::array<double, 4>;

void add_weighted(const Texture& t, const Texel& texel, double factor, Sums& sums) {
  for (unsigned k = 0; k < 4; ++k) sums[k] += factor * unfiltered(t, texel.f[k]);
}

Texel result_of(const Texture& t, const Sums& sums) {
  Texel out;
  for (unsigned k = 0; k < 4; ++k) {
    out.f[k] = filtered(t, sums[k]);
    out.u[k] = std::bit_cast<std::uint32_t>(out.f[k]);
  }
  return out;
}

/// A weight of `whole` steps times x, in steps; ties up.
int part_of(int whole, int x) { return (whole * x + kWeightOne / 2) / kWeightOne; }

/// Weights of the quad (0, 0), (1, 0), (0, 1), (1, 1), which are `whole` together: first its right side, then of each
/// side the corner that is not next to the weight's own (H200: all samples of volumes and between levels that were
/// taken).
std::array<int, 4> quad_weights(int x, int y, int whole) {
  const int right = part_of(whole, x), left = whole - right;
  const int both = part_of(right, y), neither = part_of(left, kWeightOne - y);
  return {neither, right - both, left - neither, both};
}

// --- cubes ---

/// A face of a cube, and where on it (PTX ISA, "Texture Instructions: tex", and OpenGL's table of faces).
struct FacePoint {
  unsigned face = 0;
  float s = 0, t = 0;  ///< 0 to 1 across the face
};

FacePoint face_of(const float* direction) {
  // What is no number counts as 0 (H200).
  float d[3];
  for (int k = 0; k < 3; ++k) d[k] = direction[k] != direction[k] ? 0 : direction[k];
  const float x = std::fabs(d[0]), y = std::fabs(d[1]), z = std::fabs(d[2]);
  FacePoint out;
  float along = 0, s = 0, t = 0;
  if (z >= x && z >= y) {
    out.face = std::signbit(d[2]) ? 5 : 4;
    along = z, s = std::signbit(d[2]) ? -d[0] : d[0], t = -d[1];
  } else if (y >= x) {
    out.face = std::signbit(d[1]) ? 3 : 2;
    along = y, s = d[0], t = std::signbit(d[1]) ? -d[2] : d[2];
  } else {
    out.face = std::signbit(d[0]) ? 1 : 0;
    along = x, s = std::signbit(d[0]) ? d[2] : -d[2], t = -d[1];
  }
  out.s = along == 0 ? 0.5f : (s / along + 1) * 0.5f;
  out.t = along == 0 ? 0.5f : (t / along + 1) * 0.5f;
  return out;
}

/// The direction of a point of a face, in units where the cube reaches from -1 to 1.
void direction_of(unsigned face, double s, double t, double* d) {
  const double u = 2 * s - 1, v = 2 * t - 1;
  switch (face) {
    case 0:
      d[0] = 1, d[1] = -v, d[2] = -u;
      break;
    case 1:
      d[0] = -1, d[1] = -v, d[2] = u;
      break;
    case 2:
      d[0] = u, d[1] = 1, d[2] = v;
      break;
    case 3:
      d[0] = u, d[1] = -1, d[2] = -v;
      break;
    case 4:
      d[0] = u, d[1] = -v, d[2] = 1;
      break;
    default:
      d[0] = -u, d[1] = -v, d[2] = -1;
      break;
  }
}

/// A texel of a cube beside a face: that of the neighbouring face across the edge. False across a corner, where there
/// is none.
bool across_edge(const TextureLevel& level, unsigned& face, std::int64_t& x, std::int64_t& y) {
  const auto n = static_cast<std::int64_t>(level.width);
  const bool off_x = x < 0 || x >= n, off_y = y < 0 || y >= n;
  if (!off_x && !off_y) return true;
  if (off_x && off_y) return false;
  // The point half a texel over the edge, folded onto the neighbouring face.
  double d[3];
  const double size = static_cast<double>(n);
  direction_of(face, (static_cast<double>(x) + 0.5) / size, (static_cast<double>(y) + 0.5) / size, d);
  const unsigned major = face / 2;
  unsigned over = 0;
  for (unsigned k = 0; k < 3; ++k)
    if (k != major && std::fabs(d[k]) > 1) over = k;
  const double beyond = std::fabs(d[over]) - 1;
  d[major] = std::copysign(1 - beyond, d[major]);
  d[over] = std::copysign(1.0, d[over]);
  const float folded[3] = {static_cast<float>(d[0]), static_cast<float>(d[1]), static_cast<float>(d[2])};
  const FacePoint to = face_of(folded);
  face = to.face;
  const auto texel = [&](float c) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(static_cast<double>(c) * size)), 0, n - 1);
  };
  x = texel(to.s), y = texel(to.t);
  return true;
}

/// Adds the filter's sums on a level, of weights that are `whole` together; without a filter, the texel.
void sample_cube(const Texture& t, const TextureLevel& level, const TexturePoint& point, int whole, Sums& sums,
                 Texel* exact) {
  const FacePoint at = face_of(point.at);
  const std::uint64_t first = t.layered ? std::min(point.layer, t.depth / 6 - 1) * 6 : 0;
  const float c[2] = {at.s * static_cast<float>(level.width), at.t * static_cast<float>(level.height)};
  const auto bound = [&](int k) {
    return t.seamless ? bounded(c[k], AddressMode::kClamp) : bounded(c[k], t.address[static_cast<std::size_t>(k)]);
  };
  if (!t.linear_filter) {
    const auto n = static_cast<std::int64_t>(level.width);
    std::int64_t x = static_cast<std::int64_t>(std::floor(bound(0))),
                 y = static_cast<std::int64_t>(std::floor(bound(1)));
    if (t.seamless) x = std::clamp<std::int64_t>(x, 0, n - 1), y = std::clamp<std::int64_t>(y, 0, n - 1);
    *exact = fetch(t, level, x, y, 0, first + at.face);
    return add_weighted(t, *exact, static_cast<double>(whole) / kWeightOne, sums);
  }
  std::int64_t i[2] = {};
  int weight[2] = {};
  for (int k = 0; k < 2; ++k) split(bound(k), i[k], weight[k]);
  const std::array<int, 4> quad = quad_weights(weight[0], weight[1], whole);
  std::array<Texel, 4> texels;
  int missing = -1;
  for (unsigned corner = 0; corner < 4; ++corner) {
    std::int64_t x = i[0] + (corner & 1), y = i[1] + (corner >> 1);
    unsigned face = at.face;
    if (!t.seamless) {
      texels[corner] = fetch(t, level, x, y, 0, first + face);
    } else if (across_edge(level, face, x, y)) {
      texels[corner] = read_texel(t, level, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y), first + face);
    } else {
      missing = static_cast<int>(corner);
    }
  }
  for (unsigned corner = 0; corner < 4; ++corner) {
    if (static_cast<int>(corner) == missing) {
      // Three faces meet there: the mean of their texels stands for the fourth.
      for (unsigned other = 0; other < 4; ++other)
        if (other != corner) add_weighted(t, texels[other], quad[corner] / (3.0 * kWeightOne), sums);
    } else {
      add_weighted(t, texels[corner], static_cast<double>(quad[corner]) / kWeightOne, sums);
    }
  }
}

/// The same for any texture.
void sample_level(const Texture& t, const TextureLevel& level, const TexturePoint& point, int whole, Sums& sums,
                  Texel* exact) {
  if (t.cube) return sample_cube(t, level, point, whole, sums, exact);
  const std::uint64_t sizes[3] = {level.width, level.height, level.depth};
  float c[3] = {};
  for (int d = 0; d < t.dimensions; ++d) c[d] = position(t, d, point.at[d], sizes[d]);
  const std::uint64_t plane = plane_of(t, point.layer);
  if (!t.linear_filter) {
    *exact = fetch(t, level, static_cast<std::int64_t>(std::floor(c[0])), static_cast<std::int64_t>(std::floor(c[1])),
                   static_cast<std::int64_t>(std::floor(c[2])), plane);
    return add_weighted(t, *exact, static_cast<double>(whole) / kWeightOne, sums);
  }
  std::int64_t i[3] = {};
  int weight[3] = {};
  for (int d = 0; d < t.dimensions; ++d) {
    split(c[d], i[d], weight[d]);
    if (mode_of(t, d) == AddressMode::kClamp) keep_inside(sizes[d], i[d], weight[d]);
  }
  // A 1D texture is one row at y = 0: in border mode half of it is border (H200).
  if (t.dimensions == 1 && mode_of(t, 1) == AddressMode::kBorder) split(0, i[1], weight[1]);
  const int far = part_of(whole, weight[2]);
  for (unsigned slice = 0; slice < 2; ++slice) {
    const std::array<int, 4> quad = quad_weights(weight[0], weight[1], slice == 0 ? whole - far : far);
    for (unsigned corner = 0; corner < 4; ++corner) {
      if (quad[corner] == 0) continue;
      const std::int64_t y = i[1] + (corner >> 1);
      const Texel texel =
          t.dimensions == 1 && y != 0 ? border_of(t) : fetch(t, level, i[0] + (corner & 1), y, i[2] + slice, plane);
      add_weighted(t, texel, static_cast<double>(quad[corner]) / kWeightOne, sums);
    }
  }
}

}  // namespace

Texel fetch_texel(const Texture& t, const std::int32_t at[3], std::uint64_t layer, std::size_t level) {
  const bool outside = at[0] < 0 || static_cast<std::uint64_t>(at[0]) >= t.width;
  if ((t.dimensions == 1 && outside) || level >= t.levels()) return Texel{};
  return fetch(t, t.level(level), at[0], at[1], at[2], plane_of(t, layer));
}

Texel sample_texture(const Texture& t, const TexturePoint& point, float level) {
  // Levels count 1/256; what is between two is cut off, of each part alone (H200).
  const auto fixed = [](float v) {
    if (v != v) return 0;
    return static_cast<int>(std::trunc(std::fmin(std::fmax(v, -kFarLevel), kFarLevel) * kWeightOne));
  };
  int lod = fixed(level) + fixed(t.level_bias);
  lod = std::min(std::max(lod, fixed(t.level_min)), fixed(t.level_max));
  lod = std::min(std::max(lod, 0), static_cast<int>(t.levels() - 1) * kWeightOne);
  auto lower = static_cast<std::size_t>(lod / kWeightOne);
  const int weight = lod % kWeightOne;
  if (!t.linear_levels && weight >= kWeightOne / 2) ++lower;
  Texel exact;
  Sums sums{};
  const int upper = t.linear_levels ? weight : 0;
  sample_level(t, t.level(lower), point, kWeightOne - upper, sums, &exact);
  if (upper != 0) sample_level(t, t.level(lower + 1), point, upper, sums, &exact);
  return t.linear_filter || upper != 0 ? result_of(t, sums) : exact;
}

Texel gather_texels(const Texture& t, const TexturePoint& point, unsigned component) {
  std::int64_t i[2] = {};
  int weight[2] = {};
  const std::uint64_t sizes[2] = {t.width, t.height};
  for (int d = 0; d < 2; ++d) {
    split(position(t, d, point.at[d], sizes[d]), i[d], weight[d]);
  }
  static constexpr int kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel out;
  for (unsigned k = 0; k < 4; ++k) {
    const Texel texel = fetch(t, t, i[0] + kOrder[k][0], i[1] + kOrder[k][1], 0, plane_of(t, point.layer));
    out.f[k] = texel.f[component];
    out.u[k] = texel.u[component];
  }
  return out;
}

}  // namespace muscope::exec
