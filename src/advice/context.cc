#include "advice/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/cause.h"
#include "report/number_format.h"
#include "report/user_place.h"

namespace muscope::advice {
namespace {

constexpr std::uint64_t kAllocation = 256;  ///< allocations begin at multiples of this
constexpr std::uint64_t kGap = 64;

}  // namespace

double Site::efficiency() const {
  return counts->sectors == 0 ? 1 : static_cast<double>(counts->bytes) / (32.0 * static_cast<double>(counts->sectors));
}

bool Array::written() const {
  return std::any_of(sites.begin(), sites.end(), [](const Site* s) {
    return !s->is_load() && s->counts->kind != trace::Kind::kLoadMatrix &&
           !(s->counts->space == trace::Space::kGlobal &&
             (s->counts->kind == trace::Kind::kCopy || s->counts->kind == trace::Kind::kCopyAround));
  });
}

bool Array::read() const {
  return std::any_of(sites.begin(), sites.end(), [](const Site* s) { return !s->is_store(); });
}

Context::Context(const report::Report& report, const report::LaunchReport& launch) : report_(report), launch_(launch) {
  for (const report::LineReport& line : launch.lines)
    for (const report::SiteReport& counts : line.sites) {
      Site site{&line, &counts, nullptr};
      for (const views::SiteSamples& recorded : samples().sites)
        if (recorded.site == counts.site && recorded.space == counts.space) site.samples = &recorded;
      sites_.push_back(site);
    }
  std::stable_sort(sites_.begin(), sites_.end(), [](const Site& a, const Site& b) {
    return std::tie(a.counts->site, a.counts->space) < std::tie(b.counts->site, b.counts->space);
  });
  for (const trace::Space space : {trace::Space::kGlobal, trace::Space::kShared, trace::Space::kConst}) {
    std::vector<const Site*> sorted;
    for (const Site& site : sites_)
      if (site.counts->space == space && site.samples != nullptr && site.samples->requests > 0) sorted.push_back(&site);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Site* a, const Site* b) { return a->samples->low < b->samples->low; });
    for (const Site* site : sorted) {
      // Small gaps lie within an array, unless another allocation begins after them.
      const std::uint64_t low = site->samples->low;
      const bool within = space != trace::Space::kShared && low % kAllocation != 0;
      if (arrays_.empty() || arrays_.back().space != space || arrays_.back().high + (within ? kGap : 0) <= low)
        arrays_.push_back({space, site->samples->low, site->samples->high, {}});
      arrays_.back().high = std::max(arrays_.back().high, site->samples->high);
      arrays_.back().sites.push_back(site);
    }
  }
}

const views::LaunchSamples& Context::samples() const {
  static const views::LaunchSamples none;
  return launch_.samples ? *launch_.samples : none;
}

std::vector<const Site*> Context::sites_in(trace::Space space) const {
  std::vector<const Site*> found;
  for (const Site& site : sites_)
    if (site.counts->space == space && site.counts->requests > 0) found.push_back(&site);
  return found;
}

const Array* Context::array_of(const Site& site) const {
  for (const Array& array : arrays_)
    if (std::find(array.sites.begin(), array.sites.end(), &site) != array.sites.end()) return &array;
  return nullptr;
}

const Site* Context::find(std::uint32_t site, trace::Space space) const {
  for (const Site& s : sites_)
    if (s.counts->site == site && s.counts->space == space) return &s;
  return nullptr;
}

std::uint64_t Context::threads_per_block() const {
  return std::uint64_t{launch_.block[0]} * launch_.block[1] * launch_.block[2];
}

std::uint64_t Context::blocks() const { return std::uint64_t{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2]; }

std::uint64_t Context::count(std::string_view metric) const {
  const auto found = launch_.metrics.find(metric);
  if (found == launch_.metrics.end()) return 0;
  const auto* count = std::get_if<std::uint64_t>(&found->second.value);
  return count == nullptr ? 0 : *count;
}

double Context::value(std::string_view metric) const {
  const auto found = launch_.metrics.find(metric);
  return found == launch_.metrics.end() ? 0 : found->second.as_double();
}

report::AdviceReport advice_at(const Context& context, const std::vector<const Site*>& sites) {
  report::AdviceReport advice;
  advice.grade = context.launch().stream_grade;
  if (sites.empty()) return advice;
  const report::LineReport& line = *sites.front()->line;
  const report::UserPlace place = report::user_place(line.at, line.inlined_at);
  advice.at = *place.at;
  advice.inlined_at.assign(line.inlined_at.begin() + static_cast<std::ptrdiff_t>(place.depth), line.inlined_at.end());
  if (advice.at.column == 0 && place.depth == 0) advice.at.column = sites.front()->counts->column;
  for (const Site* site : sites) advice.sites.push_back(site->counts->site);
  std::sort(advice.sites.begin(), advice.sites.end());
  advice.sites.erase(std::unique(advice.sites.begin(), advice.sites.end()), advice.sites.end());
  return advice;
}

std::string bytes_text(std::uint64_t bytes) { return fmt::format("{} B", report::grouped(bytes)); }

std::string_view verb_of(const Site& site) { return report::verb_of(site.counts->kind); }

std::string lines_text(const std::vector<const Site*>& sites) {
  std::set<int> lines;
  for (const Site* site : sites) {
    const report::SourcePosition& at = *report::user_place(site->line->at, site->line->inlined_at).at;
    if (!at.file.empty()) lines.insert(at.line);
  }
  if (lines.empty()) return {};
  std::string text = lines.size() == 1 ? "line " : "lines ";
  std::size_t i = 0;
  for (const int line : lines) {
    if (i > 0) text += i + 1 == lines.size() ? " and " : ", ";
    text += std::to_string(line);
    if (++i == 5 && lines.size() > 6) return text + fmt::format(" and {} more", lines.size() - 5);
  }
  return text;
}

}  // namespace muscope::advice
