#include "base/musa_names.h"

#include <gtest/gtest.h>

namespace muscope {
namespace {

TEST(MusaNames, WholeNamesOfRuntimeAndDriver) {
  EXPECT_EQ(with_musa_names("cudaMalloc takes bytes; the launch gave cudaErrorInvalidValue"),
            "musaMalloc takes bytes; the launch gave musaErrorInvalidValue");
  EXPECT_EQ(with_musa_names("cuMemAlloc(CUdeviceptr*) gave CUDA_ERROR_OUT_OF_MEMORY, CU_STREAM_DEFAULT, CUDA_SUCCESS."),
            "muMemAlloc(MUdeviceptr*) gave MUSA_ERROR_OUT_OF_MEMORY, MU_STREAM_DEFAULT, MUSA_SUCCESS.");
}

TEST(MusaNames, OtherWordsStay) {
  for (const char* text : {"CUDA", "CUDA's", "cu", "cuda_runtime.h", "CUSTOM", "accumulate", "my_cudaMalloc",
                           "barracuda", "/opt/cudaX/bin", "cudaX.cu", "CUDA_SUCCESSFUL", ""})
    EXPECT_EQ(with_musa_names(text), text);
}

TEST(MusaNames, QuotedSourceStays) {
  EXPECT_EQ(messages_with_musa_names("a.mu:1: no 'cudaFree'\n   12 | cudaFree(x);\n      | ^~ cudaFree\n"),
            "a.mu:1: no 'musaFree'\n   12 | cudaFree(x);\n      | ^~ musaFree\n");
  EXPECT_EQ(messages_with_musa_names("cudaFree"), "musaFree");
}

}  // namespace
}  // namespace muscope
