// The process's textures and surfaces by handle.
#include <map>
#include <mutex>
#include <shared_mutex>

#include "exec/texture.h"

namespace muscope::exec {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<const Texture>> textures;
  std::map<std::uint64_t, std::shared_ptr<const Surface>> surfaces;
  std::uint64_t next = 1;
};
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

template <typename Map, typename Value>
std::uint64_t add(Map Table::* map, Value value) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  const std::uint64_t handle = t.next++;
  (t.*map)[handle] = std::move(value);
  return handle;
}
template <typename Map>
bool drop(Map Table::* map, std::uint64_t handle) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  return (t.*map).erase(handle) > 0;
}
template <typename Map>
typename Map::mapped_type find(Map Table::* map, std::uint64_t handle) {
  Table& t = table();
  const std::shared_lock lock(t.mutex);
  const auto at = (t.*map).find(handle);
  return at == (t.*map).end() ? nullptr : at->second;
}

}  // namespace

std::uint64_t register_texture(std::shared_ptr<const Texture> texture) {
  return add(&Table::textures, std::move(texture));
}
bool drop_texture(std::uint64_t handle) { return drop(&Table::textures, handle); }
std::shared_ptr<const Texture> find_texture(std::uint64_t handle) { return find(&Table::textures, handle); }

std::uint64_t register_surface(std::shared_ptr<const Surface> surface) {
  return add(&Table::surfaces, std::move(surface));
}
bool drop_surface(std::uint64_t handle) { return drop(&Table::surfaces, handle); }
std::shared_ptr<const Surface> find_surface(std::uint64_t handle) { return find(&Table::surfaces, handle); }

}  // namespace muscope::exec
