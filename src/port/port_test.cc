// Sources ported with the rules of data/port.
#include "port/port.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <filesystem>

#include "port/build_file.h"
#include "port/lexer.h"
#include "port/output.h"
#include "port/source.h"

namespace muscope::port {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Rules& rules() {
  static const Rules all = [] {
    std::deque<std::string> kept;
    std::vector<RuleText> tables;
    for (const auto& entry : std::filesystem::directory_iterator(MUSCOPE_SOURCE_DIR "/data/port")) {
      kept.push_back(entry.path().stem().string());
      const std::string& name = kept.back();
      kept.push_back(*read_file(entry.path().string(), 1 << 24));
      tables.push_back({name, kept.back()});
    }
    return Rules(tables);
  }();
  return all;
}

struct Ported {
  std::string text;
  std::vector<std::string> codes;
  PortReport report;
};

Ported port(const std::string& text, Options options = {}, const std::string& name = "a.cu") {
  Ported result;
  result.report = port_text(text, name, rules(), options, result.text);
  for (const Finding& f : result.report.files.front().result.findings) result.codes.push_back(f.code);
  return result;
}

Options back() {
  Options options;
  options.target.direction = Direction::kToCuda;
  return options;
}

TEST(Port, ChangesIdentifiersOnly) {
  EXPECT_EQ(port("cudaMalloc(&p, 4); // cudaMalloc\n\"cudaMalloc here\" R\"x(cudaFree)x\"\n").text,
            "musaMalloc(&p, 4); // cudaMalloc\n\"cudaMalloc here\" R\"x(cudaFree)x\"\n");
  EXPECT_EQ(port("/* cudaFree\n cudaFree */ cudaFree(0);").text, "/* cudaFree\n cudaFree */ musaFree(0);");
  EXPECT_EQ(port("char c = '\"'; cudaFree(0);").text, "char c = '\"'; musaFree(0);");
  EXPECT_EQ(port("int n = 1'000; cudaFree(0);").text, "int n = 1'000; musaFree(0);");
}

TEST(Port, LeavesWhatOnlyLooksAlike) {
  const std::string text =
      "int cu, Accumulate, CURRENT, CUSTOM, barracuda, nppes, CUs; use_cuda(cu); my_cudaMalloc();\n";
  EXPECT_EQ(port(text).text, text);
}

TEST(Port, LeavesNamesOfTheProject) {
  const std::string text =
      "#define CUDA_CHECK(x) x\nvoid cudaHelper(int);\nfloat *cu, *cudaBuf = nullptr;\n"
      "void f() { CUDA_CHECK(cudaHelper(cudaBuf)); }\n";
  const Ported result = port(text);
  EXPECT_EQ(result.text, text);
  EXPECT_THAT(result.codes, IsEmpty());
}

TEST(Port, MembersOfTheProject) {
  // At the declaration, behind a dot, and within the class; what is called elsewhere is CUDA's.
  const Ported api = port(
      "struct Api : Base<int> {\n  musa_t x;\n  cudaError_t cudaMalloc(void**, size_t);\n"
      "  virtual int cudaFree(void*) = 0;\n  int (*cudaMemcpy)(int);\n  void f() { cudaFree(p); ::cudaFree(p); }\n};\n"
      "cudaError_t Api::cudaMalloc(void** p, size_t n) {\n  cudaFree(*p);\n  cudaDeviceSynchronize();\n"
      "  return ::cudaMalloc(p, n);\n}\n"
      "int main() { Api a; a.cudaMalloc(&p, 4); b->cudaFree(p); cudaMalloc(&p, 4); cudaMemcpy(1); }\n");
  EXPECT_EQ(
      api.text,
      "struct Api : Base<int> {\n  musa_t x;\n  musaError_t cudaMalloc(void**, size_t);\n"
      "  virtual int cudaFree(void*) = 0;\n  int (*cudaMemcpy)(int);\n  void f() { cudaFree(p); ::musaFree(p); }\n};\n"
      "musaError_t Api::cudaMalloc(void** p, size_t n) {\n  cudaFree(*p);\n  musaDeviceSynchronize();\n"
      "  return ::musaMalloc(p, n);\n}\n"
      "int main() { Api a; a.cudaMalloc(&p, 4); b->cudaFree(p); musaMalloc(&p, 4); musaMemcpy(1); }\n");
  EXPECT_THAT(api.codes, IsEmpty());
  // Templates before it, conditions with halves of braces, a class without a name.
  EXPECT_EQ(
      port("template <class T, class = void>\nstruct A {\n#if X\n  void g() {\n#else\n  void g(int) {\n#endif\n  }\n"
           "  int cudaFree(T);\n};\ntypedef struct { int cudaMalloc; } B;\nvoid h() { cudaFree(0); cudaMalloc(0, 0); "
           "}\n")
          .text,
      "template <class T, class = void>\nstruct A {\n#if X\n  void g() {\n#else\n  void g(int) {\n#endif\n  }\n"
      "  int cudaFree(T);\n};\ntypedef struct { int cudaMalloc; } B;\nvoid h() { musaFree(0); musaMalloc(0, 0); }\n");
  // In a class that may have inherited it, what was done is told.
  EXPECT_THAT(port("struct A { int cudaFree(int); };\nstruct B : A { void f() { cudaFree(0); } };\n").codes,
              Contains("P021"));
  // Declarations of the API's own.
  EXPECT_EQ(
      port("struct A { friend int cudaFree(void*); API cudaError_t (*f)(int); operator cudaStream_t() const; };\n")
          .text,
      "struct A { friend int musaFree(void*); API musaError_t (*f)(int); operator musaStream_t() const; };\n");
}

TEST(Port, NamespacesOfTheProject) {
  const Ported own = port(
      "namespace my {\nint cudaMemcpy(int);\nvoid f() { cudaMemcpy(1); cudaFree(0); }\n}\n"
      "extern \"C\" {\nint cudaFree(void*);\n}\nint main() { my::cudaMemcpy(2); }\n");
  EXPECT_EQ(own.text,
            "namespace my {\nint cudaMemcpy(int);\nvoid f() { cudaMemcpy(1); musaFree(0); }\n}\n"
            "extern \"C\" {\nint musaFree(void*);\n}\nint main() { my::cudaMemcpy(2); }\n");
  EXPECT_THAT(own.codes, IsEmpty());
  // Outside it may be either, after "using namespace my;".
  const Ported either = port("namespace my { int cudaMemcpy(int); }\nvoid f() { cudaMemcpy(a, b, 4, k); }\n");
  EXPECT_EQ(either.text, "namespace my { int cudaMemcpy(int); }\nvoid f() { musaMemcpy(a, b, 4, k); }\n");
  EXPECT_THAT(either.codes, Contains("P021"));
}

TEST(Port, ParametersOfTheProject) {
  EXPECT_EQ(port("int f(int cudaFree, float* cudaMalloc = nullptr) { return cudaFree + *cudaMalloc; }\n"
                 "int g(cudaStream_t s) { cudaFree(0); return x(a & cudaMemcpy); }\n")
                .text,
            "int f(int cudaFree, float* cudaMalloc = nullptr) { return cudaFree + *cudaMalloc; }\n"
            "int g(musaStream_t s) { musaFree(0); return x(a & musaMemcpy); }\n");
  EXPECT_EQ(port("int flags = f(a & cudaHostAllocMapped);\n").text, "int flags = f(a & musaHostAllocMapped);\n");
}

TEST(Port, CopyOfCudasHeader) {
  // Forty functions of the driver, declared by the project: they are CUDA's all the same.
  std::string header, uses;
  for (const char letter : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn")) {
    header += std::string("CUresult cuFunc") + letter + "x(int);\n";
    uses += std::string("cuFunc") + letter + "x(1);\n";
  }
  EXPECT_EQ(port(header + uses).text.find("cuFunc"), std::string::npos);
  EXPECT_EQ(port("CUresult cuFuncAx(int);\ncuFuncAx(1);\n").text, "MUresult cuFuncAx(int);\ncuFuncAx(1);\n");
}

TEST(Port, WordsThatAreNamespacesToo) {
  EXPECT_EQ(port("cute::print(x); using namespace cute; acute.cute();").text,
            "mute::print(x); using namespace mute; acute.cute();");
  EXPECT_EQ(port("mute(speaker); mute::print(x);", back(), "a.mu").text, "mute(speaker); cute::print(x);");
}

TEST(Port, NamesThatRulesGetWrong) {
  EXPECT_EQ(port("cusolverDnCungqr nppsCubrt_32f CUDA_VERSION cuuint32_t curandStatePhilox4_32_10_t cuCadd").text,
            "musolverDnCungqr mtppsCubrt_32f MUSA_COMP_VERSION muuint32_t murand_state_philox4x32_10 muCadd");
  EXPECT_EQ(port("CU_STREAM_NON_BLOCKING CUdeviceptr make_cuComplex PFN_cuInit __nv_bfloat16").text,
            "MU_STREAM_NON_BLOCKING MUdeviceptr make_muComplex PFN_muInit __mt_bfloat16");
}

TEST(Port, Headers) {
  EXPECT_EQ(port("#include <cuda_runtime.h>\n# include \"cublas_v2.h\"\n#include <cub/cub.cuh>\n").text,
            "#include <musa_runtime.h>\n# include \"mublas.h\"\n#include <cub/cub.cuh>\n");
  EXPECT_THAT(port("#include <nvml.h>\n").codes, Contains("P012"));
  // Of each table, and whatever the order in which tables are read.
  const std::pair<const char*, const char*> regular[] = {{"cuda.h", "musa.h"},
                                                         {"cufft.h", "mufft.h"},
                                                         {"cublasLt.h", "mublasLt.h"},
                                                         {"cuda_fp16.h", "musa_fp16.h"},
                                                         {"cusparse.h", "musparse.h"},
                                                         {"cusolverDn.h", "musolverDn.h"},
                                                         {"cupti.h", "mupti.h"},
                                                         {"npp.h", "mtpp.h"},
                                                         {"curand_kernel.h", "murand_kernel.h"},
                                                         {"nccl.h", "mccl.h"},
                                                         {"cuComplex.h", "muComplex.h"},
                                                         {"curand_philox4x32_x.h", "murand_philox4x32_10.h"}};
  for (const auto& [from, to] : regular) {
    EXPECT_EQ(port(std::string("#include <") + from + ">\n").text, std::string("#include <") + to + ">\n");
    EXPECT_EQ(port(std::string("#include <") + to + ">\n", back()).text, std::string("#include <") + from + ">\n");
  }
}

TEST(Port, PlacesOfWhatIsLonger) {
  const Ported result =
      port("int f() {\n  asm volatile(\"bfe.u32 %0, %1;\"\n      : \"=r\"(a)\n      : \"r\"(b));\n}\n");
  ASSERT_THAT(result.codes, Contains("P001"));
  const Finding& finding = result.report.files.front().result.findings.front();
  EXPECT_EQ(finding.line, 2);
  EXPECT_EQ(finding.end_line, 4);
}

TEST(Port, ShufflesWithAWidth) {
  EXPECT_THAT(port("v = __shfl_down_sync(m, f(a, b), 16);").codes, Contains("P005"));
  EXPECT_THAT(port("v = __shfl_down_sync(m, f(a, b), 16, 32);").codes, IsEmpty());
  EXPECT_THAT(port("v = __shfl_down_sync(m, v, 16, warpSize);").codes, Contains("P005"));  // of warpSize
  EXPECT_THAT(port("auto f = __shfl_down_sync").codes, Contains("P005"));
}

TEST(Port, SharedMemoryOfCuda) {
  EXPECT_THAT(port("bool fits = sizeof(TempStorage) <= 48 * 1024;").codes, Contains("P017"));
  EXPECT_THAT(port("int smem_bytes = 49152;").codes, Contains("P017"));
  EXPECT_THAT(port("int pixels = 48 * 1024;").codes, Not(Contains("P017")));
  EXPECT_THAT(port("int smem_bytes = 16 * 1024;").codes, Not(Contains("P017")));
  EXPECT_THAT(port("v = attributes.ptxVersion * 10;").codes, Contains("P003"));
}

TEST(Port, ArchitecturesByMeaning) {
  const Ported result =
      port("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n#elif 700 <= __CUDA_ARCH__\n#endif\n");
  EXPECT_EQ(result.text,
            "#if defined(__MUSA_ARCH__) && __MUSA_ARCH__ >= 220\n"
            "#elif 210 /* CUDA: 700 */ <= __MUSA_ARCH__\n#endif\n");
  EXPECT_EQ(std::count(result.codes.begin(), result.codes.end(), "P002"), 2);
  EXPECT_THAT(port("int x = __CUDA_ARCH__ / 100;").codes, Contains("P003"));
}

TEST(Port, WhatNeedsAHandIsReported) {
  EXPECT_THAT(port("asm volatile(\"bar.sync 0;\");").codes, Contains("P001"));
  EXPECT_THAT(port("asm(\"cpuid\");", {}, "a.cpp").codes, Not(Contains("P001")));
  EXPECT_THAT(port("cudnnCreate(&h);").codes, Contains("P010"));
  EXPECT_THAT(port("cudaMallocAsync(&p, 1, s);").codes, Contains("P015"));
  EXPECT_THAT(port("tex2D<float>(t, 0, 0);").codes, Contains("P006"));
  EXPECT_THAT(port("CUDA_UNKNOWN_THING(1);").codes, Contains("P021"));
  EXPECT_THAT(port("f(\"cudaFree\");").codes, Contains("P023"));
  Options mp31;
  mp31.target.archs = {31};
  EXPECT_THAT(port("int w = warpSize;").codes, Contains("P005"));
  EXPECT_THAT(port("int w = warpSize;", mp31).codes, IsEmpty());
}

TEST(Port, MusaFilesAreLeftAlone) {
  const Ported result = port("musaMalloc(&p, 4);\ncudaFree(p);\nmuMalloc(1);\n", {}, "a.mu");
  EXPECT_EQ(result.text, "musaMalloc(&p, 4);\ncudaFree(p);\nmuMalloc(1);\n");
  EXPECT_THAT(result.codes, Contains("P026"));
  EXPECT_THAT(result.codes, Contains("P027"));
}

TEST(Port, ThereAndBack) {
  const std::string text =
      "#include <cuda_runtime.h>\n#if __CUDA_ARCH__ >= 860\n#endif\ncudaMemcpy\\\nAsync(a, b, 4, "
      "cudaMemcpyHostToDevice);\n"
      "CUdeviceptr p; cuMemAlloc(&p, CU_MEMHOSTALLOC_PORTABLE); cublasSgemm(h); __nv_bfloat16 x;\n";
  const Ported there = port(text);
  EXPECT_EQ(there.text.find("cuda"), std::string::npos);
  EXPECT_EQ(port(there.text, back()).text, text);
  EXPECT_EQ(port(there.text).text, there.text);
}

TEST(Port, Places) {
  const Ported result = port("int a;\n  \xc3\xa4; asm(\"trap;\");\n");
  const Finding& finding = result.report.files.front().result.findings.front();
  EXPECT_EQ(finding.line, 2);
  EXPECT_EQ(finding.column, 6);
}

TEST(Port, BuildFiles) {
  const Ported make = port("all:\n\tnvcc -arch=sm_80 -Xcompiler -fPIC a.o -lcudart\n", {}, "Makefile");
  EXPECT_EQ(make.text, "all:\n\tmcc --offload-arch=mp_22 -fPIC a.o -lmusart\n");
  EXPECT_EQ(port("F = -O3 -Xcompiler \"-fPIC,-Wall\" -g\nall:\n\tnvcc $(F) a.cu\n", {}, "Makefile").text,
            "F = -O3 -fPIC -Wall -g\nall:\n\tmcc $(F) a.cu\n");
  EXPECT_EQ(port("target_compile_options(x PRIVATE $<$<CONFIG:Debug>:-gencode arch=compute_80,code=sm_80>)\n", {},
                 "CMakeLists.txt")
                .text,
            "target_compile_options(x PRIVATE $<$<CONFIG:Debug>:--offload-arch=mp_22>)\n");
  const Ported cmake = port("find_package(CUDA REQUIRED)\nproject(x LANGUAGES CUDA)\n", {}, "CMakeLists.txt");
  EXPECT_EQ(cmake.text, "find_package(MUSA REQUIRED)\nproject(x LANGUAGES CUDA)\n");
  EXPECT_THAT(cmake.codes, Contains("P031"));
}

TEST(Port, BuildFilesNameFilesWithBlanks) {
  RenameIndex index;
  for (const char* name : {"a", "b c", "d ir/x y", "d ir/z"})
    index.add(std::string(name) + ".cu", std::string(name) + ".mu");
  index.add("h h.cuh", "h h.muh");
  Project project;
  project.renamed_file = [&](const std::string& from, const std::string& name) { return index.resolve(from, name); };
  const auto build = [&](const std::string& text, BuildKind kind) {
    return edited(text, port_build_file(text, "CMakeLists.txt", kind, rules(), project, {}).edits);
  };
  EXPECT_EQ(build("add_executable(x \"b c.cu\" a.cu)\n", BuildKind::kCMake),
            "musa_add_executable(x \"b c.mu\" a.mu)\n");
  EXPECT_EQ(build("add_executable(x b\\ c.cu d\\ ir/z.cu)\n", BuildKind::kCMake),
            "musa_add_executable(x b\\ c.mu d\\ ir/z.mu)\n");
  EXPECT_EQ(build("add_library(x [[b c.cu]] [=[d ir/x y.cu]=])\n", BuildKind::kCMake),
            "musa_add_library(x [[b c.mu]] [=[d ir/x y.mu]=])\n");
  EXPECT_EQ(build("set(S \"a.cu;b c.cu;h h.cuh\")\nset(T \"${D}/d ir/x y.cu\")\n", BuildKind::kCMake),
            "set(S \"a.mu;b c.mu;h h.muh\")\nset(T \"${D}/d ir/x y.mu\")\n");
  EXPECT_EQ(build("x: b\\ c.cu\n\tcc 'b c.cu' \"d ir/z.cu\"\nS = d\\ ir/x\\ y.cu", BuildKind::kMake),
            "x: b\\ c.mu\n\tcc 'b c.mu' \"d ir/z.mu\"\nS = d\\ ir/x\\ y.mu");
  // No file of the project.
  EXPECT_EQ(build("add_executable(x \"q c.cu\")\n", BuildKind::kCMake), "add_executable(x \"q c.cu\")\n");
}

TEST(Port, HostileText) {
  EXPECT_THAT(port("\"never ends\ncudaFree(0);").text, HasSubstr("musaFree"));
  EXPECT_THAT(port("/* never ends").codes, Contains("P040"));
  EXPECT_THAT(port("R\"(never ends").codes, Contains("P040"));
  EXPECT_THAT(port(std::string("a\0b", 3)).codes, Contains("P028"));
  EXPECT_EQ(port("\xff\xfe cudaFree").text, "\xff\xfe musaFree");
}

TEST(Patterns, Match) {
  EXPECT_TRUE(Pattern("cuda[A-Z]*").matches("cudaMalloc"));
  EXPECT_FALSE(Pattern("cuda[A-Z]*").matches("cuda"));
  EXPECT_TRUE(glob_matches("*.cu", "a.cu"));
  EXPECT_FALSE(glob_matches("*.cu", "a/b.cu"));
  EXPECT_TRUE(glob_matches("**/b.cu", "a/b.cu"));
  EXPECT_TRUE(glob_matches("build/**", "build/x/y"));
}

TEST(Codes, EachHasAPage) {
  for (const CodeInfo& code : rules().codes())
    EXPECT_TRUE(std::filesystem::exists(MUSCOPE_SOURCE_DIR "/docs/explain/" + code.code + ".md")) << code.code;
}

}  // namespace
}  // namespace muscope::port
