// Rows of the metric table: texture fetches and accesses of surfaces.
#include "report/metric_formulas.h"
#include "report/metric_tables.h"

namespace muscope::report {
namespace {

using namespace formulas;
using enum MetricGroup;
using enum Aggregation;
using enum GradeRule;
using A = AccessSums;

constexpr AccessClass kTex = in(Space::kTexture), kTexLoad = in(Space::kTexture, Kind::kLoad),
                      kTexSample = in(Space::kTexture, Kind::kSample);
constexpr AccessClass kSurf = in(Space::kSurface), kSurfLoad = in(Space::kSurface, Kind::kLoad),
                      kSurfStore = in(Space::kSurface, Kind::kStore), kSurfRed = in(Space::kSurface, Kind::kRed);
constexpr AccessClass kBoth = {static_cast<std::uint8_t>(bit(Space::kTexture) | bit(Space::kSurface)), kEveryKind};

constexpr MetricRow kRows[] = {
    {"smsp__inst_executed_op_texture.sum", "inst_executed_tex_ops", "inst", "warp instructions: texture fetches",
     "executions", kTexture, kAdditive, kExecuted, total<kTex, &A::executed>},
    {"l1tex__t_requests_pipe_tex.sum", "", "request", "requests of texture fetches and accesses of surfaces",
     "their sum", kTexture, kAdditive, kTextureRule, total<kBoth, &A::requests>},
    {"l1tex__t_requests_pipe_tex_mem_texture.sum", "texture_load_requests", "request", "texture requests",
     "quads (four neighbouring lanes) with an active lane, summed over fetches; tex1Dfetch of one 32-bit component "
     "takes eight lanes",
     kTexture, kAdditive, kTextureRule, total<kTex, &A::requests>},
    {"l1tex__t_requests_pipe_tex_mem_texture_op_ld.sum", "", "request",
     "texture requests: fetches of texels by number (tex1Dfetch) and gathers", "those of TLD and TLD4", kTexture,
     kAdditive, kTextureRule, total<kTexLoad, &A::requests>},
    {"l1tex__t_requests_pipe_tex_mem_texture_op_tex.sum", "", "request", "texture requests: all other fetches",
     "those of TEX and TXD", kTexture, kAdditive, kTextureRule, total<kTexSample, &A::requests>},
    {"smsp__inst_executed_op_surface_ld.sum", "inst_executed_surface_loads", "inst", "warp instructions: surface loads",
     "executions", kTexture, kAdditive, kExecuted, total<kSurfLoad, &A::executed>},
    {"smsp__inst_executed_op_surface_st.sum", "inst_executed_surface_stores", "inst",
     "warp instructions: surface stores", "executions", kTexture, kAdditive, kExecuted,
     total<kSurfStore, &A::executed>},
    {"smsp__inst_executed_op_surface_red.sum", "inst_executed_surface_reductions", "inst",
     "warp instructions: surface reductions", "executions", kTexture, kAdditive, kExecuted,
     total<kSurfRed, &A::executed>},
    {"l1tex__t_requests_pipe_tex_mem_surface.sum", "", "request", "requests of all accesses of surfaces",
     "groups of eight neighbouring lanes with an active one (volumes and layers: of four), summed", kTexture, kAdditive,
     kSurfaceRule, total<kSurf, &A::requests>},
    {"l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum", "", "request", "requests of surface loads",
     "groups of eight neighbouring lanes with an active one (volumes and layers: of four), summed", kTexture, kAdditive,
     kSurfaceRule, total<kSurfLoad, &A::requests>},
    {"l1tex__t_requests_pipe_tex_mem_surface_op_st.sum", "", "request", "requests of surface stores",
     "groups of eight neighbouring lanes with an active one (volumes and layers: of four), summed", kTexture, kAdditive,
     kSurfaceRule, total<kSurfStore, &A::requests>},
    {"l1tex__t_requests_pipe_tex_mem_surface_op_red.sum", "", "request", "requests of surface reductions",
     "groups of eight neighbouring lanes with an active one (volumes and layers: of four), summed", kTexture, kAdditive,
     kSurfaceRule, total<kSurfRed, &A::requests>},
    {"l1tex__t_sectors_pipe_tex_mem_surface.sum", "", "sector", "32-byte sectors of all accesses of surfaces",
     "distinct tiles of 16 bytes by two rows of each request, summed; reductions: lanes that meet in one element count "
     "each",
     kTexture, kAdditive, kSurfaceRule, total<kSurf, &A::sectors>},
    {"l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum", "", "sector", "32-byte sectors of surface loads",
     "distinct tiles of 16 bytes by two rows of each request, summed", kTexture, kAdditive, kSurfaceRule,
     total<kSurfLoad, &A::sectors>},
    {"l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum", "", "sector", "32-byte sectors of surface stores",
     "distinct tiles of 16 bytes by two rows of each request, summed", kTexture, kAdditive, kSurfaceRule,
     total<kSurfStore, &A::sectors>},
    {"l1tex__t_sectors_pipe_tex_mem_surface_op_red.sum", "", "sector", "32-byte sectors of surface reductions",
     "distinct tiles of 16 bytes by two rows of each request, as often as lanes meet in one element, summed", kTexture,
     kAdditive, kSurfaceRule, total<kSurfRed, &A::sectors>},
    {"l1tex__t_bytes_pipe_tex_mem_surface.sum", "", "byte", "bytes of these sectors: all accesses of surfaces",
     "32 x sectors", kTexture, kAdditive, kSurfaceRule, total<kSurf, &A::sectors, 32>},
};

}  // namespace

std::span<const MetricRow> texture_metric_rows() { return kRows; }

}  // namespace muscope::report
