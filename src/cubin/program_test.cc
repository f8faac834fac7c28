// Programs on disk: what they are, and what is said about them.
#include "cubin/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cubin/static_runtime.h"
#include "cubin/test_files.h"

namespace muscope::cubin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProgramInspection inspect(const std::string& name) { return inspect_program(test_binary(name)); }

// As muscope::runtime::machine_code_known.
bool known(int sm) { return sm >= 80 && sm <= 90; }

const RunTarget kH200{90, known};

std::vector<std::string> codes(const ProgramInspection& program) {
  std::vector<std::string> found;
  for (const Diagnostic& d : diagnose(program, kH200)) found.push_back(d.code);
  return found;
}

// "PTX 75, SASS 75" sorted.
std::vector<std::string> contents(const ProgramInspection& program) {
  std::vector<std::string> found;
  for (const ProgramCode& code : program.code) {
    found.push_back((code.kind == EntryKind::kPtx ? "PTX " : "SASS ") + to_string(code.target));
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Program, SharedRuntime) {
  const ProgramInspection program = inspect("vadd_shared");
  EXPECT_EQ(program.kind, ProgramKind::kProgram);
  EXPECT_EQ(program.runtime, RuntimeLink::kShared);
  EXPECT_EQ(program.runtime_soname, "libcudart.so.13");
  EXPECT_FALSE(program.musa);
  EXPECT_FALSE(program.driver_api);
  EXPECT_FALSE(program.fully_static);
  EXPECT_TRUE(program.executable);
  EXPECT_THAT(program.needed, Contains("libc.so.6"));
  EXPECT_THAT(contents(program), ElementsAre("PTX 75", "SASS 75"));
  EXPECT_THAT(codes(program), IsEmpty());
}

TEST(Program, OlderSonames) {
  EXPECT_EQ(inspect("raw_ptx").runtime_soname, "libcudart.so.13");
  EXPECT_EQ(inspect("raw_ptx_cudart12").runtime_soname, "libcudart.so.12");
  EXPECT_EQ(inspect("raw_ptx_cudart11").runtime_soname, "libcudart.so.11.0");
  EXPECT_THAT(contents(inspect("raw_ptx_cudart11")), ElementsAre("PTX 90"));
}

TEST(Program, StaticRuntime) {
  const ProgramInspection program = inspect("vadd_static");
  EXPECT_EQ(program.runtime, RuntimeLink::kStatic);
  EXPECT_EQ(program.runtime_soname, "");
  EXPECT_TRUE(program.has_ptx());
  EXPECT_THAT(codes(program), IsEmpty());
}

TEST(Program, StrippedStaticRuntimeOfAKnownRelease) {
  const ProgramInspection program = inspect("vadd_static_stripped");
  EXPECT_EQ(program.runtime, RuntimeLink::kStatic);
  EXPECT_THAT(codes(program), IsEmpty());
}

TEST(Program, StrippedStaticRuntime) {
  std::vector<std::uint8_t> bytes = read_file(test_binary("vadd_static_stripped"));
  std::string why;
  const auto elf = ElfView::parse(bytes, why);
  ASSERT_TRUE(elf);
  const std::vector<StrippedFunction> functions = find_stripped_runtime(*elf);
  ASSERT_EQ(functions.size(), 422u);
  const ElfSection& text = *elf->find(".text");
  // Of another release: one function begins in another way.
  const auto changed =
      std::find_if(functions.begin(), functions.end(), [](const auto& f) { return f.name == "cudaFree"; });
  ASSERT_NE(changed, functions.end());
  bytes[text.offset + (changed->address - text.address)] ^= 1;
  const ProgramInspection program = inspect_program_bytes("program", bytes);
  EXPECT_EQ(program.runtime, RuntimeLink::kStaticStripped);
  EXPECT_THAT(codes(program), ElementsAre("D205"));
  EXPECT_THAT(diagnose(program, kH200)[0].hint, HasSubstr("-cudart shared"));
  EXPECT_THAT(diagnose(program, kH200)[0].hint, HasSubstr("CMAKE_CUDA_RUNTIME_LIBRARY"));
}

TEST(Program, NoPtx) {
  const ProgramInspection program = inspect("vadd_sass90");
  EXPECT_FALSE(program.has_ptx());
  EXPECT_THAT(codes(program), IsEmpty()) << "its machine code runs on sm_90";
  for (const int sm : {75, 80, 87, 89, 100, 120}) {
    const std::vector<Diagnostic> found = diagnose(program, {sm, known});
    ASSERT_EQ(found.size(), 1u) << sm;
    EXPECT_EQ(found[0].code, "D204");
    EXPECT_EQ(found[0].severity, Severity::kError);
    EXPECT_THAT(found[0].text, HasSubstr("only machine code for sm_90"));
    EXPECT_THAT(found[0].hint, HasSubstr("-gencode arch=compute_90,code=compute_90"));
    EXPECT_THAT(found[0].hint, HasSubstr("CMAKE_CUDA_ARCHITECTURES=90"));
    EXPECT_THAT(found[0].hint, HasSubstr("--gpu sm_90"));
  }
  const std::vector<Diagnostic> found = diagnose(program, {90});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("only machine code for sm_90, and only PTX is asked for"));
  EXPECT_THAT(found[0].hint, testing::Not(HasSubstr("--gpu")));
}

TEST(Program, MachineCodeThatNobodyExecutes) {
  ProgramInspection program = inspect("vadd_sass90");
  for (ProgramCode& code : program.code) code.target = {75, 0};
  const std::vector<Diagnostic> own = diagnose(program, {75, known});
  ASSERT_EQ(own.size(), 1u);
  EXPECT_THAT(own[0].text, HasSubstr("only machine code for sm_75, which muscope cannot execute"));
  const std::vector<Diagnostic> other = diagnose(program, kH200);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_THAT(other[0].hint, testing::Not(HasSubstr("--gpu"))) << "sm_75 would not do either";
}

// "Binary Compatibility", CUDA C++ Programming Guide: same major, same or later minor; 'a' and Tegra only themselves.
TEST(Program, MachineCodeRunsOnLaterMinors) {
  const auto any = [](int) { return true; };
  ProgramInspection program = inspect("vadd_sass90");
  const auto refused = [&program, any](SmTarget made_for, int sm) {
    for (ProgramCode& code : program.code) code.target = made_for;
    return !diagnose(program, {sm, +any}).empty();
  };
  EXPECT_FALSE(refused({80, 0}, 80));
  EXPECT_FALSE(refused({80, 0}, 86));
  EXPECT_FALSE(refused({80, 0}, 89));
  EXPECT_FALSE(refused({86, 0}, 89));
  EXPECT_TRUE(refused({86, 0}, 80));
  EXPECT_TRUE(refused({80, 0}, 87));
  EXPECT_TRUE(refused({87, 0}, 89));
  EXPECT_TRUE(refused({80, 0}, 90));
  EXPECT_FALSE(refused({90, 'a'}, 90));
  EXPECT_TRUE(refused({90, 'a'}, 100));
  EXPECT_TRUE(refused({100, 'a'}, 103));
  EXPECT_FALSE(refused({100, 'f'}, 103));
}

TEST(Program, Architectures) {
  EXPECT_THAT(contents(inspect("vadd_many")),
              ElementsAre("PTX 75", "PTX 90", "SASS 75", "SASS 80", "SASS 90", "SASS 90a"));
  EXPECT_THAT(contents(inspect("vadd_ptx90")), ElementsAre("PTX 90"));
  EXPECT_THAT(contents(inspect("vadd_90a")), ElementsAre("PTX 90a", "SASS 90a"));
}

TEST(Program, LineInfo) {
  for (const ProgramCode& code : inspect("vadd_lineinfo").code) EXPECT_TRUE(code.line_info);
  for (const ProgramCode& code : inspect("vadd_shared").code) EXPECT_FALSE(code.line_info);
  for (const ProgramCode& code : inspect("vadd_debug").code) EXPECT_TRUE(code.debug && code.line_info);
}

TEST(Program, RelocatableDeviceCode) {
  const ProgramInspection program = inspect("rdc_shared");
  EXPECT_TRUE(program.relocatable_code);
  EXPECT_EQ(std::count_if(program.code.begin(), program.code.end(), [](const ProgramCode& c) { return c.relocatable; }),
            4);
  EXPECT_THAT(codes(program), IsEmpty());
}

TEST(Program, WithoutCuda) {
  const ProgramInspection program = inspect("host_only");
  EXPECT_EQ(program.kind, ProgramKind::kProgram);
  EXPECT_EQ(program.runtime, RuntimeLink::kNone);
  EXPECT_THAT(program.code, IsEmpty());
  EXPECT_THAT(codes(program), IsEmpty());
}

TEST(Program, UnreadableFiles) {
  EXPECT_THAT(codes(inspect("no_such_file")), ElementsAre("D201"));
  EXPECT_THAT(diagnose(inspect("no_such_file"), kH200)[0].text, HasSubstr("No such file"));
  EXPECT_THAT(diagnose(inspect("src"), kH200)[0].text, HasSubstr("directory"));
  EXPECT_THAT(codes(inspect("src")), ElementsAre("D201"));
}

class ProgramFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "muscope-program-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view bytes, ::mode_t mode) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(ProgramFiles, Scripts) {
  const ProgramInspection program = inspect_program(write("run.sh", "#! /usr/bin/env python3 \nprint()\n", 0755));
  EXPECT_EQ(program.kind, ProgramKind::kScript);
  EXPECT_EQ(program.interpreter, "/usr/bin/env python3");
  EXPECT_THAT(codes(program), IsEmpty());
  EXPECT_EQ(inspect_program(write("short.sh", "#!", 0755)).kind, ProgramKind::kScript);
}

TEST_F(ProgramFiles, OtherFiles) {
  EXPECT_THAT(codes(inspect_program(write("empty", "", 0755))), ElementsAre("D202"));
  EXPECT_THAT(codes(inspect_program(write("text", "hello, world", 0755))), ElementsAre("D202"));
  EXPECT_THAT(codes(inspect_program(write("elf", "\177ELF", 0755))), ElementsAre("D202"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(codes(inspect_program(folder_ / "pipe")), ElementsAre("D201"));
}

TEST_F(ProgramFiles, Permissions) {
  const auto bytes = read_test_binary("vadd_shared");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_THAT(codes(inspect_program(write("plain", text, 0644))), ElementsAre("D201"));
  EXPECT_THAT(codes(inspect_program(write("setuid", text, 04755))), ElementsAre("D210"));
}

TEST(Program, WrongMachine) {
  auto bytes = read_test_binary("host_only");
  bytes[18] = 183;
  const ProgramInspection program = inspect_program_bytes("app", bytes);
  EXPECT_EQ(program.kind, ProgramKind::kWrongMachine);
  EXPECT_THAT(diagnose(program, kH200)[0].text, HasSubstr("AArch64"));
  EXPECT_THAT(codes(program), ElementsAre("D203"));
  EXPECT_THAT(codes(inspect_program_bytes("k", read_test_binary("kernels_90.cubin"))), ElementsAre("D203"));
}

TEST(Program, ObjectFiles) {
  auto bytes = read_test_binary("host_only");
  bytes[16] = 1;
  EXPECT_THAT(codes(inspect_program_bytes("app.o", bytes)), ElementsAre("D202"));
}

TEST(Program, DamagedFatBinary) {
  auto bytes = read_test_binary("vadd_ptx90");
  const std::array<std::uint8_t, 4> magic{0x50, 0xed, 0x55, 0xba};
  for (auto at = bytes.begin(); (at = std::search(at, bytes.end(), magic.begin(), magic.end())) != bytes.end(); ++at)
    at[6] = 3;
  const ProgramInspection program = inspect_program_bytes("app", bytes);
  EXPECT_EQ(program.code_problem_code, "D206");
  EXPECT_THAT(codes(program), ElementsAre("D206"));
  EXPECT_EQ(diagnose(program, kH200)[0].severity, Severity::kError);
}

}  // namespace
}  // namespace muscope::cubin
