// `muscope pattern --json`: schema muscope.pattern/1.
#include <nlohmann/json.hpp>

#include "cli/pattern_view.h"
#include "model/pattern_file.h"

namespace muscope::cli {

std::string pattern_json(const PatternView& view) {
  using Json = nlohmann::ordered_json;
  const model::Pattern& p = view.pattern;
  const model::PatternCounts& c = view.counts;
  const GradedReason grade = grade_of(view.gpu, p);
  Json j;
  j["schema"] = "muscope.pattern/1";
  j["gpu"] = {{"name", view.gpu.name}, {"cc", view.gpu.cc_text()}};
  j["space"] = model::name_of(p.space);
  j["op"] = model::name_of(p.op);
  j["bytes"] = p.bytes;
  j["mask"] = model::mask_text(p.mask, static_cast<unsigned>(p.addresses.size()));
  j["l1"] = view.l1_on;
  j["origin"] = view.origin;
  Json& lanes = j["lanes"] = Json::array();
  for (unsigned lane = 0; lane < p.addresses.size(); ++lane) {
    Json entry{{"lane", lane}, {"active", p.mask.test(lane)}};
    if (p.mask.test(lane)) {
      const std::uint64_t a = p.addresses[lane];
      if (!view.indexes.empty() && view.indexes[lane]) entry["index"] = *view.indexes[lane];
      entry["address"] = a;
      if (p.space == model::PatternSpace::kGlobal) {
        entry["sector"] = a / 32;
        entry["line"] = a / 128;
      } else {
        entry["word"] = a / 4;
        if (p.space == model::PatternSpace::kShared) entry["bank"] = a / 4 % 32;
      }
      if (!c.cas_loop) entry["pass"] = view.passes[lane];
    }
    lanes.push_back(std::move(entry));
  }
  Json& counts = j["counts"] = Json::object();
  const auto add = [&](const char* name, const std::optional<std::uint32_t>& value, const char* unit) {
    if (!value) return;
    counts[name] = {{"value", *value}, {"unit", unit}, {"grade", report::name_of(grade.grade)}};
    if (grade.grade != report::Grade::kCounted) counts[name]["reason"] = grade.reason;
  };
  add("requests", c.requests, "request");
  add("sectors", c.sectors, "sector");
  add("ideal_sectors", c.ideal_sectors, "sector");
  add("lines", c.lines, "line");
  add("t_wavefronts", c.t_wavefronts, "wavefront");
  add("wavefronts", c.wavefronts, "wavefront");
  add("ideal_wavefronts", c.ideal_wavefronts, "wavefront");
  add("bank_conflicts", c.bank_conflicts, "conflict");
  add("constant_requests", c.constant_requests, "request");
  add("constant_lines", c.constant_lines, "line");
  if (c.transactions) {
    const model::Transactions& t = *c.transactions;
    j["transactions"] = {{"of_32", t.of_32},
                         {"of_64", t.of_64},
                         {"of_128", t.of_128},
                         {"bytes_moved", t.bytes_moved},
                         {"bytes_used", t.bytes_used},
                         {"bytes_asked", t.bytes_asked},
                         {"bus_utilisation", t.bus_utilisation()},
                         {"efficiency", t.efficiency()},
                         {"grade", report::name_of(grade.grade)}};
  }
  if (c.cas_loop)
    j["cas_loop"] = {{"rounds", c.cas_loop->rounds},
                     {"load_wavefronts", c.cas_loop->load_wavefronts},
                     {"atomic_wavefronts", c.cas_loop->atom_wavefronts}};
  if (!view.misaligned.empty()) j["misaligned_lanes"] = view.misaligned;
  const std::string collisions = pattern_collisions(view);
  if (!collisions.empty()) j["collisions"] = collisions;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muscope::cli
