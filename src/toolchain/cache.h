// What was compiled before, found again by content.
//
// On disk, below $XDG_CACHE_HOME/muscope (else ~/.cache/muscope, else $TMPDIR/muscope-UID):
//   compile/<key>.list        the files that a compilation with this key read last time, one per line
//   compile/<key2>/           its result: the program, and "info" with size and checksum; key2 = key + their contents
//   blobs/<key>               byte strings with a checksum in front (assembled cubins)
// New entries are written aside and renamed, so that concurrent runs never see half of one. A damaged entry counts as
// absent and is made anew. As with other compiler caches, a new header that would now be found *earlier* on the include
// path than one in the list is not noticed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::toolchain {

/// 128 bits over everything that was added, in order and with lengths: XXH3 of libxxhash.
class Hasher {
 public:
  Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  ~Hasher();

  void add(std::string_view bytes);
  /// The content of a file; false when it cannot be read.
  bool add_file(const std::string& path);
  std::string hex() const;  ///< 32 digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A program in the cache.
struct CachedProgram {
  std::string program;  ///< path
  std::string info;     ///< the text given to store_program
};

class Cache {
 public:
  static constexpr std::uint64_t kDefaultLimit = std::uint64_t{1} << 30;  ///< bytes

  /// The cache in that directory, which is created. `limit`: bytes; the entries used least recently go first.
  explicit Cache(std::string directory, std::uint64_t limit = kDefaultLimit);

  /// The user's cache, or none when no candidate directory can be written.
  static std::optional<Cache> of_user();

  /// The program compiled earlier for this key from files that have not changed since.
  std::optional<CachedProgram> find_program(const std::string& key) const;

  /// Keeps the file `program` (of the same file system) under the name `name`. `read_files`: everything the compilation
  /// read. Nothing when the entry cannot be written.
  std::optional<CachedProgram> store_program(const std::string& key, const std::vector<std::string>& read_files,
                                             const std::string& program, const std::string& name,
                                             const std::string& info);

  std::optional<std::string> find_blob(const std::string& key) const;
  void store_blob(const std::string& key, std::string_view bytes);

  /// A new empty directory of this process inside the cache, for files that store_program will take.
  std::string make_work_directory();

  const std::string& directory() const { return directory_; }

 private:
  /// Removes what was used longest ago until the limit holds, but never `newest`.
  void evict(const std::string& newest);

  std::string directory_;
  std::uint64_t limit_;
};

}  // namespace muscope::toolchain
