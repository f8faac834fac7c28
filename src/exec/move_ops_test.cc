// mov, packing and unpacking, address space conversion.
#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

std::vector<Row> rows() {
  std::vector<Row> r;
  for (const char* t : {"b16", "u16", "s16"}) r.push_back(row(std::string("mov.") + t, [](u16 a) -> u16 { return a; }));
  for (const char* t : {"b32", "u32", "s32", "f32"})
    r.push_back(row(std::string("mov.") + t, [](u32 a) -> u32 { return a; }));
  for (const char* t : {"b64", "u64", "s64", "f64"})
    r.push_back(row(std::string("mov.") + t, [](u64 a) -> u64 { return a; }));
  r.push_back(row("mov.pred", [](bool a) -> bool { return a; }));
  r.push_back(row("mov.u16 %d, -1", []() -> u16 { return 0xffff; }));
  r.push_back(row("mov.f32 %d, 0d3FF8000000000000", []() -> u32 { return 0x3fc00000; }));
  // ptxas takes the bits as they are.
  r.push_back(row("mov.f64 %d, 0f3FC00000", []() -> u64 { return 0x3fc00000ull; }));
  r.push_back(row("mov.b64 %d, {%a, %b}", [](u32 a, u32 b) -> u64 { return a | u64{b} << 32; }));
  r.push_back(row("mov.b64 %d, {%a, 7}", [](u32 a) -> u64 { return a | u64{7} << 32; }));
  r.push_back(row("mov.b32 %d, {%a, %b}", [](u16 a, u16 b) -> u32 { return a | static_cast<u32>(b) << 16; }));
  r.push_back(row("mov.b64 %d, {%a, %b, %c, %e}",
                  [](u16 a, u16 b, u16 c, u16 e) -> u64 { return a | u64{b} << 16 | u64{c} << 32 | u64{e} << 48; }));
  r.push_back(row("mov.b64 {%rx, %d}, %a", [](u64 a) -> u32 { return static_cast<u32>(a >> 32); }));
  r.push_back(row("mov.b64 {%d, _}, %a", [](u64 a) -> u32 { return static_cast<u32>(a); }));
  r.push_back(row("mov.b32 {%hx, %d}, %a", [](u32 a) -> u16 { return static_cast<u16>(a >> 16); }));
  r.push_back(row("mov.b64 {_, _, %d, _}, %a", [](u64 a) -> u16 { return static_cast<u16>(a >> 32); }));
  // Swapping halves in place.
  r.push_back(row("mov.b64 {%rx, %ry}, %a; mov.b64 %d, {%ry, %rx}", [](u64 a) -> u64 { return a >> 32 | a << 32; }));
  return r;
}

MUSCOPE_OPCODE_ROWS(MoveOps, rows());

}  // namespace
}  // namespace muscope::exec::testing
