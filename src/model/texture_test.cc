// Requests and sectors of textures and surfaces, against launches of tests/counters/kernels/textures_h200.csv.
#include "model/texture.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace muscope::model {
namespace {

TEST(TextureCases, GroupsOfFourAndEight) {
  EXPECT_EQ(count_texture_requests(kAllLanes, 4), 8u);
  EXPECT_EQ(count_texture_requests(GroupMask{0}, 4), 0u);
  EXPECT_EQ(count_texture_requests(GroupMask{0x80000001}, 4), 2u);
  EXPECT_EQ(count_texture_requests(GroupMask{0x0000000f}, 4), 1u);
  EXPECT_EQ(count_texture_requests(GroupMask{0x00000018}, 4), 2u);
  EXPECT_EQ(count_texture_requests(GroupMask{0x00000018}, 8), 1u);
  EXPECT_EQ(count_texture_requests(kAllLanes, 8), 4u);
  EXPECT_EQ(count_texture_requests(GroupMask{0x80000180}, 8), 3u);
  EXPECT_EQ(lanes_per_surface_request(1, false), 8u);
  EXPECT_EQ(lanes_per_surface_request(2, false), 8u);
  EXPECT_EQ(lanes_per_surface_request(3, false), 4u);
  EXPECT_EQ(lanes_per_surface_request(1, true), 4u);
  EXPECT_EQ(lanes_per_fetch_request(true, 1, 32), 8u);
  EXPECT_EQ(lanes_per_fetch_request(true, 4, 32), 4u);
  EXPECT_EQ(lanes_per_fetch_request(false, 1, 32), 4u);
}

/// One warp of the launches of textures_h200.csv, 64 x 64 elements.
SurfaceCounts surface_of(unsigned bytes, trace::Kind kind, unsigned lanes_per_request,
                         const std::function<std::array<unsigned, 2>(unsigned)>& place, GroupMask mask = kAllLanes) {
  std::array<std::uint64_t, kGroupLanes> at{};
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) {
    const auto [x, y] = place(lane);
    at[lane] = surface_offset(x * bytes, y, 0, 64 * bytes, 64);
  }
  trace::WarpAccess access;
  access.space = trace::Space::kSurface;
  access.kind = kind;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.request_lanes = static_cast<std::uint8_t>(lanes_per_request);
  access.addresses = at.data();
  access.mask = mask;
  return count_surface(access);
}

TEST(SurfaceCases, TilesOfSixteenBytesByTwoRows) {
  using Place = std::array<unsigned, 2>;
  using enum trace::Kind;
  // Half of what two warps gave: launches 1, 10, 14, 34, 43, 57 and 114.
  EXPECT_EQ(surface_of(4, kLoad, 8, [](unsigned l) { return Place{l, 0}; }), (SurfaceCounts{4, 8, 4}));
  EXPECT_EQ(surface_of(4, kLoad, 8, [](unsigned l) { return Place{0, l}; }), (SurfaceCounts{4, 16, 4}));
  EXPECT_EQ(surface_of(4, kLoad, 8, [](unsigned l) { return Place{l % 4, l / 4}; }), (SurfaceCounts{4, 4, 4}));
  EXPECT_EQ(surface_of(1, kLoad, 8, [](unsigned l) { return Place{l, 0}; }), (SurfaceCounts{4, 4, 4}));
  EXPECT_EQ(surface_of(1, kStore, 8, [](unsigned l) { return Place{0, l}; }), (SurfaceCounts{4, 16, 4}));
  EXPECT_EQ(surface_of(16, kLoad, 8, [](unsigned l) { return Place{l, 0}; }), (SurfaceCounts{4, 32, 16}));
  EXPECT_EQ(surface_of(4, kLoad, 4, [](unsigned l) { return Place{l % 8, l / 8}; }), (SurfaceCounts{8, 8, 8}));
  // Launches 142 and 21: lanes that add to one element are served one by one; five lanes are in one request.
  EXPECT_EQ(surface_of(4, kRed, 8, [](unsigned) { return Place{5, 0}; }), (SurfaceCounts{4, 32, 4}));
  EXPECT_EQ(surface_of(4, kStore, 8, [](unsigned) { return Place{5, 0}; }), (SurfaceCounts{4, 4, 4}));
  EXPECT_EQ(surface_of(4, kStore, 8, [](unsigned l) { return Place{l, 0}; }, 0x1f), (SurfaceCounts{1, 2, 1}));
}

TEST(SurfaceCases, LanesOutsideTouchNothing) {
  trace::WarpAccess access;
  std::array<std::uint64_t, kGroupLanes> at;
  at.fill(kNoSurfaceElement);
  at[9] = surface_offset(4, 3, 1, 256, 64);
  access.request_lanes = 8;
  access.addresses = at.data();
  access.mask = kAllLanes;
  EXPECT_EQ(count_surface(access), (SurfaceCounts{4, 1, 1}));
}

}  // namespace
}  // namespace muscope::model
