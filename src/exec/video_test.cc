// Video instructions against an H200: results that one gave for operands of tests/conformance.
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

struct Case {
  const char* text;  ///< with or without operands: "vadd.s32.u32.s32 %d, %a.b0, %b, %c"
  std::array<std::uint32_t, 3> in;
  std::uint32_t want;
};

/// Runs the instruction in one thread.
std::uint32_t result_of(const Case& c) {
  Machine m;
  std::string text = c.text;
  if (text.find(' ') == std::string::npos) {
    const bool packed = text.find_first_of("24") < text.find('.');
    const bool third = packed || text.starts_with("vmad") || text.ends_with(".add") || text.ends_with(".min") ||
                       text.ends_with(".max");
    text += third ? " %d, %a, %b, %c" : " %d, %a, %b";
  }
  std::string body = ".visible .entry k(.param .u64 out) { .reg .b32 %a, %b, %c, %d; .reg .b64 %o;\n";
  body += "ld.param.u64 %o, [out]; ld.global.b32 %a, [%o]; ld.global.b32 %b, [%o+4]; ld.global.b32 %c, [%o+8];\n";
  m.load(body + text + "; st.global.b32 [%o+12], %d; ret; }");
  const std::uint64_t data = m.upload(std::vector<std::uint32_t>{c.in[0], c.in[1], c.in[2], 0});
  m.run_ok("k", {1, 1, 1}, {1, 1, 1}, data);
  return m.read<std::uint32_t>(data + 12);
}

TEST(Video, ResultsAreThoseOfAnH200) {
  const Case cases[] = {
      {"vadd.s32.u32.s32.sat", {0xe592d155u, 0x4b80f52u, 0x0u}, 0x7fffffffu},
      {"vadd.s32.u32.s32.sat", {0x160u, 0x3fc0e95eu, 0x0u}, 0x3fc0eabeu},
      {"vadd.s32.u32.s32.sat", {0x6a000001u, 0xfffffff2u, 0x0u}, 0x69fffff3u},
      {"vadd.u32.u32.u32.sat", {0xaa4517f4u, 0x55bae809u, 0x0u}, 0xfffffffdu},
      {"vadd.u32.u32.u32.sat", {0xffffa250u, 0x127fffffu, 0x0u}, 0x127fa24fu},
      {"vadd.u32.u32.u32.sat", {0x27ded34eu, 0xffff9d56u, 0x0u}, 0x27de70a4u},
      {"vsub.u32.s32.u32.sat", {0xfffffdceu, 0xa5e3ffffu, 0x0u}, 0x0u},
      {"vsub.u32.s32.u32.sat", {0xc5aae6cau, 0xffffd25cu, 0x0u}, 0x0u},
      {"vsub.u32.s32.u32.sat", {0x97d2cb0fu, 0x97d2cb10u, 0x0u}, 0x0u},
      {"vabsdiff.s32.s32.u32.min", {0x0u, 0x1u, 0x74987u}, 0x1u},
      {"vabsdiff.s32.s32.u32.min", {0x28bc0000u, 0xd55858f8u, 0xf7b36acau}, 0xf7b36acau},
      {"vabsdiff.s32.s32.u32.min", {0x7b618af8u, 0x9723fd6cu, 0xcu}, 0xcu},
      {"vadd.u32.s32.u32.min", {0x14cbu, 0x6a4du, 0x835a1a53u}, 0x7f18u},
      {"vadd.u32.s32.u32.min", {0xf527c774u, 0xfffffd1au, 0xc580d001u}, 0xc580d001u},
      {"vadd.u32.s32.u32.min", {0x1a07ca76u, 0xfffffffeu, 0x5764b001u}, 0x1a07ca74u},
      {"vmin.s32.s32.u32.max", {0x5262384bu, 0xad9dc7b5u, 0x659c58c0u}, 0x659c58c0u},
      {"vmin.s32.s32.u32.max", {0x1ecu, 0xe8u, 0x78800001u}, 0x78800001u},
      {"vmin.s32.s32.u32.max", {0x2b33cb21u, 0x22000001u, 0x77ffffffu}, 0x77ffffffu},
      {"vshl.u32.u32.u32.sat.wrap", {0x151ae245u, 0x21u, 0x0u}, 0x2a35c48au},
      {"vshl.u32.u32.u32.sat.wrap", {0x1d18u, 0x11u, 0x0u}, 0x3a300000u},
      {"vshl.u32.u32.u32.sat.wrap", {0x65046bbu, 0x26u, 0x0u}, 0xffffffffu},
      {"vshr.s32.s32.u32.clamp", {0x27788fbau, 0x25u, 0x0u}, 0x0u},
      {"vshr.s32.s32.u32.clamp", {0xfffffebbu, 0x19u, 0x0u}, 0xffffffffu},
      {"vshr.s32.s32.u32.clamp", {0xffffffdbu, 0x1fu, 0x0u}, 0xffffffffu},
      {"vmad.s32.s32.s32.sat.shr7", {0x1cad5fd5u, 0x607c33d2u, 0x749f54afu}, 0x7fffffffu},
      {"vmad.s32.s32.s32.sat.shr7", {0xfffffff1u, 0x40000001u, 0x8bb2f35bu}, 0xf79765e6u},
      {"vmad.s32.s32.s32.sat.shr7", {0x116a893cu, 0xa4u, 0x1c76bbu}, 0x1650b8c2u},
      {"vmad.u32.u32.u32.sat", {0xa389ffffu, 0x248946b2u, 0x49800000u}, 0x0u},
      {"vmad.u32.u32.u32.sat", {0xfff1a68cu, 0xfff1a68eu, 0xfafff4adu}, 0xffffffffu},
      {"vmad.u32.u32.u32.sat", {0x124u, 0xa1c23bfbu, 0xe476cd84u}, 0x0u},
      {"vmad.u32.u32.u32.sat.shr15", {0xffffd122u, 0xdb6fa3b2u, 0x9526444bu}, 0xd6275d8u},
      {"vmad.u32.u32.u32.sat.shr15", {0x735fdu, 0xffu, 0xeb080000u}, 0xffffffffu},
      {"vmad.u32.u32.u32.sat.shr15", {0xffffff96u, 0xf289cdc1u, 0x955d7fffu}, 0xa509cu},
      {"vmad.u32.u32.u32.po", {0xfffc83eeu, 0xffffffffu, 0xde6d1e8cu}, 0xde709a9fu},
      {"vmad.u32.u32.u32.po", {0x0u, 0xfa71a68eu, 0x1d1c47d4u}, 0x1d1c47d5u},
      {"vmad.u32.u32.u32.po", {0x71ab9eb1u, 0x71ab9eb1u, 0x7ad80000u}, 0x1facf662u},
      {"vset.s32.u32.lt", {0xb009c17u, 0x6d1781ffu, 0x0u}, 0x1u},
      {"vset.s32.u32.lt", {0x1325783bu, 0xecda87c2u, 0x0u}, 0x1u},
      {"vset.s32.u32.lt", {0x95cf3868u, 0x95cf3868u, 0x0u}, 0x1u},
      {"vadd2.s32.s32.u32.sat", {0xa5844473u, 0x167fffffu, 0x7d81c8u}, 0xbc037fffu},
      {"vadd2.s32.s32.u32.sat", {0xfffa047eu, 0xe1d32b40u, 0xa7ffffffu}, 0x7fff2fbeu},
      {"vadd2.s32.s32.u32.sat", {0xfffffffcu, 0x47ffffffu, 0x92au}, 0x47fe7fffu},
      {"vavrg2.u32.s32.u32", {0xffffff92u, 0xf572c081u, 0x65afu}, 0x7ab9600au},
      {"vavrg2.u32.s32.u32", {0x76bdffffu, 0xacfdd642u, 0xffffa567u}, 0x91dd6b21u},
      {"vavrg2.u32.s32.u32", {0x735fdu, 0xffu, 0xeb080000u}, 0x41b7eu},
      {"vavrg4.s32.s32.s32", {0x6f8f3fc6u, 0x25d7fu, 0x2e50du}, 0x38c84e23u},
      {"vavrg4.s32.s32.s32", {0xb1a3f7ffu, 0x273u, 0x19fb9cbu}, 0xd8d1fc39u},
      {"vavrg4.s32.s32.s32", {0x22000001u, 0xddfffffdu, 0x61c85165u}, 0xffffffffu},
      {"vabsdiff4.u32.u32.u32.add", {0xff7d091du, 0xffff27dfu, 0xc557f291u}, 0xc557f3f3u},
      {"vabsdiff4.u32.u32.u32.add", {0x84a0ceeu, 0xd0000001u, 0x113u}, 0x31eu},
      {"vabsdiff4.u32.u32.u32.add", {0x2dde7c3fu, 0x300100fu, 0x2fu}, 0x1d3u},
      {"vmin4.s32.s32.u32", {0x5e986u, 0xfffa167bu, 0x9c000000u}, 0x5e986u},
      {"vmin4.s32.s32.u32", {0xffffff2fu, 0x6563293u, 0xbb95eu}, 0xffffff2fu},
      {"vmin4.s32.s32.u32", {0xe1df444bu, 0x88363c2du, 0x70f899efu}, 0xe1df3c2du},
      {"vsub4.u32.u32.s32.sat", {0xfea4d510u, 0xf0ee8c91u, 0x48b196fdu}, 0xffb6ff7fu},
      {"vsub4.u32.u32.s32.sat", {0x4d90a3a3u, 0xffd01e1au, 0xc0000001u}, 0x4ec08589u},
      {"vsub4.u32.u32.s32.sat", {0xb800001u, 0x892bf20cu, 0x7dd4582au}, 0x82550e00u},
      {"vmax2.s32.u32.s32.add", {0xfdau, 0xfdbu, 0xffffdda4u}, 0xffffed7fu},
      {"vmax2.s32.u32.s32.add", {0xc1aae101u, 0xffffd265u, 0x1dd5c9c9u}, 0x1dd76c74u},
      {"vmax2.s32.u32.s32.add", {0xfff823b2u, 0x21cd32bu, 0x13d951c0u}, 0x13da756au},
      {"vset4.u32.s32.ge", {0xff072525u, 0xbde00000u, 0x3559f90du}, 0x1010101u},
      {"vset4.u32.s32.ge", {0xc14ed56eu, 0xdcb63d13u, 0xdce97064u}, 0x1010101u},
      {"vset4.u32.s32.ge", {0xfe913d71u, 0x4f88a282u, 0x3e93d64cu}, 0x1010101u},
      {"vset2.u32.u32.lt.add", {0xe6393e0au, 0x19c6c1f5u, 0xdede0001u}, 0xdede0002u},
      {"vset2.u32.u32.lt.add", {0x61c31e81u, 0x0u, 0x4fau}, 0x4fau},
      {"vset2.u32.u32.lt.add", {0xd8c00000u, 0xe4744ba4u, 0xe99fffffu}, 0xe9a00001u},
      // Parts of registers.
      {"vadd.s32.s32.u32.sat %d, %a.b0, %b.h1", {0xffffffeeu, 0xab5c4436u, 0x0u}, 0xab4au},
      {"vadd.s32.s32.u32.sat %d, %a.b0, %b.h1", {0x30800000u, 0x4u, 0x0u}, 0x0u},
      {"vmax.s32.u32.s32.sat %d, %a.b3, %b.b1", {0xffffff79u, 0xfffffff1u, 0x0u}, 0xffu},
      {"vmax.s32.u32.s32.sat %d, %a.b3, %b.b1", {0x59u, 0x5bu, 0x0u}, 0x0u},
      {"vsub.s32.s32.s32.sat %d, %a.h1, %b.b2", {0x773b31d4u, 0x88c4ce2au, 0x0u}, 0x7777u},
      {"vsub.s32.s32.s32.sat %d, %a.h1, %b.b2", {0x757d9068u, 0x757d9068u, 0x0u}, 0x7500u},
      {"vadd.s32.s32.u32 %d.b0, %a, %b, %c", {0x28bc0000u, 0xd55858f8u, 0xf7b36acau}, 0xf7b36af8u},
      {"vadd.s32.s32.u32 %d.b0, %a, %b, %c", {0xffeee754u, 0x1fa4475bu, 0xf7600c27u}, 0xf7600cafu},
      {"vsub.s32.s32.u32 %d.b3, %a, %b, %c", {0x1053a527u, 0x1053a525u, 0x7dd64000u}, 0x2d64000u},
      {"vsub.s32.s32.u32 %d.b3, %a, %b, %c", {0xc3af46c9u, 0xfffffac4u, 0xff59f493u}, 0x559f493u},
      {"vadd.s32.s32.u32 %d.h1, %a, %b, %c", {0x30cf8c28u, 0xffc600a0u, 0xb0000001u}, 0x30950001u},
      {"vadd.s32.s32.u32 %d.h1, %a, %b, %c", {0x54819000u, 0xacd88001u, 0xc7c77fffu}, 0x15a7fffu},
  };
  for (const Case& c : cases)
    EXPECT_EQ(result_of(c), c.want) << c.text << std::hex << " " << c.in[0] << " " << c.in[1] << " " << c.in[2];
}

TEST(Video, WhatTheManualLeavesOpenIsAsPtxasHasIt) {
  // The first source's sign counts in the second operation of vset.
  EXPECT_EQ(result_of({"vset.s32.u32.lt.min", {0, 0, 0xffffffffu}, 0}), 0xffffffffu);
  EXPECT_EQ(result_of({"vset.u32.s32.lt.min", {0, 1, 0xffffffffu}, 0}), 1u);
  // A shift that goes to a part is saturated to 32 bits, a sum to the part.
  EXPECT_EQ(result_of({"vshl.u32.u32.u32.sat.clamp %d.b1, %a, %b, %c", {0x12345678u, 0, 0}, 0}), 0x7800u);
  EXPECT_EQ(result_of({"vadd.u32.u32.u32.sat %d.b1, %a, %b, %c", {0x12345678u, 0, 0}, 0}), 0xff00u);
  EXPECT_EQ(result_of({"vmin.s32.s32.s32.sat %d.b2, %a, %b, %c", {0xffffffffu, 0, 0}, 0}), 0x7f0000u);
}

TEST(Video, FactorsMayBeNegatedInMultiplications) {
  EXPECT_EQ(result_of({"vmad.s32.s32.s32 %d, %a, -%b, %c", {7, 5, 100}, 0}), 65u);
  EXPECT_EQ(result_of({"vmad.s32.s32.s32 %d, -%a, -%b, %c", {7, 5, 100}, 0}), 135u);
  EXPECT_EQ(result_of({"vmad.s32.s32.s32 %d, %a, %b, -%c", {7, 5, 100}, 0}), 0xffffffbfu);
}

}  // namespace
}  // namespace muscope::exec::testing
