// The rules against what an NVIDIA H200 counted: one warp-wide memory instruction per row of
// tests/counters/patterns.tsv.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/atomic_passes.h"
#include "model/banks.h"
#include "model/constant.h"
#include "model/l1_stages.h"
#include "model/local.h"
#include "model/sectors.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

struct Row {
  std::string space, op, pattern;
  std::uint32_t bytes = 0;
  GroupMask mask = 0;
  std::vector<std::uint64_t> offsets;
  std::map<std::string, std::uint32_t> counters;
  int line = 0;

  /// Counters that read zero were dropped from the file.
  std::uint32_t counter(const std::string& name) const {
    const auto found = counters.find(name);
    return found == counters.end() ? 0 : found->second;
  }
  bool has(const std::string& name) const { return counters.contains(name); }
  LaneAddresses lanes() const { return {offsets, WarpMask::of(mask), bytes}; }
  std::string label() const {
    return space + " " + op + " " + std::to_string(bytes) + " " + pattern + " (line " + std::to_string(line) + ")";
  }
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> result;
    std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/patterns.tsv");
    std::string text;
    std::getline(in, text);  // header
    for (int line = 2; std::getline(in, text); ++line) {
      std::vector<std::string> cells;
      std::stringstream cut(text);
      for (std::string cell; std::getline(cut, cell, '\t');) cells.push_back(cell);
      if (cells.size() != 7) throw std::runtime_error("patterns.tsv line " + std::to_string(line));
      Row row;
      row.space = cells[0];
      row.op = cells[1];
      row.bytes = static_cast<std::uint32_t>(std::stoul(cells[2]));
      row.pattern = cells[3];
      row.mask = static_cast<GroupMask>(std::stoul(cells[4], nullptr, 16));
      std::stringstream list(cells[5]);
      for (std::string offset; std::getline(list, offset, ',');) row.offsets.push_back(std::stoull(offset));
      row.counters = nlohmann::json::parse(cells[6]).get<std::map<std::string, std::uint32_t>>();
      row.line = line;
      result.push_back(std::move(row));
    }
    return result;
  }();
  return all;
}

/// "ld", "st", "red", "atom" as the counters' names end.
std::string suffix(const std::string& op) {
  if (op == "ST") return "st";
  if (op == "RED") return "red";
  return op == "ATOM" ? "atom" : "ld";
}

/// The record that the engine would make, classified, so that the closed forms are held against hardware too.
trace::WarpAccess record(const Row& row) {
  trace::WarpAccess access;
  access.kind = row.op == "ST"     ? trace::Kind::kStore
                : row.op == "RED"  ? trace::Kind::kRed
                : row.op == "ATOM" ? trace::Kind::kAtom
                                   : trace::Kind::kLoad;
  access.bytes = static_cast<std::uint8_t>(row.bytes);
  access.mask = row.mask;
  access.addresses = row.offsets.data();
  return access;
}
bool affine(const Row& row, std::uint64_t& base, std::int64_t& stride) {
  base = row.offsets[0];
  stride = static_cast<std::int64_t>(row.offsets[1] - row.offsets[0]);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (row.offsets[lane] != base + static_cast<std::uint64_t>(stride * lane)) return false;
  return true;
}

TEST(Patterns, FileIsComplete) { EXPECT_EQ(rows().size(), 1998u); }

TEST(Patterns, GlobalLoadsAndStoresAreExact) {
  int checked = 0, closed = 0;
  for (const Row& row : rows()) {
    if (row.space != "global" || row.op == "RED" || row.op == "ATOM") continue;
    const SectorCounts counts = count_sectors(row.lanes());
    const std::string op = suffix(row.op);
    EXPECT_EQ(row.counter("l1tex__t_requests_pipe_lsu_mem_global_op_" + op), 1u) << row.label();
    EXPECT_EQ(counts.sectors, row.counter("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op)) << row.label();
    ++checked;
    std::uint64_t base;
    std::int64_t stride;
    if (affine(row, base, stride)) {
      EXPECT_EQ(count_sectors_affine(base, stride, row.mask, row.bytes), counts) << row.label();
      ++closed;
    }
  }
  EXPECT_EQ(checked, 868);
  EXPECT_GT(closed, 300);
}

TEST(Patterns, GlobalAtomicsAreExact) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.space != "global" || (row.op != "RED" && row.op != "ATOM")) continue;
    ++checked;
    const std::uint32_t measured = row.counter("l1tex__t_sectors_pipe_lsu_mem_global_op_" + suffix(row.op));
    EXPECT_EQ(count_atomic_sectors(row.lanes()).sectors, measured) << row.label();
    EXPECT_EQ(count_global(record(row)).sectors.sectors, measured) << row.label();
  }
  EXPECT_EQ(checked, 276);
}

TEST(Patterns, SharedWavefrontsAreExact) {
  int checked = 0, conflicts = 0;
  for (const Row& row : rows()) {
    if (row.space != "shared" || (row.op == "ATOM" && row.bytes == 8)) continue;
    const bool atomic = row.op == "RED" || row.op == "ATOM";
    const SharedOp op = atomic ? SharedOp::kAtomic : row.op == "ST" ? SharedOp::kStore : SharedOp::kLoad;
    const std::string name = atomic ? "atom" : suffix(row.op);
    const BankCounts counts = count_banks(row.lanes(), op);
    EXPECT_EQ(counts.wavefronts, row.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + name)) << row.label();
    const std::string conflict = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + name;
    if (row.has(conflict)) {
      EXPECT_EQ(counts.conflicts(), row.counter(conflict)) << row.label();
      ++conflicts;
    } else if (row.pattern.find("merge") == std::string::npos) {
      EXPECT_EQ(counts.conflicts(), 0u) << row.label();  // collected there, read zero
    }
    ++checked;
    std::uint64_t base;
    std::int64_t stride;
    if (affine(row, base, stride)) {
      EXPECT_EQ(count_banks_affine(base, stride, row.mask, row.bytes, op), counts) << row.label();
    }
  }
  EXPECT_EQ(checked, 730);
  EXPECT_GT(conflicts, 150);
}

TEST(Patterns, SharedAtomicsOf8BytesFollowTheCasLoop) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.space != "shared" || row.op != "ATOM" || row.bytes != 8) continue;
    const CasLoopCounts counts = count_cas_loop(row.lanes());
    EXPECT_EQ(counts.rounds, row.counter("smsp__inst_executed_op_shared_ld")) << row.label();
    EXPECT_EQ(counts.load_wavefronts, row.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld")) << row.label();
    EXPECT_EQ(counts.atom_wavefronts, row.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom")) << row.label();
    const std::string conflict = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld";
    if (row.has(conflict)) {
      EXPECT_EQ(counts.load_wavefronts - counts.load_ideal, row.counter(conflict)) << row.label();
    }
    ++checked;
  }
  EXPECT_EQ(checked, 69);
}

TEST(Patterns, ConstantRequestsAreExact) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.space != "const") continue;
    const ConstantCounts counts = count_constant(row.lanes());
    // Two requests, both missing, are the kernel's own parameter loads.
    EXPECT_EQ(counts.requests + 2, row.counter("idc__requests")) << row.label();
    EXPECT_EQ(counts.lines + 2, row.counter("idc__requests_lookup_miss")) << row.label();
    ++checked;
  }
  EXPECT_EQ(checked, 49);
}

TEST(Patterns, LocalSectorsAreExact) {
  // The probe stores buf[(7 i + seed) % n] and loads buf[(5 i + lane * seed) % n] for i below n.
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.space != "local") continue;
    unsigned n = 0, seed = 0;
    ASSERT_EQ(std::sscanf(row.pattern.c_str(), "local%u_seed%u", &n, &seed), 2);
    std::uint32_t stores = 0, loads = 0;
    for (unsigned i = 0; i < n; ++i) {
      std::vector<std::uint64_t> st(32), ld(32);
      for (unsigned lane = 0; lane < 32; ++lane) {
        st[lane] = 4 * ((7 * i + seed) % n);
        ld[lane] = 4 * ((5 * i + lane * seed) % n);
      }
      stores += count_local_sectors(LaneAddresses{st, WarpMask::of(kAllLanes), 4}).sectors;
      loads += count_local_sectors(LaneAddresses{ld, WarpMask::of(kAllLanes), 4}).sectors;
    }
    EXPECT_EQ(stores, row.counter("l1tex__t_sectors_pipe_lsu_mem_local_op_st")) << row.label();
    EXPECT_EQ(loads, row.counter("l1tex__t_sectors_pipe_lsu_mem_local_op_ld")) << row.label();
    ++checked;
  }
  EXPECT_EQ(checked, 6);
}

TEST(Patterns, TStageWavefrontsFollowTheSetHash) {
  int exact = 0, atomics = 0;
  for (const Row& row : rows()) {
    if (row.space != "global") continue;
    const std::string op = suffix(row.op);
    const std::string name = "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_" + op;
    if (!row.has(name)) continue;  // not collected in the later runs
    if (op == "ld" || op == "st") {
      EXPECT_EQ(count_t_wavefronts(row.lanes()), row.counter(name)) << row.label();
      EXPECT_EQ(count_global(record(row)).t_wavefronts, row.counter(name)) << row.label();
      ++exact;
    } else {
      EXPECT_EQ(count_atomic_passes(row.lanes()).wavefronts, row.counter(name)) << row.label();
      EXPECT_EQ(count_global(record(row)).t_wavefronts, row.counter(name)) << row.label();
      ++atomics;
    }
  }
  EXPECT_EQ(exact, 588);
  EXPECT_EQ(atomics, 196);
}

TEST(Patterns, DataWavefrontsOfGlobalLoadsAreExact) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.space != "global" || suffix(row.op) != "ld" || !row.has("l1tex__data_pipe_lsu_wavefronts")) continue;
    trace::WarpAccess access = record(row);
    const GlobalCounts counts = count_global(access);
    // One wavefront is the kernel's own.
    EXPECT_EQ(counts.data_wavefronts + 1, row.counter("l1tex__data_pipe_lsu_wavefronts")) << row.label();
    EXPECT_EQ(counts.sectors, count_sectors(row.lanes())) << row.label();
    if (affine(row, access.base, access.stride)) {
      access.shape = trace::Shape::kAffine;
      EXPECT_EQ(count_global(access), counts) << row.label();
    }
    ++checked;
  }
  EXPECT_EQ(checked, 343);
}

TEST(Patterns, SoftwareCountOfSharedLoadsIsExact) {
  const std::string name = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld";
  int checked = 0, differ = 0;
  for (const Row& row : rows()) {
    if (row.space != "shared" || !row.has(name)) continue;
    if (row.op == "LD") {
      const BankCounts counts = count_banks(row.lanes(), SharedOp::kLoad);
      EXPECT_EQ(counts.sass, row.counter(name)) << row.label();
      differ += counts.sass != counts.wavefronts;
    } else {
      EXPECT_EQ(count_cas_loop(row.lanes()).load_sass, row.counter(name)) << row.label();
    }
    ++checked;
  }
  EXPECT_EQ(checked, 316);
  EXPECT_EQ(differ, 13);
}

TEST(Patterns, SharedCountsOfTheSourcePageAreExact) {
  const std::string name = "memory_l1_wavefronts_shared";
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.space != "shared") continue;
    ASSERT_TRUE(row.has(name) && row.has(name + "_ideal")) << row.label();
    if (row.bytes == 8 && row.op == "ATOM") {
      const CasLoopCounts counts = count_cas_loop(row.lanes());
      EXPECT_EQ(counts.load_sass + counts.atom_wavefronts, row.counter(name)) << row.label();
      continue;  // the ideal of swaps is not known
    }
    const bool atomic = row.op == "RED" || row.op == "ATOM";
    const SharedOp op = atomic ? SharedOp::kAtomic : row.op == "ST" ? SharedOp::kStore : SharedOp::kLoad;
    const BankCounts counts = count_banks(row.lanes(), op);
    EXPECT_EQ(counts.sass, row.counter(name)) << row.label();
    EXPECT_EQ(counts.sass_ideal, row.counter(name + "_ideal")) << row.label();
    ++checked;
  }
  EXPECT_EQ(checked, 730);
}

}  // namespace
}  // namespace muscope::model
