// Fat binaries of programs whose build lines (tests/counters/binaries/make.sh) say what must be inside.
#include "cubin/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/diagnostic.h"
#include "cubin/elf_view.h"
#include "cubin/test_files.h"

namespace muscope::cubin {
namespace {

bool all_readable(const void*, std::size_t) { return true; }

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::uint8_t> section_of(const std::string& program, std::string_view name) {
  const std::vector<std::uint8_t> file = read_test_binary(program);
  std::string why;
  const auto elf = ElfView::parse(file, why);
  if (!elf) return {};
  const ElfSection* section = elf->find(name);
  if (section == nullptr) return {};
  return {section->bytes.begin(), section->bytes.end()};
}

std::vector<const FatbinEntry*> of_kind(const Fatbin& fatbin, EntryKind kind) {
  std::vector<const FatbinEntry*> found;
  for (const FatbinEntry& entry : fatbin.entries) {
    if (entry.kind == kind) found.push_back(&entry);
  }
  return found;
}

std::string code_of(const Error& error) { return error.diagnostics().front().code; }

template <typename Function>
std::string error_code(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return code_of(error);
  }
  return "no error";
}

struct Expected {
  const char* program;
  Compression ptx;
  std::size_t cubins;  // with the link step's
};

class CompressionModes : public testing::TestWithParam<Expected> {};

TEST_P(CompressionModes, HoldTheSamePtx) {
  const auto bytes = section_of(GetParam().program, ".nv_fatbin");
  const Fatbin fatbin = decode_bytes(bytes);
  const auto ptx = of_kind(fatbin, EntryKind::kPtx);
  ASSERT_EQ(ptx.size(), 1u);
  EXPECT_EQ(of_kind(fatbin, EntryKind::kCubin).size(), GetParam().cubins);
  EXPECT_EQ(ptx[0]->compression, GetParam().ptx);
  EXPECT_EQ(ptx[0]->target, (SmTarget{75, 0}));
  EXPECT_EQ(ptx[0]->version_major, 9);
  EXPECT_EQ(ptx[0]->version_minor, 0);
  EXPECT_FALSE(ptx[0]->debug);
  EXPECT_EQ(ptx[0]->options, "");
  const std::string text = payload(*ptx[0]);
  EXPECT_THAT(text, HasSubstr(".target sm_75"));
  EXPECT_THAT(text, HasSubstr(".visible .entry _Z4vaddPKfS0_Pfi("));
  EXPECT_EQ(text.find('\0'), std::string::npos);
  const auto plain_bytes = section_of("vadd_plain", ".nv_fatbin");
  const Fatbin plain = decode_bytes(plain_bytes);
  EXPECT_EQ(text, payload(*of_kind(plain, EntryKind::kPtx)[0]));
}

INSTANTIATE_TEST_SUITE_P(Nvcc13, CompressionModes,
                         testing::Values(Expected{"vadd_shared", Compression::kZstd, 2},
                                         Expected{"vadd_plain", Compression::kNone, 2},
                                         Expected{"vadd_lz4", Compression::kLz4, 2},
                                         Expected{"vadd_zstd", Compression::kZstd, 2},
                                         Expected{"vadd_static", Compression::kZstd, 2}),
                         [](const auto& info) { return std::string(info.param.program); });

TEST(Fatbin, CompressedCubinsBecomeElfFiles) {
  const auto bytes = section_of("vadd_zstd", ".nv_fatbin");
  const Fatbin fatbin = decode_bytes(bytes);
  for (const FatbinEntry* cubin : of_kind(fatbin, EntryKind::kCubin)) {
    EXPECT_EQ(cubin->compression, Compression::kZstd);
    EXPECT_THAT(payload(*cubin), StartsWith("\177ELF"));
    EXPECT_EQ(payload(*cubin).size(), cubin->size);
  }
}

TEST(Fatbin, ListsEveryArchitecture) {
  const auto bytes = section_of("vadd_many", ".nv_fatbin");
  const Fatbin fatbin = decode_bytes(bytes);
  // Four cubins of the link step first.
  EXPECT_EQ(describe(fatbin.entries),
            "SASS 75, SASS 80, SASS 90, SASS 90a, SASS 75, PTX 75 (zstd), SASS 80, PTX 90 (zstd), SASS 90, SASS 90a");
}

TEST(Fatbin, ReadsOptionsAndNames) {
  const auto with_lines = section_of("vadd_lineinfo", ".nv_fatbin");
  const Fatbin lines = decode_bytes(with_lines);
  const FatbinEntry& ptx = *of_kind(lines, EntryKind::kPtx).at(0);
  EXPECT_EQ(ptx.options, "--generate-line-info");
  EXPECT_EQ(ptx.object_name, "vadd.cu");
  EXPECT_FALSE(ptx.debug);
  EXPECT_THAT(payload(ptx), HasSubstr(".loc"));

  const auto with_debug = section_of("vadd_debug", ".nv_fatbin");
  const Fatbin debug = decode_bytes(with_debug);
  EXPECT_TRUE(of_kind(debug, EntryKind::kPtx).at(0)->debug);
  EXPECT_THAT(of_kind(debug, EntryKind::kPtx).at(0)->options, StartsWith("-g "));
  EXPECT_THAT(payload(*of_kind(debug, EntryKind::kPtx).at(0)), HasSubstr(".debug_info"));
}

TEST(Fatbin, TellsVariants) {
  const auto a = section_of("vadd_90a", ".nv_fatbin");
  EXPECT_EQ(of_kind(decode_bytes(a), EntryKind::kPtx).at(0)->target, (SmTarget{90, 'a'}));
  const auto f = section_of("vadd_100f", ".nv_fatbin");
  EXPECT_EQ(of_kind(decode_bytes(f), EntryKind::kPtx).at(0)->target, (SmTarget{100, 'f'}));
}

TEST(Fatbin, ChoosesTheNewestUsablePtx) {
  const auto bytes = section_of("vadd_many", ".nv_fatbin");
  const Fatbin fatbin = decode_bytes(bytes);
  EXPECT_EQ(choose_ptx(fatbin.entries, 90).entry->target.sm, 90);
  EXPECT_EQ(choose_ptx(fatbin.entries, 120).entry->target.sm, 90);
  EXPECT_EQ(choose_ptx(fatbin.entries, 89).entry->target.sm, 75);
  EXPECT_FALSE(choose_ptx(fatbin.entries, 75).not_for_target);
  const PtxChoice old = choose_ptx(fatbin.entries, 70);
  EXPECT_EQ(old.entry->target.sm, 75);
  EXPECT_TRUE(old.not_for_target);
  EXPECT_EQ(choose_cubin(fatbin.entries, 90)->target, (SmTarget{90, 'a'}));
  const SmTarget plain{90, 0};
  EXPECT_EQ(choose_cubin(fatbin.entries, 90, &plain)->target, plain);
  EXPECT_EQ(choose_cubin(fatbin.entries, 86)->target, (SmTarget{80, 0}));
  EXPECT_EQ(choose_cubin(fatbin.entries, 70), nullptr);
}

FatbinEntry ptx_entry(int sm, char variant, int minor = 0) {
  FatbinEntry entry;
  entry.kind = EntryKind::kPtx;
  entry.target = {sm, variant};
  entry.version_major = 8;
  entry.version_minor = minor;
  return entry;
}

TEST(Fatbin, ChoosesACubinThatTheGpuRuns) {
  std::vector<FatbinEntry> entries{ptx_entry(80, 0), ptx_entry(80, 0), ptx_entry(87, 0), ptx_entry(86, 0),
                                   ptx_entry(90, 'a')};
  for (std::size_t n = 1; n < entries.size(); ++n) entries[n].kind = EntryKind::kCubin;
  const auto chosen = [&](int sm) {
    const FatbinEntry* const entry = choose_cubin(entries, sm);
    return entry == nullptr ? std::string("none") : to_string(entry->target);
  };
  EXPECT_EQ(chosen(80), "80");
  EXPECT_EQ(chosen(86), "86");
  EXPECT_EQ(chosen(87), "87");
  EXPECT_EQ(chosen(89), "86");
  EXPECT_EQ(chosen(90), "90a");
  EXPECT_EQ(chosen(75), "none");
  EXPECT_EQ(chosen(100), "none");
  entries.pop_back();
  EXPECT_EQ(chosen(90), "none") << "another major revision";
  entries.erase(entries.begin() + 2);
  EXPECT_EQ(chosen(87), "none") << "a Tegra";
}

TEST(Fatbin, ChoosesByVariant) {
  const std::vector<FatbinEntry> entries{ptx_entry(90, 0),    ptx_entry(90, 'a'), ptx_entry(80, 0),
                                         ptx_entry(100, 'f'), ptx_entry(100, 0),  ptx_entry(100, 'a'),
                                         ptx_entry(80, 0, 3)};
  const auto chosen = [&](int sm) { return to_string(choose_ptx(entries, sm).entry->target); };
  EXPECT_EQ(chosen(90), "90a");
  EXPECT_EQ(chosen(100), "100a");
  EXPECT_EQ(chosen(103), "100f");  // same family, another GPU
  EXPECT_EQ(chosen(120), "100");   // another family
  EXPECT_EQ(choose_ptx(entries, 86).entry->version_minor, 3);
  EXPECT_EQ(choose_ptx({}, 90).entry, nullptr);
  const std::vector<FatbinEntry> only_own{ptx_entry(90, 'a')};
  EXPECT_TRUE(choose_ptx(only_own, 100).not_for_target);
}

struct Wrapper {
  std::uint32_t magic = kWrapperMagic;
  std::uint32_t version = 1;
  const void* data = nullptr;
  const void* units = nullptr;
};

// The container that __cudaRegisterFatBinary would be given: the last of the section.
std::uint64_t last_container(Bytes bytes) {
  std::uint64_t found = 0;
  for (std::uint64_t at = 0; at + 4 <= bytes.size(); at += 8) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, 4);
    if (word == kContainerMagic) found = at;
  }
  return found;
}

TEST(Fatbin, DecodesWhatIsRegistered) {
  const auto bytes = section_of("vadd_shared", ".nv_fatbin");
  const std::uint64_t at = last_container(bytes);
  ASSERT_GT(at, 0u);
  Wrapper wrapper;
  wrapper.data = bytes.data() + at;
  const Fatbin fatbin = decode_registered(&wrapper, all_readable);
  EXPECT_EQ(describe(fatbin.entries), "SASS 75, PTX 75 (zstd)");
  EXPECT_FALSE(fatbin.relocatable);
  EXPECT_EQ(describe(decode_registered(wrapper.data, all_readable).entries), "SASS 75, PTX 75 (zstd)");
  // Only the container pointed to.
  wrapper.data = bytes.data();
  EXPECT_EQ(describe(decode_registered(&wrapper, all_readable).entries), "SASS 75");
}

TEST(Fatbin, DecodesRelocatableUnits) {
  const auto linked = section_of("rdc_shared", ".nv_fatbin");
  const auto parts = section_of("rdc_shared", "__nv_relfatbin");
  const std::uint64_t second = last_container(parts);
  ASSERT_GT(second, 0u);
  const void* units[] = {parts.data(), parts.data() + second, nullptr};
  Wrapper wrapper{kWrapperMagic, 2, linked.data(), units};
  const Fatbin fatbin = decode_registered(&wrapper, all_readable);
  EXPECT_TRUE(fatbin.relocatable);
  EXPECT_EQ(describe(fatbin.entries), "SASS 75");
  ASSERT_EQ(fatbin.units.size(), 2u);
  std::string all;
  for (const auto& unit : fatbin.units) {
    EXPECT_EQ(describe(unit), "SASS 75 (zstd), PTX 75 (zstd)");
    EXPECT_EQ(unit[1].options, "--compile-only");
    all += payload(unit[1]);
  }
  EXPECT_THAT(all, HasSubstr(".extern .func"));
  EXPECT_THAT(all, HasSubstr(".visible .func"));
}

TEST(Fatbin, TakesRawPtx) {
  const char text[] =
      "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.5\n.target sm_90a, debug\n.address_size 64\n";
  Wrapper wrapper;
  wrapper.data = text;
  for (const void* start : {static_cast<const void*>(&wrapper), static_cast<const void*>(text)}) {
    const Fatbin fatbin = decode_registered(start, all_readable);
    ASSERT_EQ(fatbin.entries.size(), 1u);
    EXPECT_EQ(fatbin.entries[0].target, (SmTarget{90, 'a'}));
    EXPECT_EQ(fatbin.entries[0].version_major, 8);
    EXPECT_EQ(fatbin.entries[0].version_minor, 5);
    EXPECT_EQ(payload(fatbin.entries[0]), text);
  }
  const auto section = section_of("raw_ptx", ".nv_fatbin");
  const Fatbin clang = decode_bytes(section);
  ASSERT_EQ(clang.entries.size(), 1u);
  EXPECT_EQ(clang.entries[0].target, (SmTarget{90, 0}));
  EXPECT_THAT(payload(clang.entries[0]), HasSubstr(".entry _Z4fillPi"));
}

/// Memory around an image that may be read, and no other.
Bytes g_mapped;
bool inside_mapped(const void* pointer, std::size_t bytes) {
  const auto* at = static_cast<const std::uint8_t*>(pointer);
  return at >= g_mapped.data() && bytes <= g_mapped.size() &&
         static_cast<std::size_t>(at - g_mapped.data()) <= g_mapped.size() - bytes;
}

// cuModuleLoadData is told no length.
TEST(Fatbin, DamagedImagesAreNotReadBeyondTheirMemory) {
  const auto cubin = read_test_binary("kernels_90.cubin");
  std::size_t refused = 0;
  for (std::size_t at = 0; at < 64; ++at) {
    for (const unsigned value : {0x00u, 0x7fu, 0xffu}) {
      std::vector<std::uint8_t> damaged(cubin.begin(), cubin.end());
      damaged[at] = static_cast<std::uint8_t>(value);
      g_mapped = damaged;
      refused += error_code([&] { decode_registered(damaged.data(), inside_mapped); }) == "D206";
    }
  }
  EXPECT_GT(refused, 20u);
  std::vector<std::uint8_t> start(cubin.begin(), cubin.begin() + 100);
  g_mapped = start;
  EXPECT_EQ(error_code([&] { decode_registered(start.data(), inside_mapped); }), "D206");
  const std::string text = ".version 8.5\n.target sm_90\n.address_size 64";  // and no end
  g_mapped = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  EXPECT_EQ(error_code([&] { decode_registered(nullptr, inside_mapped); }), "D206");
  EXPECT_EQ(error_code([&] { decode_registered(&g_mapped, inside_mapped); }), "D206");
}

TEST(Fatbin, TakesBareCubins) {
  const auto cubin = read_test_binary("kernels_120.cubin");
  EXPECT_EQ(describe(decode_bytes(cubin).entries), "SASS 120");
  const Fatbin in_memory = decode_registered(cubin.data(), all_readable);
  EXPECT_EQ(describe(in_memory.entries), "SASS 120");
  EXPECT_EQ(in_memory.entries[0].stored.size(), cubin.size());
}

TEST(Fatbin, RefusesWhatItIsNot) {
  const std::vector<std::uint8_t> zeros(256, 0);
  EXPECT_EQ(error_code([&] { decode_bytes(zeros); }), "D206");
  EXPECT_EQ(error_code([&] { decode_bytes({}); }), "D206");
  EXPECT_EQ(error_code([&] { decode_registered(zeros.data(), all_readable); }), "D206");
  EXPECT_EQ(error_code([&] { decode_registered(nullptr, all_readable); }), "D206");
  Wrapper wrapper{kWrapperMagic, 3, zeros.data(), nullptr};
  EXPECT_EQ(error_code([&] { decode_registered(&wrapper, all_readable); }), "D206");
  wrapper = {kWrapperMagic, 1, nullptr, nullptr};
  EXPECT_EQ(error_code([&] { decode_registered(&wrapper, all_readable); }), "D206");
}

TEST(Fatbin, NamesUnknownCompression) {
  auto bytes = section_of("vadd_zstd", ".nv_fatbin");
  // The flags of the first entry: the zstd bit becomes one that nothing has yet.
  bytes[16 + 41] = 0x40;
  const Fatbin fatbin = decode_bytes(bytes);
  EXPECT_EQ(fatbin.entries[0].compression, Compression::kUnknown);
  EXPECT_EQ(error_code([&] { payload(fatbin.entries[0]); }), "D209");
}

TEST(Fatbin, NoticesDamagedPayloads) {
  for (const char* program : {"vadd_zstd", "vadd_lz4"}) {
    auto bytes = section_of(program, ".nv_fatbin");
    const std::uint64_t at = last_container(bytes);
    Fatbin fatbin = decode_bytes(bytes);
    const FatbinEntry& ptx = *of_kind(fatbin, EntryKind::kPtx).at(0);
    // A wrong size (the field 56 bytes into the entry header).
    const auto header = static_cast<std::size_t>(ptx.stored.data() - bytes.data()) - 80;
    ASSERT_GT(header, at);
    bytes[header + 56] ^= 1;
    EXPECT_EQ(error_code([&] { payload(*of_kind(decode_bytes(bytes), EntryKind::kPtx).at(0)); }), "D206") << program;
    // A size that no compression reaches must not be allocated.
    bytes[header + 56 + 7] = 1;
    EXPECT_EQ(error_code([&] { payload(*of_kind(decode_bytes(bytes), EntryKind::kPtx).at(0)); }), "D206") << program;
  }
}

TEST(Fatbin, ReadsWhatIsAvailable) {
  auto bytes = section_of("vadd_shared", ".nv_fatbin");
  const std::uint64_t at = last_container(bytes);
  bytes[at + 8 + 4] = 0xff;  // the size of the second container
  std::vector<Diagnostic> problems;
  const Fatbin fatbin = decode_available(bytes, problems);
  EXPECT_EQ(describe(fatbin.entries), "SASS 75");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "D206");
}

}  // namespace
}  // namespace muscope::cubin
