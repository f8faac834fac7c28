#include "toolchain/cache.h"

#include "toolchain/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace muscope::toolchain {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kProgramInfo = "muscope program 1";
constexpr auto kAbandoned = std::chrono::hours(24);  ///< work directories older than this belong to killed processes

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return !file.fail();
}

std::string hash_of_file(const std::string& path) {
  Hasher hasher;
  return hasher.add_file(path) ? hasher.hex() : std::string();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The key of a result: that of the request and the contents of all files read. Empty when one cannot be read.
std::string key_with_contents(const std::string& key, const std::vector<std::string>& files) {
  Hasher hasher;
  hasher.add(key);
  for (const std::string& file : files) {
    hasher.add(file);
    if (!hasher.add_file(file)) return {};
  }
  return hasher.hex();
}

/// A name that no other process or call uses.
std::string unique_name() {
  static std::atomic<int> count{0};
  return fmt::format("tmp.{}.{}", ::getpid(), ++count);
}

/// Marks an entry as used now, for eviction.
void touch(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

bool writable(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  return !error && ::access(directory.c_str(), W_OK | X_OK) == 0;
}

std::uint64_t bytes_in(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return fs::file_size(path, error);
  std::uint64_t sum = 0;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) sum += it->file_size(ignored);
  }
  return sum;
}

}  // namespace

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::add(std::string_view bytes) {
  // The length keeps ("ab", "c") apart from ("a", "bc").
  const std::uint64_t size = bytes.size();
  XXH3_128bits_update(&state_->xxh, &size, sizeof size);
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

bool Hasher::add_file(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (text) add(*text);
  return text.has_value();
}

std::string Hasher::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Cache::Cache(std::string directory, std::uint64_t limit) : directory_(std::move(directory)), limit_(limit) {
  std::error_code ignored;
  fs::create_directories(directory_ + "/compile", ignored);
  fs::create_directories(directory_ + "/blobs", ignored);
}

std::optional<Cache> Cache::of_user() {
  std::vector<std::string> candidates;
  const auto from = [&](const char* variable, const std::string& rest) {
    const char* value = std::getenv(variable);
    if (value != nullptr && value[0] == '/') candidates.push_back(value + rest);
  };
  from("XDG_CACHE_HOME", "/muscope");
  from("HOME", "/.cache/muscope");
  const std::string own = fmt::format("/muscope-{}", ::getuid());
  from("TMPDIR", own);
  candidates.push_back("/tmp" + own);
  for (const std::string& candidate : candidates) {
    if (!writable(candidate)) continue;
    // In a shared /tmp another user may have made the directory first: what is executed must be ours.
    struct stat status{};
    if (::stat(candidate.c_str(), &status) != 0 || status.st_uid != ::getuid()) continue;
    Cache cache(candidate);
    if (writable(candidate + "/compile") && writable(candidate + "/blobs")) return cache;
  }
  return std::nullopt;
}

std::optional<CachedProgram> Cache::find_program(const std::string& key) const {
  const std::optional<std::string> list = read_file(directory_ + "/compile/" + key + ".list");
  if (!list) return std::nullopt;
  const std::string result_key = key_with_contents(key, lines_of(*list));
  if (result_key.empty()) return std::nullopt;
  const std::string entry = directory_ + "/compile/" + result_key;
  const std::optional<std::string> info = read_file(entry + "/info");
  if (!info) return std::nullopt;
  // Four lines: mark, name, checksum of the program; then the caller's text.
  std::array<std::string, 3> head;
  std::size_t at = 0;
  for (std::string& line : head) {
    const std::size_t end = info->find('\n', at);
    if (end == std::string::npos) return std::nullopt;
    line = info->substr(at, end - at);
    at = end + 1;
  }
  const std::string program = entry + "/" + head[1];
  if (head[0] != kProgramInfo || hash_of_file(program) != head[2]) return std::nullopt;
  touch(entry);
  touch(directory_ + "/compile/" + key + ".list");
  return CachedProgram{program, info->substr(at)};
}

std::optional<CachedProgram> Cache::store_program(const std::string& key, const std::vector<std::string>& read_files,
                                                  const std::string& program, const std::string& name,
                                                  const std::string& info) {
  std::vector<std::string> files = read_files;
  // A name with a line break could not be read back; such a compilation is simply not kept.
  const bool listable = std::none_of(files.begin(), files.end(),
                                     [](const std::string& file) { return file.find('\n') != std::string::npos; });
  const std::string result_key = key_with_contents(key, files);
  const std::string checksum = hash_of_file(program);
  if (!listable || result_key.empty() || checksum.empty()) return std::nullopt;

  std::string list;
  for (const std::string& file : files) list += file + '\n';
  const std::string fresh = make_work_directory();
  const std::string entry = directory_ + "/compile/" + result_key;
  std::error_code error;
  // A link, not a move: the caller keeps its file if the entry cannot be completed.
  fs::create_hard_link(program, fresh + "/" + name, error);
  if (error) return std::nullopt;
  bool good = write_file(fresh + "/info", fmt::format("{}\n{}\n{}\n{}", kProgramInfo, name, checksum, info)) &&
              write_file(fresh + "/list", list);
  if (good) {
    fs::rename(fresh + "/list", directory_ + "/compile/" + key + ".list", error);
    good = !error;
  }
  if (good) {
    fs::rename(fresh, entry, error);
    // An entry that is there already was made a moment ago by another process, which may be running it, or is damaged.
    if (error) {
      if (std::optional<CachedProgram> theirs = find_program(key)) {
        fs::remove_all(fresh, error);
        return theirs;
      }
      const std::string aside = directory_ + "/compile/" + unique_name();
      fs::rename(entry, aside, error);
      fs::rename(fresh, entry, error);
      good = !error;
      fs::remove_all(aside, error);
    }
  }
  if (!good) {
    fs::remove_all(fresh, error);
    return std::nullopt;
  }
  evict(entry);
  return CachedProgram{entry + "/" + name, info};
}

std::optional<std::string> Cache::find_blob(const std::string& key) const {
  const std::string path = directory_ + "/blobs/" + key;
  std::optional<std::string> text = read_file(path);
  if (!text || text->size() < 32) return std::nullopt;
  Hasher hasher;
  hasher.add(std::string_view(*text).substr(32));
  if (text->compare(0, 32, hasher.hex()) != 0) return std::nullopt;
  touch(path);
  text->erase(0, 32);
  return text;
}

void Cache::store_blob(const std::string& key, std::string_view bytes) {
  Hasher hasher;
  hasher.add(bytes);
  const std::string fresh = directory_ + "/blobs/" + unique_name();
  std::error_code error;
  if (write_file(fresh, hasher.hex() + std::string(bytes))) fs::rename(fresh, directory_ + "/blobs/" + key, error);
  fs::remove(fresh, error);
  evict(directory_ + "/blobs/" + key);
}

std::string Cache::make_work_directory() {
  std::string path = directory_ + "/compile/" + unique_name();
  std::error_code error;
  fs::remove_all(path, error);
  fs::create_directories(path, error);
  return path;
}

void Cache::evict(const std::string& newest) {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  const auto now = fs::file_time_type::clock::now();
  for (const char* folder : {"/compile", "/blobs"}) {
    std::error_code error;
    for (fs::directory_iterator it(directory_ + folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code ignored;
      const fs::file_time_type used = it->last_write_time(ignored);
      if (it->path().filename().string().starts_with("tmp.")) {
        if (now - used > kAbandoned) fs::remove_all(it->path(), ignored);
        continue;
      }
      if (it->path() == newest) total += bytes_in(it->path());
      if (it->path() == newest) continue;
      entries.push_back({it->path(), used, bytes_in(it->path())});
      total += entries.back().bytes;
    }
  }
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_) break;
    std::error_code ignored;
    fs::remove_all(entry.path, ignored);
    total -= entry.bytes;
  }
}

}  // namespace muscope::toolchain
