// Texture objects: what the program described, kept beside what the engine samples.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/cuda_abi.h"

namespace muscope::runtime {

struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  std::optional<cudaResourceViewDesc> view;
};

/// By handle (exec::register_texture). Thread-safe.
class Textures {
 public:
  void add(std::uint64_t handle, const TextureObject& object) {
    const std::lock_guard lock(mutex_);
    objects_[handle] = object;
  }
  std::optional<TextureObject> find(std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? std::nullopt : std::optional(found->second);
  }
  bool drop(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    return objects_.erase(handle) > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, TextureObject> objects_;
};

}  // namespace muscope::runtime
