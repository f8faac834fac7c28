#include "exec/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "code/texture_form.h"
#include "exec/special_unit.h"
#include "exec/texture_ops.h"
#include "exec/texture_sample.h"
#include "exec/translate.h"
#include "model/texture.h"

namespace muscope::exec {
namespace {

using code::TextureForm;
using Kind = TextureForm::Kind;

constexpr std::size_t kResults = 4;

/// Direction over its largest component, as ptxas has it done: by the special function unit's reciprocal.
void divide_direction(float* d) {
  const float largest = std::fmax(std::fmax(std::fabs(d[0]), std::fabs(d[1])), std::fabs(d[2]));
  const float factor = std::bit_cast<float>(MUSCOPE_ISA::special::reciprocal(std::bit_cast<std::uint32_t>(largest)));
  for (int k = 0; k < 3; ++k) d[k] *= factor;
}

/// Why an instruction cannot be executed on this texture; null when it can.
const char* obstacle(const Texture& t, const TextureForm& form, bool texels, bool machine_code) {
  if (form.kind == Kind::kGradient && t.anisotropic) return "anisotropic filtering of gradients";
  if (form.kind == Kind::kGradient && t.levels() > 1) return "gradients on a texture of several levels";
  if (t.levels() > 1 && !t.normalized_coordinates && !texels)
    return "coordinates in texels on a texture of several levels";
  if ((form.dimensions == 4) != t.cube) return "a fetch of a cube from another texture, or the reverse";
  const int dimensions = form.dimensions == 4 ? 2 : form.dimensions;
  // In machine code a row is a plane at y = 0.
  const bool row = machine_code && dimensions == 2 && t.dimensions == 1;
  if (dimensions != t.dimensions && !row)
    return "a fetch with another number of coordinates than the texture has dimensions";
  return nullptr;
}

}  // namespace

trace::Kind texture_kind(const code::Op& op) {
  const bool texels = op.type2 == ptx::Type::kS32 || TextureForm::unpack(op.matrix).kind == Kind::kGather;
  return texels ? trace::Kind::kLoad : trace::Kind::kSample;
}

const XOp* run_texture(Warp& w, const XOp* op) {
  const code::Op& source = *op->source;
  const TextureForm form = TextureForm::unpack(source.matrix);
  const unsigned along = form.dimensions == 4 ? 3 : form.dimensions;
  const code::Place* place = source.list.data() + kResults;
  const bool texels = source.type2 == ptx::Type::kS32;
  std::shared_ptr<const Texture> texture;
  std::uint64_t current = 0;
  bool wide = true;  // no lane's texture is fetched from by quads
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t handle = object_handle(w, op, l);
    if (!texture || handle != current) {
      texture = find_texture(handle);
      current = handle;
      if (!texture)
        return raise(w, op, Outcome::kIllegalAddress, "D615",
                     "texture fetch through a handle that is no texture object",
                     "was the texture object destroyed, or never created?");
      if (const char* what = obstacle(*texture, form, texels, op->sass != nullptr))
        return raise(w, op, Outcome::kUnsupported, "D609", std::string("muscope cannot execute ") + what,
                     "see `muscope explain D609`");
      const auto components = static_cast<unsigned>(4 - std::ranges::count(texture->channel_bits, 0));
      wide = wide && model::lanes_per_fetch_request(texels && texture->linear_array, components,
                                                    texture->channel_bits[0]) == model::kLanesPerWideRequest;
    }
    const auto word = [&](std::size_t n) { return w.src<std::uint32_t>(place[n].bits)[l]; };
    const auto number = [&](std::size_t n) { return std::bit_cast<float>(word(n)); };
    std::size_t n = 0;
    TexturePoint point;
    std::int32_t integer[3] = {};
    if (form.layered) point.layer = word(n++);
    for (unsigned d = 0; d < along; ++d, ++n) {
      point.at[d] = number(n);
      integer[d] = static_cast<std::int32_t>(word(n));
    }
    if (form.dimensions == 4 && !form.divided) divide_direction(point.at);
    Texel texel;
    if (texels) {
      texel = fetch_texel(*texture, integer, point.layer, form.kind == Kind::kLevel ? word(n) : 0);
    } else if (form.kind == Kind::kGather) {
      texel = gather_texels(*texture, point, form.component);
    } else {
      // Gradients choose among levels, of which there is one.
      const float level = form.kind == Kind::kLevel ? number(n) : kNoLevel;
      texel = sample_texture(*texture, point, level);
    }
    for (unsigned k = 0; k < kResults; ++k)
      if (source.list[k].exists()) w.dst<std::uint32_t>(source.list[k].bits)[l] = texel.u[k];
  }
  if (w.worker->sink) {
    trace::WarpAccess access;
    access.site = op->site;
    access.space = trace::Space::kTexture;
    access.kind = texture_kind(source);
    access.request_lanes = static_cast<std::uint8_t>(wide ? model::kLanesPerWideRequest : model::kLanesPerQuad);
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

const XOp* run_size_query(Warp& w, const XOp* op) {
  const code::Op& source = *op->source;
  if (source.list.empty() || !source.list[0].exists()) return op + 1;
  const TextureForm form = TextureForm::unpack(source.matrix);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t handle = object_handle(w, op, l);
    const std::uint32_t asked = op->b == kNoPlace ? 0 : w.src<std::uint32_t>(op->b)[l];
    std::uint64_t sizes[3] = {};
    if (const auto texture = find_texture(handle)) {
      if (asked < texture->levels()) {
        const TextureLevel& level = texture->level(asked);
        sizes[0] = level.width;
        sizes[1] = level.height;
        if (texture->dimensions == 3 || (texture->layered && !texture->cube)) sizes[2] = level.depth;
      }
    } else if (const auto surface = find_surface(handle)) {
      sizes[0] = surface->width;
      if (surface->dimensions > 1) sizes[1] = surface->height;
      if (surface->dimensions > 2 || surface->layered) sizes[2] = surface->depth;
    } else {
      return raise(w, op, Outcome::kIllegalAddress, "D615", "a query of a handle that is no texture or surface object",
                   "was the object destroyed, or never created?");
    }
    w.dst<std::uint32_t>(source.list[0].bits)[l] = static_cast<std::uint32_t>(sizes[form.component]);
  }
  return op + 1;
}

const XOp* run_kind_test(Warp& w, const XOp* op) {
  const std::uint64_t* handles = w.src<std::uint64_t>(op->a);
  GroupMask kind = 0;
  for (unsigned l = 0; l < kGroupLanes; ++l) kind |= static_cast<GroupMask>((handles[l] >> op->offset) & 1) << l;
  std::uint32_t& predicate = *w.dst<std::uint32_t>(op->dst);
  predicate = (predicate & ~w.active) | (kind & w.active);
  return op + 1;
}

}  // namespace muscope::exec
