// Relocations of a cubin: which bits of an instruction or a data word wait for the address of a symbol.
//
// ptxas leaves them open where it cannot know a place: addresses of globals and of other functions in relocatable code
// (-rdc=true), the address tables in constant bank 4, pointers in initialised data. Calls and jumps within one section,
// and everything of a kernel with its device functions compiled in one go, need none: such code is position independent
// (CALL.REL, RET.REL with return addresses relative to the section's start, branch tables relative to the section).
//
// Written by ptxas and nvlink 11.8 and 13.0 for sm_75 to sm_120; the numbers are the places of the names in nvlink's
// own list. Fields: 0x37, 0x3b, 0x40, 0x42, 0x4a by comparing words before and after nvlink resolved them; calls (0x3a,
// 0x4b, 0x72) by changing single bits of a word and reading the disassembler's target; 0x38 and 0x39 by the
// disassembler's 32@lo(), 32@hi(). The others follow their names, of which types 0x02, 0x04, 0x66, 0x70, 0x71, 0x73
// were seen and the rest never. Bits count in the 128-bit instruction or the data word. V = S + A: address or value of
// the symbol, and addend (entries without addend stand where it is 0).
//
//   type        name                     bits          hold
//   0x02, 0x04  64, G64                  all 64        V: address tables, functions and globals in initialised data
//   0x01, 0x03  32, G32                  all 32        V
//   0x46, 0x47  32_LO, 32_HI             all 32        low, high half of V
//   0x4c..0x53  8_0 .. 8_56              one byte      the same byte of V; 0x54..0x5b G8_0 .. G8_56 too
//   0x38, 0x39  ABS32_LO_32, ABS32_HI_32 32..63        low, high half of V: MOV, UMOV, immediates
//   0x37        ABS32_32                 32..63        V: offsets in shared memory
//   0x3b, 0x3c  ABS16_32, ABS24_32       32.. on       V: offset in the symbol's constant bank
//   0x4a, 0x64  ABS24_40, ABS20_44       40.., 44..    V: offset of a memory instruction
//   0x3a        ABS47_34                 34..80        V / 4: call target, sm_75 and sm_80
//   0x4b        ABS55_16_34              16..23        bits 2..9 of V: call target from sm_90 on
//                                        34..80        bits 10..56 of V
//   0x72        ABS56_16_34              as 0x4b       and one bit more: see below
//   0x40        CONST_FIELD19_40         40..53        V / 4, offset in the symbol's bank: operand c[bank][offset]
//   0x42        CONST_FIELD21_38         38..53        V
//   0x73        CONST_FIELD22_37         37..53        V; of all three the bank's number is in bits 54..58
//   0x22, 0x23  FUNC_DESC_32, _64        as 32, 64     what launches from the device name the kernel by; 0x5c..0x63
//                                                      FUNC_DESC_8_0.. byte by byte
//   0x3d..0x3f  FUNC_DESC32_32, _LO_32, _HI_32         the same, as ABS32
//   0x66, 0x67  UNIFIED, UNIFIED_32      as 64, 32     handle of a function; 0x68..0x6f byte by byte
//   0x70, 0x71  UNIFIED32_LO_32, _HI_32  as ABS32      handle of a function
//   0x44, 0x45, 0x48, 0x49                             nothing to do when code is loaded
//
// Handles: relocatable code calls a function pointer as CALL.ABS R + base of a table (0x72, symbol __UFT_OFFSET).
// nvlink makes handles plain addresses and the base 0; so does apply_relocations.
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
  kKernel,        ///< Placement::kernel of the symbol
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
