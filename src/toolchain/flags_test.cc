#include "toolchain/flags.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "toolchain/clang.h"
#include "toolchain/nvcc.h"
#include "toolchain/option_table.h"
#include "toolchain/process.h"
#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

Flags cc(const std::string& line) { return parse_flags(split_words(line), FlagSource::kCommandLine); }
Flags compile_flags(const std::string& line) { return parse_flags(split_words(line), FlagSource::kCompileFlags); }

/// The code of the error, or "none".
std::string error_of(const std::string& line, FlagSource source = FlagSource::kCommandLine) {
  try {
    parse_flags(split_words(line), source);
  } catch (const Error& error) {
    return error.diagnostics().front().code;
  }
  return "none";
}

TEST(Flags, ReadsACompileLine) {
  const Flags flags =
      cc("-O3 -std=c++20 -Iinc -I inc2 --include-path=inc3 -DA=1 -D B -UC -isystem=/s -include p.h -c -o x.o x.cu");
  EXPECT_EQ(flags.output, Output::kObject);
  EXPECT_EQ(flags.output_file, "x.o");
  EXPECT_EQ(flags.optimize, "3");
  EXPECT_EQ(flags.standard, "c++20");
  EXPECT_THAT(flags.preprocess, ElementsAre("-I", "inc", "-I", "inc2", "-I", "inc3", "-DA=1", "-DB", "-UC", "-isystem",
                                            "/s", "-include", "p.h"));
  ASSERT_EQ(flags.inputs.size(), 1u);
  EXPECT_EQ(flags.inputs[0].language, Language::kCuda);
}

TEST(Flags, ReadsWhatCMakeWrites) {
  const Flags flags = cc(
      "-forward-unknown-to-host-compiler -DF=3 --generate-code=arch=compute_75,code=[compute_75,sm_75] -MD -MT a/b.o "
      "-MF a/b.o.d -x cu -rdc=true -Xcompiler=-fPIC -pthread -c b.cc -o a/b.o");
  EXPECT_THAT(flags.targets, ElementsAre(GpuTarget{75, 0, true}, GpuTarget{75, 0, false}));
  EXPECT_TRUE(flags.relocatable);
  EXPECT_THAT(flags.host_options, ElementsAre("-fPIC", "-pthread"));
  EXPECT_TRUE(flags.dependencies.wanted);
  EXPECT_EQ(flags.dependencies.file, "a/b.o.d");
  EXPECT_THAT(flags.dependencies.targets, ElementsAre("a/b.o"));
  EXPECT_EQ(flags.inputs[0].language, Language::kCuda);
  EXPECT_EQ(cc("-shared -dlink a.o").output, Output::kDeviceLink);
  EXPECT_EQ(cc("-dlink -shared a.o").output, Output::kDeviceLink);
}

TEST(Flags, KeepsTheOrderOfWhatIsLinked) {
  const Flags flags = cc("main.o -Llib -lfoo libbar.a -Xlinker -rpath,/x -Xlinker=--as-needed -o app");
  EXPECT_THAT(flags.link_options, ElementsAre("main.o", "-Llib", "-lfoo", "libbar.a", "-Xlinker", "-rpath", "-Xlinker",
                                              "/x", "-Xlinker", "--as-needed"));
  EXPECT_EQ(flags.output, Output::kProgram);
}

TEST(Flags, ShortNamesThatBeginLikeOthers) {
  EXPECT_TRUE(cc("-lineinfo").line_info);
  EXPECT_THAT(cc("-lineinfo").link_options, IsEmpty());
  EXPECT_EQ(cc("-odir out").output_directory, "out");
  EXPECT_EQ(cc("-ofoo -forward-unknown-to-host-compiler").output_file, "");
  EXPECT_EQ(cc("-lib").output, Output::kArchive);
  EXPECT_THAT(cc("-march=native -forward-unknown-opts").host_options, ElementsAre("-march=native"));
  EXPECT_EQ(cc("-dc").output, Output::kObject);
  EXPECT_TRUE(cc("-dc").relocatable);
  EXPECT_TRUE(cc("-generate-line-info").line_info);
}

TEST(Flags, ListsAreSplitAtCommas) {
  EXPECT_THAT(cc("-Xcompiler -Wall,-Wextra -Xcompiler '-O1 -g' -Xcompiler -DX=1\\\\,2").host_options,
              ElementsAre("-Wall", "-Wextra", "-O1", "-g", "-DX=1,2"));
  EXPECT_THAT(cc("-Xptxas -v,-O2").ptxas_options, ElementsAre("-v", "-O2"));
}

TEST(Flags, TargetsInAllForms) {
  const auto targets = [](const std::string& line) {
    std::string text;
    for (const GpuTarget& target : cc(line).targets) text += target.text() + " ";
    return text;
  };
  EXPECT_EQ(targets("-arch=sm_90"), "sm_90 compute_90 ");
  EXPECT_EQ(targets("-arch sm_90a"), "sm_90a compute_90a ");
  EXPECT_EQ(targets("-arch=compute_80 -code=sm_80,compute_80"), "compute_80 sm_80 ");
  EXPECT_EQ(targets("-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=\\\"sm_90,compute_90\\\""),
            "sm_80 sm_90 compute_90 ");
  EXPECT_EQ(targets("--generate-code arch=compute_100"), "compute_100 ");
  EXPECT_EQ(targets("-arch=native"), "");
  EXPECT_EQ(error_of("-arch=hopper"), "D408");
  EXPECT_EQ(error_of("-arch=sm_"), "D408");
  EXPECT_EQ(error_of("-gencode code=sm_90"), "D408");
}

TEST(Flags, TheNewestPtxIsTheTarget) {
  EXPECT_EQ(newest_target(cc("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90").targets).cc,
            90);
  EXPECT_EQ(
      newest_target(cc("-gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90").targets).cc, 80);
  EXPECT_EQ(newest_target({}).cc, 0);
}

TEST(Flags, FloatRulesAndTruthValues) {
  const FloatRules fast = cc("-use_fast_math").floats;
  EXPECT_TRUE(fast.flush_denormals && fast.contract && fast.fast_functions);
  EXPECT_FALSE(fast.precise_division || fast.precise_sqrt);
  EXPECT_FALSE(cc("-fmad=false").floats.contract);
  EXPECT_FALSE(cc("--fmad false").floats.contract);
  EXPECT_TRUE(cc("-use_fast_math -prec-sqrt=true").floats.precise_sqrt);
  EXPECT_EQ(error_of("-ftz=maybe"), "D408");
  EXPECT_EQ(error_of("-ftz"), "D408");
}

TEST(Flags, RefusalsNameTheOptionAndAWay) {
  EXPECT_EQ(error_of("-cubin a.cu"), "D407");
  EXPECT_EQ(error_of("-fatbin a.cu"), "D407");
  EXPECT_EQ(error_of("--run a.cu"), "D407");
  EXPECT_EQ(error_of("-Wall a.cu"), "D406");
  EXPECT_EQ(error_of("-std=c++98"), "D408");
  EXPECT_EQ(error_of("-maxrregcount=many"), "D408");
  EXPECT_EQ(error_of("-maxrregcount=-1"), "D408");
  EXPECT_EQ(error_of("-o"), "D408");
  EXPECT_EQ(error_of("@/nonexistent.rsp"), "D405");
  for (const OptionRow& row : option_table()) {
    EXPECT_EQ(row.action == Action::kRefuse || row.action == Action::kAcceptNote, !row.text.empty()) << row.long_name;
  }
  try {
    cc("-maxregcount=32");
    ADD_FAILURE() << "an option that does not exist was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("-maxrregcount"));
  }
}

TEST(Flags, CompileFlagsLeaveStepsAndFilesToMuscope) {
  EXPECT_EQ(error_of("-c", FlagSource::kCompileFlags), "D407");
  EXPECT_EQ(error_of("-o x", FlagSource::kCompileFlags), "D407");
  EXPECT_EQ(error_of("-ptx", FlagSource::kCompileFlags), "D407");
  EXPECT_EQ(error_of("other.cu", FlagSource::kCompileFlags), "D407");
  EXPECT_EQ(compile_flags("-O3 -G -DN=4 -lm").optimize, "3");
  EXPECT_THAT(compile_flags("-O3 -x cu -DN=4 -gencode arch=compute_80,code=sm_80").words,
              ElementsAre("-O3", "-DN=4", "-gencode", "arch=compute_80,code=sm_80"));
}

TEST(Flags, OptionsFilesAreRead) {
  const TestFolder folder;
  const std::string inner = folder.write("inner.rsp", "-DINNER \"a b.cu\"");
  const std::string outer = folder.write("outer.rsp", "-Ix --options-file " + inner + " -DAFTER\n");
  const Flags flags = cc("--options-file " + outer + " -DLAST");
  EXPECT_THAT(flags.preprocess, ElementsAre("-I", "x", "-DINNER", "-DAFTER", "-DLAST"));
  EXPECT_EQ(flags.inputs.at(0).path, "a b.cu");
  const std::string self = folder.path("self.rsp");
  folder.write("self.rsp", "@" + self);
  EXPECT_EQ(error_of("@" + self), "D405");
}

TEST(Flags, LanguagesByEnding) {
  EXPECT_EQ(language_of("a/b.cu"), Language::kCuda);
  EXPECT_EQ(language_of("b.mu"), Language::kCuda);
  EXPECT_EQ(language_of("b.cpp"), Language::kCxx);
  EXPECT_EQ(language_of("b.c"), Language::kC);
  EXPECT_EQ(language_of("libx.so.13"), Language::kLinkInput);
  EXPECT_EQ(language_of("b.ptx"), Language::kPtx);
  EXPECT_EQ(language_of("Makefile"), Language::kUnknown);
}

ClangSetup setup_with(int major) {
  ClangSetup setup;
  setup.clang = {"clang", "/usr/bin/clang++", {major, 1, 0}};
  setup.host = {"g++", "/usr/bin/g++", {12, 2, 0}};
  setup.layout.toolkit = "/T";
  setup.layout.libraries = "/L";
  setup.layout.toolkit_root = "/R";
  return setup;
}

TEST(Clang, VersionsHaveTheirRow) {
  EXPECT_STREQ(clang_row({19, 1, 7}).sdk_version, "12.5");
  EXPECT_STREQ(clang_row({21, 0, 0}).sdk_version, "12.8");
  EXPECT_STREQ(clang_row({25, 0, 0}).ptx_feature, "+ptx88");
  EXPECT_THROW(clang_row({18, 1, 8}), Error);
}

TEST(Clang, TheDevicePassesCarryTheFloatRules) {
  const Input input{"a.cu", Language::kCuda, false};
  const Flags careful = cc("-fmad=false -prec-div=false -G -DX");
  EXPECT_THAT(device_command(setup_with(22), careful, input, "a.ll", "a.d"),
              IsSupersetOf({"--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx88", "-O0", "-DX",
                            "-ffp-contract=off", "-DMUSCOPE_NO_FMAD=1", "-MF", "a.d", "a.ll"}));
  EXPECT_THAT(back_end_command(setup_with(22), careful, "a.ll", "a.ptx"),
              IsSupersetOf({"sm_90", "+ptx88", "-O0", "-ffp-contract=off", "-nvptx-prec-divf32=1", "a.ll", "a.ptx"}));
  const Flags fast = cc("-use_fast_math -O0");
  const auto device = device_command(setup_with(19), fast, input, "a.ll", "");
  EXPECT_THAT(device, IsSupersetOf({"-O3", "-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals",
                                    "-ffp-contract=fast-honor-pragmas", "-target-sdk-version=12.5"}));
  EXPECT_THAT(device, Not(Contains("-MD")));
  // How far loops are unrolled: as nvcc does, and not at all for debugging.
  EXPECT_THAT(device, Contains("-unroll-threshold=1000"));
  EXPECT_THAT(device_command(setup_with(22), cc("-G"), {"a.cu", Language::kCuda, false}, "a.ll", ""),
              Not(Contains("-unroll-threshold=1000")));
  EXPECT_THAT(back_end_command(setup_with(19), fast, "a.ll", "a.ptx"),
              IsSupersetOf({"+ptx85", "-O3", "-ffp-contract=on", "-nvptx-prec-divf32=0", "-nvptx-prec-sqrtf32=0"}));
}

TEST(Clang, TheHostPassIncludesThePtx) {
  const auto words =
      host_command(setup_with(22), cc("-g -Xcompiler -fPIC"), {"a.cu", Language::kCuda, false}, "a.ptx", "a.o");
  EXPECT_THAT(words,
              IsSupersetOf({"--cuda-host-only", "-fcuda-include-gpubinary", "a.ptx", "-g", "-O0", "-fPIC", "a.o"}));
  const auto plain = host_command(setup_with(22), cc("-O1"), {"a.cpp", Language::kCxx, false}, "a.ptx", "a.o");
  EXPECT_EQ(plain.front(), "/usr/bin/g++");
  EXPECT_THAT(plain, Not(Contains("a.ptx")));
  // Overflow wraps in host code that clang compiles in g++'s place, unless the user says otherwise.
  EXPECT_THAT(words, Contains("-fwrapv"));
  const auto trapping =
      host_command(setup_with(22), cc("-Xcompiler -fno-wrapv"), {"a.cu", Language::kCuda, false}, "", "");
  EXPECT_LT(std::find(trapping.begin(), trapping.end(), "-fwrapv"),
            std::find(trapping.begin(), trapping.end(), "-fno-wrapv"));
}

// The report names the lines of host code that copy; who chose debug information keeps the choice.
TEST(HostLines, AreThereUnlessTheUserDecided) {
  const NvccSetup nvcc{{"nvcc", "/nvcc", {13, 0, 88}}, 90};
  const Input source{"a.cu", Language::kCuda, false};
  for (const char* const decided : {"-g", "-Xcompiler -g3", "-Xcompiler -ggdb"}) {
    EXPECT_THAT(host_command(setup_with(22), cc(decided), source, "a.ptx", "a.o"), Not(Contains("-g1"))) << decided;
    EXPECT_THAT(nvcc_object_command(nvcc, compile_flags(decided), source, "a.o", ""), Not(Contains("-g1"))) << decided;
  }
  EXPECT_THAT(host_command(setup_with(22), cc("-O3"), source, "a.ptx", "a.o"), Contains("-g1"));
  EXPECT_THAT(host_command(setup_with(22), cc(""), {"a.cc", Language::kCxx, false}, "", "a.o"), Contains("-g1"));
  EXPECT_THAT(nvcc_object_command(nvcc, compile_flags("-G"), source, "a.o", ""), IsSupersetOf({"-Xcompiler", "-g1"}));
  EXPECT_THAT(nvcc_stand_in_command(nvcc.nvcc, {"-c", "a.cu"}, cc("-c a.cu")), IsSupersetOf({"-Xcompiler", "-g1"}));
}

TEST(Clang, MusaSourcesGetMusasNames) {
  const Flags flags = cc("--offload-arch=mp_22 -mtgpu -x musa -c k.cpp");
  ASSERT_TRUE(flags.inputs.at(0).musa);
  EXPECT_EQ(flags.inputs[0].language, Language::kCuda);
  EXPECT_THAT(device_command(setup_with(22), flags, flags.inputs[0], "k.ptx", ""),
              IsSupersetOf({"/T/musa_runtime.h", "-D__MUSA_ARCH__=220"}));
  EXPECT_TRUE(cc("a.mu").inputs.at(0).musa);
  EXPECT_FALSE(cc("a.cu").inputs.at(0).musa);
  EXPECT_EQ(error_of("--offload-arch=sm_90"), "D408");
}

TEST(Clang, LinksAgainstOurRuntimeUnlessToldNotTo) {
  const auto words = link_command(setup_with(22), cc("-lm"), {"a.o"}, "app");
  EXPECT_THAT(words, IsSupersetOf({"a.o", "-lm", "-L/R/lib64", "-lcudart", "-rpath", "/L", "app"}));
  EXPECT_THAT(link_command(setup_with(22), cc("-cudart none"), {"a.o"}, "app"), Not(Contains("-lcudart")));
  EXPECT_THAT(link_command(setup_with(22), cc("-shared"), {"a.o"}, "x.so"), Contains("-shared"));
}

TEST(Clang, NotesSayWhatHasNoEffect) {
  EXPECT_THAT(clang_notes(cc("-Xptxas -v -lineinfo")), IsEmpty());
  EXPECT_EQ(clang_notes(cc("-Xptxas -dlcm=cg")).size(), 1u);
  EXPECT_EQ(clang_notes(cc("--resource-usage")).at(0).code, "D409");
}

TEST(Clang, RegisterLimitsGoOnEveryKernelThatHasNone) {
  const std::string ptx =
      ".visible .entry a(\n\t.param .u64 p\n)\n{\n ret;\n}\n"
      ".visible .entry b()\n.maxntid 32, 1, 1\n.minnctapersm 2\n{\n ret;\n}\n"
      "// .entry in a comment\n.func c() { ret; }\n";
  const std::string limited = with_register_limit(ptx, 40);
  EXPECT_THAT(limited, HasSubstr(")\n.maxnreg 40\n{"));
  EXPECT_EQ(limited.find(".maxnreg"), limited.rfind(".maxnreg"));
  EXPECT_EQ(limited.size(), ptx.size() + std::string(".maxnreg 40\n").size());
}

TEST(Clang, UnresolvedSymbolsAreNamed) {
  EXPECT_THAT(unresolved_symbols(".extern .func  (.param .b32 func_retval0) vprintf\n(\n.param .b64 a\n)\n;\n"
                                 ".extern .shared .align 4 .b8 tile[];\n"),
              IsEmpty());
  EXPECT_THAT(unresolved_symbols(".extern .func  (.param .b32 func_retval0) _Z5otheri\n(\n\t.param .b32 a\n)\n;\n"
                                 "\t.extern .global .align 4 .u32 table[16];\n// .extern .func nothing;\n"
                                 ".extern .func plain()\n;\n"),
              ElementsAre("_Z5otheri", "plain", "table"));
}

TEST(Nvcc, PtxIsAlwaysInside) {
  const NvccSetup setup{{"nvcc", "/nvcc", {13, 0, 88}}, 90};
  EXPECT_THAT(nvcc_targets(setup, cc("")), ElementsAre("-gencode", "arch=compute_90,code=[compute_90,sm_90]"));
  EXPECT_THAT(nvcc_targets(setup, cc("-arch=sm_80")), IsEmpty());
  EXPECT_THAT(nvcc_targets(setup, cc("-gencode arch=compute_80,code=sm_80")),
              ElementsAre("-gencode", "arch=compute_80,code=compute_80"));
}

TEST(Nvcc, TheRuntimeIsSharedAndLinesAreThere) {
  const NvccSetup setup{{"nvcc", "/nvcc", {13, 0, 88}}, 90};
  const auto object =
      nvcc_object_command(setup, compile_flags("-DX -cudart static"), {"a.cu", Language::kCuda, false}, "a.o", "a.d");
  EXPECT_THAT(object, IsSupersetOf({"-lineinfo", "-DX", "-O2", "-MD", "-c", "a.cu"}));
  EXPECT_THAT(object, Not(Contains("static")));
  EXPECT_THAT(nvcc_object_command(setup, compile_flags("-G"), {"a.cu", Language::kCuda, false}, "a.o", ""),
              Not(Contains("-lineinfo")));
  EXPECT_THAT(nvcc_link_command(setup, compile_flags("-lm"), {"a.o"}, "app"),
              IsSupersetOf({"-cudart", "shared", "-lm", "app"}));
}

}  // namespace
}  // namespace muscope::toolchain
