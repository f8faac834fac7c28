#include "runtime/selection.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "runtime/run_options.h"

namespace muscope::runtime {
namespace {

/// 0: nobody said anything yet.
std::atomic<int> told{0};
constexpr int kStarted = 1, kStopped = 2;

using Stacks = std::map<const void*, std::vector<std::string>>;
Stacks& stacks_of_thread() {
  thread_local Stacks stacks;
  return stacks;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void profiler_start() { told = kStarted; }
void profiler_stop() { told = kStopped; }

bool selects_launch(std::uint32_t index, std::string_view kernel) {
  const RunOptions& options = RunOptions::of_process();
  const int now = told;
  if (now == kStopped || (now == 0 && !options.profile_from_start)) return false;
  if (!options.nvtx_ranges.empty() && !Ranges::of_process().inside(options.nvtx_ranges)) return false;
  return options.selects(index, kernel);
}

Ranges& Ranges::of_process() {
  static auto* const ranges = new Ranges;  // outlives exit handlers
  return *ranges;
}

std::string Ranges::full_name(const void* domain, const std::string& name) const {
  const auto known = domains_.find(domain);
  return known == domains_.end() || known->second.empty() ? name : known->second + '@' + name;
}

void Ranges::push(const void* domain, const std::string& name) {
  const std::lock_guard lock(mutex_);
  stacks_of_thread()[domain].push_back(full_name(domain, name));
}

void Ranges::pop(const void* domain) {
  auto& stack = stacks_of_thread()[domain];
  if (!stack.empty()) stack.pop_back();
}

int Ranges::depth(const void* domain) const { return static_cast<int>(stacks_of_thread()[domain].size()); }

std::uint64_t Ranges::start(const void* domain, const std::string& name) {
  const std::lock_guard lock(mutex_);
  started_[next_] = full_name(domain, name);
  return next_++;
}

void Ranges::end(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  started_.erase(handle);
}

void Ranges::name_domain(const void* domain, const std::string& name) {
  const std::lock_guard lock(mutex_);
  domains_[domain] = name;
}

bool Ranges::inside(const std::vector<std::string>& names) const {
  for (const auto& [domain, stack] : stacks_of_thread())
    for (const std::string& name : stack)
      if (contains(names, name)) return true;
  const std::lock_guard lock(mutex_);
  return std::any_of(started_.begin(), started_.end(), [&](const auto& s) { return contains(names, s.second); });
}

}  // namespace muscope::runtime
