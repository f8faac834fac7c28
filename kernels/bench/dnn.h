// cuDNN as a peer for convolutions: the fastest forward algorithm that it finds itself, in float without TF32.
#pragma once

#include <cudnn.h>

#include "harness.cuh"
#include "peers.h"

namespace bench {

class Dnn {
 public:
  Dnn() {
    library_ = load_library("libcudnn.so.9");
    if (library_ == nullptr) return;
    ready = symbol<decltype(&cudnnCreate)>("cudnnCreate")(&handle_) == CUDNN_STATUS_SUCCESS;
    std::fprintf(stderr, "cuDNN %zu\n", symbol<decltype(&cudnnGetVersion)>("cudnnGetVersion")());
  }

  bool ready = false;

  /// Makes ready for images of one channel and a k x k filter; false if cuDNN refuses.
  bool prepare(int images, int height, int width, int k) {
    symbol<decltype(&cudnnCreateTensorDescriptor)>("cudnnCreateTensorDescriptor")(&tensor_);
    symbol<decltype(&cudnnCreateFilterDescriptor)>("cudnnCreateFilterDescriptor")(&filter_);
    symbol<decltype(&cudnnCreateConvolutionDescriptor)>("cudnnCreateConvolutionDescriptor")(&convolution_);
    bool good = symbol<decltype(&cudnnSetTensor4dDescriptor)>("cudnnSetTensor4dDescriptor")(
                    tensor_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, images, 1, height, width) == 0 &&
                symbol<decltype(&cudnnSetFilter4dDescriptor)>("cudnnSetFilter4dDescriptor")(
                    filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, k, k) == 0 &&
                symbol<decltype(&cudnnSetConvolution2dDescriptor)>("cudnnSetConvolution2dDescriptor")(
                    convolution_, k / 2, k / 2, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT) == 0 &&
                symbol<decltype(&cudnnSetConvolutionMathType)>("cudnnSetConvolutionMathType")(convolution_,
                                                                                              CUDNN_FMA_MATH) == 0;
    if (!good) return false;
    cudnnConvolutionFwdAlgoPerf_t found[8];
    int count = 0;
    if (symbol<decltype(&cudnnFindConvolutionForwardAlgorithm)>("cudnnFindConvolutionForwardAlgorithm")(
            handle_, tensor_, filter_, convolution_, tensor_, 8, &count, found) != 0) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      if (found[i].status != CUDNN_STATUS_SUCCESS || found[i].mathType != CUDNN_FMA_MATH ||
          found[i].memory > kWorkspace)
        continue;
      algorithm_ = found[i].algo;
      if (workspace_ == nullptr) CHECK(cudaMalloc(&workspace_, kWorkspace));
      cudaGetLastError();
      return true;
    }
    return false;
  }

  cudaError_t operator()(float* out, const float* in, const float* weights) const {
    const float one = 1, zero = 0;
    return symbol<decltype(&cudnnConvolutionForward)>("cudnnConvolutionForward")(
               handle_, &one, tensor_, in, filter_, weights, convolution_, algorithm_, workspace_, kWorkspace, &zero,
               tensor_, out) == CUDNN_STATUS_SUCCESS
               ? cudaSuccess
               : cudaErrorUnknown;
  }

 private:
  /// The function of the library that has the type of a declaration.
  template <typename Function>
  Function symbol(const char* name) const {
    void* const found = dlsym(library_, name);
    if (found == nullptr) {
      std::fprintf(stderr, "cuDNN has no %s\n", name);
      std::exit(1);
    }
    return reinterpret_cast<Function>(found);
  }

  static constexpr std::size_t kWorkspace = std::size_t{1} << 30;
  void* library_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t tensor_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  void* workspace_ = nullptr;
};

}  // namespace bench
