// Relocations of a cubin: which bits of an instruction or a data word wait for the address of a symbol.
//
// ptxas leaves them open where it cannot know a place: all addresses of globals and of other functions in relocatable
// code
// (-rdc=true), the address tables in constant bank 4, pointers in initialised data. Calls and jumps within one section,
// and everything of a kernel with its device functions compiled in one go, need none: such code is position independent
// (CALL.REL, RET.REL with return addresses relative to the section's start, branch tables relative to the section).
//
// Forms seen from ptxas and nvlink 13.0 for sm_75 to sm_120, names as in nvlink's messages. Bits count within the
// 128-bit instruction (or the data word); the field was found by comparing words before and after nvlink resolved them,
// and for calls by changing single bits of a word and reading the disassembler's target. S: address or value of the
// symbol, A: addend.
//
//   0x02 64               data    all 64 bits = S + A           address tables (bank 4), function addresses in data
//   0x04 G64              data    all 64 bits = S + A           pointers to globals in initialised data
//   0x01, 0x03 32, G32    data    all 32 bits = S + A
//   0x46, 0x47 32_LO, 32_HI   data  32 bits = low, high half of S + A
//   0x38, 0x39 ABS32_LO_32, ABS32_HI_32   code  bits 32..63 = low, high half of S + A       MOV, UMOV, IADD3 immediates
//   0x37, 0x3b, 0x3c ABS32_32, ABS16_32, ABS24_32   code  32, 16, 24 bits from bit 32 on = S + A
//   0x4a ABS24_40         code    bits 40..63 = S + A           offset of a memory instruction
//   0x64 ABS20_44         code    bits 44..63 = S + A
//   0x3a ABS47_34         code    bits 34..80 = (S + A) >> 2    call target
//   0x4b ABS55_16_34      code    bits 16..23 = bits 2..9 of S + A, bits 34..80 = bits 10..56        CALL.ABS
//   0x72 ABS56_16_34      code    the same with bits 34..81     CALL.ABS R + base of the unified function table
//   0x40, 0x42, 0x73 CONST_FIELD19_40, 21_38, 22_37   code  bank and byte offset of c[bank][offset]: 5 bits of bank
//   above
//                                  14 bits (offset / 4), 16 bits, 17 bits of offset, from bits 40, 38, 37 on
//   0x66, 0x70, 0x71 UNIFIED, UNIFIED32_LO_32, UNIFIED32_HI_32   as 0x02, 0x38, 0x39 with a function's handle:
//   relocatable
//                                  code calls a handle as CALL.ABS handle + table base (0x72, symbol __UFT_OFFSET).
//                                  nvlink turns handles into plain addresses and the base into 0, and so does muscope.
//   0x54..0x5b G8_0.. and 0x4c..0x53 8_0..   data  one byte of S + A: bits 0..7, 8..15 ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muscope::cubin {

/// Where the symbol of a relocation lies.
enum class SymbolPlace : std::uint8_t {
  kUndefined,  ///< elsewhere: a function of the system (vprintf, malloc) or of another file
  kCode,       ///< value: offset in code section `section` of the image
  kConstant,   ///< value: offset in constant bank `section` of the image (index, not bank number)
  kData,       ///< value: offset in data section `section` of the image (.nv.global, .nv.global.init)
  kShared,     ///< value: offset in the kernel's shared memory
  kOther,
};

enum class RelocationValue : std::uint8_t {
  kAddress,       ///< S + A
  kConstantSlot,  ///< bank of the symbol and S + A
  kNothing,       ///< needs no patch
  kUnknown,       ///< a type that muscope does not know
};

/// A run of bits of the value that goes into a run of bits of the word.
struct BitField {
  std::uint8_t to = 0;    ///< first bit in the word at the relocation's offset
  std::uint8_t from = 0;  ///< first bit of the value
  std::uint8_t bits = 0;  ///< 0: unused
};

/// How to apply a type of relocation.
struct RelocationForm {
  const char* name = "";  ///< "ABS32_LO_32"
  RelocationValue value = RelocationValue::kUnknown;
  std::uint8_t bytes = 8;  ///< of the word that is changed: 16 for instructions
  BitField low, high;
};

struct Relocation {
  std::uint64_t offset = 0;  ///< byte within its section
  std::uint32_t type = 0;
  std::string symbol;  ///< mangled; of a section symbol the section's name
  SymbolPlace place = SymbolPlace::kUndefined;
  std::int32_t section = -1;  ///< see SymbolPlace; -1 otherwise
  std::uint64_t value = 0;    ///< the symbol's
  std::int64_t addend = 0;
};

/// The form of a type number; value kUnknown when there is none.
RelocationForm relocation_form(std::uint32_t type);

}  // namespace muscope::cubin
