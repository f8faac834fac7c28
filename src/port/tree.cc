#include "port/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace muscope::port {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSourceEndings[] = {".cu",  ".cuh", ".c",   ".cc",  ".cpp",  ".cxx", ".c++",
                                               ".h",   ".hh",  ".hpp", ".hxx", ".h++",  ".inl", ".inc",
                                               ".ipp", ".tpp", ".tcc", ".ixx", ".cppm", ".mu",  ".muh"};

/// One line of an ignore file.
struct IgnoreRule {
  std::string folder;   ///< where the file lies, "" or "a/b/"
  std::string pattern;  ///< without ! and slashes at its ends
  bool negated = false, folders_only = false, anchored = false;
};

std::optional<IgnoreRule> parse_rule(std::string line, const std::string& folder) {
  if (line.ends_with('\r')) line.pop_back();
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.pop_back();
  if (line.empty() || line[0] == '#') return {};
  IgnoreRule rule;
  rule.folder = folder;
  if (line[0] == '!') {
    rule.negated = true;
    line.erase(0, 1);
  }
  if (line.ends_with('/')) {
    rule.folders_only = true;
    line.pop_back();
  }
  rule.anchored = line.find('/') != std::string::npos;
  if (line.starts_with('/')) line.erase(0, 1);
  if (line.empty()) return {};
  rule.pattern = line;
  return rule;
}

bool rule_matches(const IgnoreRule& rule, const std::string& path, bool folder) {
  if (rule.folders_only && !folder) return false;
  if (!path.starts_with(rule.folder)) return false;
  const std::string_view below = std::string_view(path).substr(rule.folder.size());
  if (rule.anchored) return glob_matches(rule.pattern, below);
  const std::size_t slash = below.rfind('/');
  return glob_matches(rule.pattern, slash == std::string_view::npos ? below : below.substr(slash + 1));
}

class Walker {
 public:
  Walker(Tree& tree, const TreeOptions& options) : tree_(tree), options_(options) {
    std::error_code error;
    real_root_ = fs::canonical(tree.root, error).string();
    for (const std::string& text : options.exclude)
      if (auto rule = parse_rule(text, "")) forced_.push_back(*rule);
    for (const std::string& text : options.include)
      if (auto rule = parse_rule(text, "")) only_.push_back(*rule);
  }

  void folder(const std::string& below, int depth) {
    if (depth > 200) return;
    const std::size_t rules_before = rules_.size();
    if (options_.ignore_files)
      for (const char* name : {".gitignore", ".muscopeignore"}) read_ignore_file(below, name);
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(tree_.root + "/" + below, error), end; !error && it != end; it.increment(error))
      entries.push_back(*it);
    if (error)
      fail("D782", fmt::format("the folder '{}' cannot be read: {}", tree_.root + "/" + below, error.message()));
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path() < b.path(); });
    for (const fs::directory_entry& entry : entries) one(entry, below, depth);
    rules_.resize(rules_before);
  }

 private:
  void one(const fs::directory_entry& entry, const std::string& below, int depth) {
    const std::string name = entry.path().filename().string();
    const std::string path = below + name;
    std::error_code error;
    const bool link = entry.is_symlink(error);
    const bool directory = !link && entry.is_directory(error);
    if (name == ".git" || name == ".hg" || name == ".svn") return;
    if (ignored(path, directory)) return;
    if (directory) return folder(path + "/", depth + 1);
    if (!only_.empty() &&
        std::none_of(only_.begin(), only_.end(), [&](const IgnoreRule& r) { return rule_matches(r, path, false); }))
      return;
    TreeFile file;
    file.path = file.new_path = path;
    file.link = link;
    file.special = !link && !entry.is_regular_file(error);
    file.kind = link || file.special ? FileKind::kOther : kind_of_file(name);
    if (link) {
      const std::string target = fs::weakly_canonical(entry.path(), error).string();
      file.link_leaves = error || !(target == real_root_ || target.starts_with(real_root_ + "/"));
    }
    tree_.files.push_back(std::move(file));
  }

  bool ignored(const std::string& path, bool folder) const {
    bool is = false;
    for (const IgnoreRule& rule : rules_)
      if (rule_matches(rule, path, folder)) is = !rule.negated;
    for (const IgnoreRule& rule : forced_)
      if (rule_matches(rule, path, folder)) is = !rule.negated;
    return is;
  }

  void read_ignore_file(const std::string& below, const char* name) {
    const std::string path = tree_.root + "/" + below + name;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    const std::optional<std::string> text = read_file(path, std::size_t{1} << 20);
    if (!text) return;
    for (std::size_t start = 0; start < text->size();) {
      const std::size_t end = std::min(text->find('\n', start), text->size());
      if (auto rule = parse_rule(text->substr(start, end - start), below)) rules_.push_back(*rule);
      start = end + 1;
    }
  }

  Tree& tree_;
  const TreeOptions& options_;
  std::string real_root_;
  std::vector<IgnoreRule> rules_, forced_, only_;
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string normal(const std::string& path) { return fs::path(path).lexically_normal().generic_string(); }

}  // namespace

FileKind kind_of_file(std::string_view name) {
  if (name == "CMakeLists.txt" || name.ends_with(".cmake")) return FileKind::kCMake;
  if (name == "Makefile" || name == "makefile" || name == "GNUmakefile" || name.ends_with(".mk") ||
      name.ends_with(".mak") || name.starts_with("Makefile.") || name.ends_with(".sh"))
    return FileKind::kMake;
  for (const std::string_view ending : kSourceEndings)
    if (name.size() > ending.size() && name.ends_with(ending)) return FileKind::kSource;
  return FileKind::kOther;
}

std::string renamed_path(std::string_view path, Direction direction) {
  if (path.starts_with("cub/") || path.find("/cub/") != std::string_view::npos) return {};
  const char from = direction == Direction::kToMusa ? 'c' : 'm';
  const char to = direction == Direction::kToMusa ? 'm' : 'c';
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view ending = path.substr(dot + 1);
  if (ending.size() < 2 || ending.size() > 3 || ending[0] != from || ending[1] != 'u') return {};
  if (ending.size() == 3 && ending[2] != 'h') return {};
  std::string out(path);
  out[dot + 1] = to;
  return out;
}

Tree read_tree(const std::string& path, const TreeOptions& options) {
  Tree tree;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status))
    fail("D782", fmt::format("'{}' cannot be read: {}", path, error ? error.message() : "there is no such file"),
         "name a file or a folder");
  if (!fs::is_directory(status)) {
    if (!fs::is_regular_file(status)) fail("D782", fmt::format("'{}' is neither a file nor a folder", path));
    const fs::path file(path);
    tree.root = file.has_parent_path() ? file.parent_path().string() : ".";
    tree.single = true;
    const std::string name = file.filename().string();
    const FileKind kind = kind_of_file(name);
    tree.files.push_back({name, kind == FileKind::kOther ? FileKind::kSource : kind, name, false, false, false});
    return tree;
  }
  tree.root = path;
  while (tree.root.size() > 1 && tree.root.ends_with('/')) tree.root.pop_back();
  Walker(tree, options).folder("", 0);
  std::sort(tree.files.begin(), tree.files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return tree;
}

std::optional<std::string> read_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) fail("D782", fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  std::string text;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > most) return {};
  if (!error) text.reserve(size);
  char buffer[1 << 16];
  while (const std::size_t n = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, n);
    if (text.size() > most) return {};
  }
  if (std::ferror(file.get()) != 0) fail("D782", fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  return text;
}

void RenameIndex::add(const std::string& path, const std::string& new_path) {
  renamed_[path] = new_path;
  by_name_[path.substr(parent_of(path).size())].push_back(path);
}

std::string RenameIndex::resolve(const std::string& from, const std::string& name) const {
  const auto named = [&](const std::string& found) {
    // Only the last part changes: the reference keeps its form.
    const std::string& to = renamed_.at(found);
    const std::string last = to.substr(parent_of(to).size());
    return parent_of(name) + last;
  };
  const std::string written = parent_of(name);
  const auto same = by_name_.find(name.substr(written.size()));
  if (same == by_name_.end()) return {};
  for (const std::string& candidate : {normal(parent_of(from) + name), normal(name)})
    if (renamed_.contains(candidate)) return named(candidate);
  // Found through an include path: the end of some file's path, without leading "..".
  std::string rest = normal(name);
  while (rest.starts_with("../")) rest.erase(0, 3);
  for (const std::string& path : same->second)
    if (path == rest || path.ends_with("/" + rest)) return named(path);
  return {};
}

}  // namespace muscope::port
