// KernelInfo to CBOR and back.
#include <string_view>
#include <unordered_map>

#include "views/io_parts.h"

namespace muscope::views {
namespace {

// Frames repeat few file and function names: both go through one table of distinct texts.
class TextTable {
 public:
  std::uint64_t index_of(std::string_view text) {
    const auto [at, fresh] = index_.try_emplace(text, list_.size());
    if (fresh) list_.push_back(text);
    return at->second;
  }
  void put(CborWriter& w) const {
    w.array(list_.size());
    for (const std::string_view v : list_) w.text(v);
  }

 private:
  std::unordered_map<std::string_view, std::uint64_t> index_;
  std::vector<std::string_view> list_;
};

std::string get_indexed(CborReader& r, const std::vector<std::string>& table) {
  const std::uint64_t index = r.unsigned_integer();
  if (index >= table.size()) r.bad("text index out of range");
  return table[index];
}

bool chain_has_cycle(const std::vector<Frame>& frames) {
  // 0 not visited, 1 on the chain being walked, 2 known to end.
  std::vector<std::uint8_t> state(frames.size(), 0);
  for (std::uint32_t start = 0; start < frames.size(); ++start) {
    std::uint32_t at = start;
    for (; at != kNoFrame && state[at] == 0; at = frames[at].inlined_at) state[at] = 1;
    if (at != kNoFrame && state[at] == 1) return true;
    for (at = start; at != kNoFrame && state[at] == 1; at = frames[at].inlined_at) state[at] = 2;
  }
  return false;
}

void put(CborWriter& w, const CodeAccesses& a) {
  w.unsigned_integer(a.count);
  w.unsigned_integer(a.bytes);
  w.unsigned_integer(a.each);
}

CodeAccesses get_code_accesses(CborReader& r) {
  CodeAccesses a;
  a.count = r.unsigned_of<std::uint32_t>();
  a.bytes = r.unsigned_of<std::uint32_t>();
  a.each = r.unsigned_of<std::uint32_t>();
  return a;
}

constexpr std::size_t kChangeFields = 11, kCompiledFields = 7;

void put(CborWriter& w, const CompiledFacts& c) {
  w.array(kCompiledFields);
  w.boolean(c.known);
  w.unsigned_integer(c.spill_store_bytes);
  w.unsigned_integer(c.spill_load_bytes);
  w.boolean(c.spills_are_floors);
  w.unsigned_integer(c.frame_bytes);
  w.unsigned_integer(c.stack_bytes);
  w.array(c.changes.size());
  for (const CodeChange& change : c.changes) {
    w.array(kChangeFields);
    w.unsigned_integer(static_cast<std::uint64_t>(change.kind));
    put_frame_index(w, change.frame);
    w.unsigned_integer(static_cast<std::uint64_t>(change.space));
    w.boolean(change.generic);
    w.unsigned_integer(static_cast<std::uint64_t>(change.access));
    put(w, change.ptx);
    put(w, change.machine);
  }
}

CompiledFacts get_compiled(CborReader& r, std::size_t frames) {
  CompiledFacts c;
  r.array_of(kCompiledFields);
  c.known = r.boolean();
  c.spill_store_bytes = r.unsigned_of<std::uint32_t>();
  c.spill_load_bytes = r.unsigned_of<std::uint32_t>();
  c.spills_are_floors = r.boolean();
  c.frame_bytes = r.unsigned_of<std::uint32_t>();
  c.stack_bytes = r.unsigned_of<std::uint32_t>();
  c.changes = get_list<CodeChange>(r, [&](CborReader& in) {
    in.array_of(kChangeFields);
    CodeChange change;
    change.kind = in.enumerator(CodeChangeKind::kWarpSum);
    change.frame = get_frame_index(in);
    if (change.frame != kNoFrame && change.frame >= frames) in.bad("frame index out of range");
    change.space = in.enumerator(trace::Space::kSurface);
    change.generic = in.boolean();
    change.access = in.enumerator(trace::Kind::kAtom);
    change.ptx = get_code_accesses(in);
    change.machine = get_code_accesses(in);
    return change;
  });
  return c;
}

}  // namespace

void put(CborWriter& w, const KernelInfo& k) {
  w.array(21);
  w.unsigned_integer(k.id);
  w.text(k.name);
  w.text(k.mangled);
  w.text(k.module);
  w.text(k.ptx_target);
  w.unsigned_integer(k.static_shared);
  w.unsigned_integer(k.local_bytes);
  w.unsigned_integer(k.param_bytes);
  w.unsigned_integer(k.registers);
  w.text(k.registers_source);
  w.text(k.machine_source);
  w.text(k.machine_problem);
  w.boolean(k.calls_driver);
  for (const std::uint32_t n : k.maxntid) w.unsigned_integer(n);
  w.unsigned_integer(k.minnctapersm);
  TextTable texts;
  for (const Frame& f : k.frames) texts.index_of(f.file), texts.index_of(f.function);
  for (const Site& s : k.sites) texts.index_of(s.text);
  for (const CodeLine& line : k.listing) texts.index_of(line.text);
  texts.put(w);
  w.array(k.frames.size());
  for (const Frame& f : k.frames) {
    w.array(5);
    w.unsigned_integer(texts.index_of(f.file));
    w.unsigned_integer(not_negative(f.line));
    w.unsigned_integer(not_negative(f.column));
    w.unsigned_integer(texts.index_of(f.function));
    put_frame_index(w, f.inlined_at);
  }
  w.array(k.sites.size());
  for (const Site& s : k.sites) {
    w.array(6);
    w.unsigned_integer(texts.index_of(s.text));
    w.unsigned_integer(not_negative(s.ptx_line));
    put_frame_index(w, s.frame);
    w.unsigned_integer(s.bytes);
    w.unsigned_integer(s.pc);
    w.unsigned_integer(static_cast<std::uint64_t>(s.local_use));
  }
  w.array(k.listing.size());
  for (const CodeLine& line : k.listing) {
    w.array(3);
    w.unsigned_integer(line.pc);
    put_frame_index(w, line.frame);
    w.unsigned_integer(texts.index_of(line.text));
  }
  put(w, k.compiled);
}

KernelInfo get_kernel(CborReader& r) {
  KernelInfo k;
  r.array_of(21);
  k.id = r.unsigned_of<std::uint32_t>();
  k.name = r.text();
  k.mangled = r.text();
  k.module = r.text();
  k.ptx_target = r.text();
  k.static_shared = r.unsigned_of<std::uint32_t>();
  k.local_bytes = r.unsigned_of<std::uint32_t>();
  k.param_bytes = r.unsigned_of<std::uint32_t>();
  k.registers = r.unsigned_of<std::uint32_t>();
  k.registers_source = r.text();
  k.machine_source = r.text();
  k.machine_problem = r.text();
  k.calls_driver = r.boolean();
  for (std::uint32_t& n : k.maxntid) n = r.unsigned_of<std::uint32_t>();
  k.minnctapersm = r.unsigned_of<std::uint32_t>();
  const std::vector<std::string> texts = get_texts(r);
  k.frames = get_list<Frame>(r, [&](CborReader& in) {
    in.array_of(5);
    Frame f;
    f.file = get_indexed(in, texts);
    f.line = in.positive_int();
    f.column = in.positive_int();
    f.function = get_indexed(in, texts);
    f.inlined_at = get_frame_index(in);
    return f;
  });
  const auto frame_exists = [&](std::uint32_t frame) { return frame == kNoFrame || frame < k.frames.size(); };
  for (const Frame& f : k.frames) {
    if (!frame_exists(f.inlined_at)) r.bad("frame index out of range");
  }
  if (chain_has_cycle(k.frames)) r.bad("cyclic inline chain");
  k.sites = get_list<Site>(r, [&](CborReader& in) {
    in.array_of(6);
    Site s;
    s.text = get_indexed(in, texts);
    s.ptx_line = in.positive_int();
    s.frame = get_frame_index(in);
    s.bytes = in.unsigned_of<std::uint8_t>();
    s.pc = in.unsigned_of<std::uint32_t>();
    s.local_use = in.enumerator(LocalUse::kSaved);
    if (!frame_exists(s.frame)) in.bad("frame index out of range");
    return s;
  });
  k.listing = get_list<CodeLine>(r, [&](CborReader& in) {
    in.array_of(3);
    CodeLine line;
    line.pc = in.unsigned_of<std::uint32_t>();
    line.frame = get_frame_index(in);
    line.text = get_indexed(in, texts);
    if (!frame_exists(line.frame)) in.bad("frame index out of range");
    return line;
  });
  k.compiled = get_compiled(r, k.frames.size());
  return k;
}

}  // namespace muscope::views
