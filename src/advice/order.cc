#include "advice/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "advice/context.h"
#include "report/number_format.h"
#include "report/user_place.h"

namespace muscope::advice {
namespace {

using report::AdviceReport;

/// Of several remedies for one access the surest stays: branches joined, swapped indices, a shared tile, another
/// layout, another order.
void drop_superseded(std::vector<AdviceReport>& found) {
  // Swapping helps transposes too where blocks are not square, but a tile helps more.
  const auto gain = [&](std::string_view code) {
    double sum = 0;
    for (const AdviceReport& advice : found)
      if (advice.code == code) sum += advice.before - advice.after;
    return sum;
  };
  if (gain("A104") > gain("A102"))
    std::erase_if(found, [](const AdviceReport& advice) { return advice.code == "A102"; });
  constexpr std::string_view kByStrength[] = {"A112", "A102", "A104", "A101", "A109"};
  std::set<std::uint32_t> cured;
  for (const std::string_view code : kByStrength) {
    std::set<std::uint32_t> here;
    std::erase_if(found, [&](const AdviceReport& advice) {
      if (advice.code != code) return false;
      const bool known = std::all_of(advice.sites.begin(), advice.sites.end(),
                                     [&](std::uint32_t site) { return cured.contains(site); });
      if (!known) here.insert(advice.sites.begin(), advice.sites.end());
      return known;
    });
    cured.insert(here.begin(), here.end());
  }
}

/// What the launch asks of its memories, in the units that advice counts in.
double asked_of_memory(const Context& context) {
  std::uint64_t sum = 0;
  for (const Site& site : context.sites()) {
    switch (site.counts->space) {
      case trace::Space::kGlobal:
      case trace::Space::kLocal:
      case trace::Space::kSurface:
        sum += site.counts->sectors;
        break;
      case trace::Space::kShared:
        sum += site.counts->wavefronts;
        break;
      case trace::Space::kConst:
      case trace::Space::kTexture:
        sum += site.counts->requests;
        break;
    }
  }
  return static_cast<double>(sum);
}

bool counts_memory(const AdviceReport& advice) {
  for (const std::string_view unit :
       {"sectors", "local sectors", "wavefronts", "requests", "constant requests", "requested updates", "lines"})
    if (advice.unit == unit) return true;
  return false;
}

bool is_negligible(const AdviceReport& advice, double asked) {
  if (!counts_memory(advice)) return false;
  // Where no change is known that helps, what is lost is what counts.
  const double gain = advice.after == advice.before && advice.saves == 0 ? advice.before : advice.before - advice.after;
  return std::max(gain, advice.saves) < kNegligible * asked;
}

std::string place_text(const AdviceReport& advice, const AdviceReport& first) {
  if (advice.at.file == first.at.file) return fmt::format("line {}", advice.at.line);
  const std::size_t slash = advice.at.file.rfind('/');
  return fmt::format("{}:{}", slash == std::string::npos ? advice.at.file : advice.at.file.substr(slash + 1),
                     advice.at.line);
}

/// "; likewise line 12, line 14 and 3 more places"
std::string likewise_text(const std::vector<const AdviceReport*>& others, const AdviceReport& first) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> places;
  std::size_t here = 0;
  for (const AdviceReport* other : others) {
    if (other->at.file == first.at.file && other->at.line == first.at.line) {
      here += std::max<std::size_t>(1, other->sites.size());
      continue;
    }
    std::string place = place_text(*other, first);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
  }
  std::string text;
  if (here > 0)
    text = fmt::format("; likewise {} of this line", report::counted_noun(here, "more access", "more accesses"));
  if (places.empty()) return text;
  text += text.empty() ? "; likewise " : ", and ";
  for (std::size_t i = 0; i < std::min(kNamed, places.size()); ++i)
    text += (i == 0 ? "" : i + 1 == places.size() ? " and " : ", ") + places[i];
  if (places.size() > kNamed)
    text += fmt::format(" and {}", report::counted_noun(places.size() - kNamed, "more place", "more places"));
  return text;
}

bool ask_the_same(const AdviceReport& a, const AdviceReport& b) {
  // Each array in shared memory has a layout of its own.
  if (a.code != b.code || a.unit != b.unit || a.change != b.change || !counts_memory(a)) return false;
  return a.code != "A201" || (a.at.file == b.at.file && a.at.line == b.at.line);
}

/// Joins findings that ask for the same change: figures are summed, words and picture are those of the best.
void join_alike(std::vector<AdviceReport>& found) {
  std::vector<AdviceReport> joined;
  std::vector<bool> taken(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (taken[i]) continue;
    std::vector<const AdviceReport*> alike{&found[i]};
    for (std::size_t k = i + 1; k < found.size(); ++k)
      if (!taken[k] && ask_the_same(found[i], found[k])) {
        alike.push_back(&found[k]);
        taken[k] = true;
      }
    const auto best = std::max_element(alike.begin(), alike.end(), [](const AdviceReport* a, const AdviceReport* b) {
      return a->saves < b->saves;  // the first of equals
    });
    AdviceReport one = **best;
    alike.erase(best);
    for (const AdviceReport* other : alike) {
      one.before += other->before;
      one.after += other->after;
      one.saves += other->saves;
      if (other->grade > one.grade) one.grade = other->grade, one.reason = other->reason;
      one.sites.insert(one.sites.end(), other->sites.begin(), other->sites.end());
    }
    one.text += likewise_text(alike, one);
    std::sort(one.sites.begin(), one.sites.end());
    one.sites.erase(std::unique(one.sites.begin(), one.sites.end()), one.sites.end());
    joined.push_back(std::move(one));
  }
  found = std::move(joined);
}

/// An access in a header is shown at the line that calls the header's function: say which.
void name_callees(const Context& context, std::vector<AdviceReport>& found) {
  for (AdviceReport& advice : found) {
    for (const Site& site : context.sites()) {
      if (!std::binary_search(advice.sites.begin(), advice.sites.end(), site.counts->site)) continue;
      const report::UserPlace place = report::user_place(site.line->at, site.line->inlined_at);
      if (place.at->file != advice.at.file || place.at->line != advice.at.line) continue;
      if (place.depth > 0)
        advice.text += fmt::format(" (within {})", report::callee_text(site.line->at, site.line->inlined_at));
      break;
    }
  }
}

}  // namespace

void put_in_order(const Context& context, std::vector<AdviceReport>& found) {
  drop_superseded(found);
  join_alike(found);
  const double asked = asked_of_memory(context);
  std::erase_if(found, [&](const AdviceReport& advice) { return is_negligible(advice, asked); });
  name_callees(context, found);
  std::stable_sort(found.begin(), found.end(), [](const AdviceReport& a, const AdviceReport& b) {
    return std::tie(b.saves, a.code, a.at.file, a.at.line) < std::tie(a.saves, b.code, b.at.file, b.at.line);
  });
}

}  // namespace muscope::advice
