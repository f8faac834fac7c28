// Opaque handles that programs hold: only pointers that we gave out and that still live are taken back.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace muscope::runtime {

/// Handles of one type. Thread-safe.
template <typename Object>
class Handles {
 public:
  /// The handle of a new object: its address.
  Object* add(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    Object* const handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// Null when `handle` is not one of ours, or was dropped.
  std::shared_ptr<Object> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> drop(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  std::vector<std::shared_ptr<Object>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Object>> list;
    for (const auto& [handle, object] : objects_) list.push_back(object);
    return list;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Object>> objects_;
};

}  // namespace muscope::runtime
