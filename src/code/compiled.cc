#include "code/compiled.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "code/compiled_accesses.h"
#include "code/source_frames.h"

namespace muscope::code {
namespace {

using views::CodeAccesses;
using views::CodeChange;
using views::CodeChangeKind;
using views::LocalUse;

constexpr std::uint8_t kPopcIncrement = 10;  // MemoryForm::atomic
constexpr std::size_t kDeepestInlining = 200;

void add(CodeAccesses& sum, std::uint32_t bytes) {
  sum.each = sum.count == 0 || sum.each == bytes ? bytes : 0;
  ++sum.count;
  sum.bytes += bytes;
}

/// Rows of KernelInfo::frames by what they say: the same place is found again, whoever wrote it.
class FrameTable {
 public:
  explicit FrameTable(std::vector<views::Frame>& frames) : frames_(frames) {
    for (std::uint32_t n = 0; n < frames.size(); ++n) known_.emplace(key_of(frames[n]), n);
  }

  std::uint32_t row(views::Frame frame) {
    frame.column = 0;
    const auto [at, fresh] = known_.emplace(key_of(frame), static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(std::move(frame));
    return at->second;
  }

  std::uint32_t of_loc(const ptx::Module& module, std::uint32_t loc, std::size_t depth = 0) {
    if (loc >= module.locs.size() || depth > kDeepestInlining) return views::kNoFrame;
    const ptx::Loc& l = module.locs[loc];
    views::Frame frame;
    frame.file = l.file < module.files.size() ? module.files[l.file] : std::string();
    frame.line = l.line;
    if (!l.function.empty()) frame.function = demangle(l.function);
    frame.inlined_at = of_loc(module, l.inlined_at, depth + 1);
    return row(std::move(frame));
  }

  std::uint32_t of_pc(const cubin::CodeImage& image, const cubin::CodeSection& section, std::uint64_t pc) {
    const cubin::FrameRow* const at = cubin::line_at(section, pc);
    if (at == nullptr || at->line == 0) return views::kNoFrame;
    // From the inside out up to what is known, then back: chains may be long, and end in the same calls.
    std::vector<Place> open;
    std::uint32_t outer = views::kNoFrame;
    for (Place place{at->file, at->line, at->frame};;) {
      if (place.file >= image.files.size()) return views::kNoFrame;
      if (const auto found = places_.find(place.key()); found != places_.end()) {
        outer = found->second;
        break;
      }
      open.push_back(place);
      if (place.frame < 0 || static_cast<std::size_t>(place.frame) >= image.frames.size()) break;
      const cubin::InlineFrame& call = image.frames[static_cast<std::size_t>(place.frame)];
      place = {call.file, call.line, call.inlined_at};
    }
    for (; !open.empty(); open.pop_back()) {
      const Place& place = open.back();
      views::Frame frame;
      frame.file = image.files[place.file];
      frame.line = static_cast<int>(place.line);
      frame.inlined_at = outer;
      if (place.frame >= 0 && static_cast<std::size_t>(place.frame) < image.frames.size())
        frame.function = demangle(image.frames[static_cast<std::size_t>(place.frame)].function);
      outer = places_[place.key()] = row(std::move(frame));
    }
    return outer;
  }

 private:
  using Key = std::tuple<std::string, int, std::string, std::uint32_t>;
  static Key key_of(const views::Frame& f) { return {f.file, f.line, f.function, f.inlined_at}; }

  struct Place {
    std::uint32_t file = 0, line = 0;
    std::int32_t frame = -1;
    std::tuple<std::uint32_t, std::uint32_t, std::int32_t> key() const { return {file, line, frame}; }
  };

  std::vector<views::Frame>& frames_;
  std::map<Key, std::uint32_t> known_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> places_;  // of machine code
};

std::optional<trace::Space> space_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::kGlobal:
      return trace::Space::kGlobal;
    case ptx::Space::kShared:
      return trace::Space::kShared;
    case ptx::Space::kLocal:
      return trace::Space::kLocal;
    default:
      return std::nullopt;
  }
}

/// What accesses with comparable addresses have in common: the register or variable that offsets count from.
using Base = std::tuple<const ptx::Function*, AccessType, ptx::Space, std::uint32_t, ptx::SymbolKind, std::uint32_t>;

std::optional<Base> base_of(const PtxAccess& a) {
  const ptx::Operand& address = a.address();
  if (address.kind != ptx::OperandKind::kAddress) return std::nullopt;
  return Base{a.function, a.type, a.space, address.reg, address.symbol_kind, address.symbol};
}

class Facts {
 public:
  Facts(views::KernelInfo& info, const ptx::Module& module, const cubin::CodeImage& image,
        const cubin::CodeSection& section)
      : info_(info),
        module_(module),
        image_(image),
        section_(section),
        frames_(info.frames),
        accesses_(pair_accesses(info.mangled, module, image, section)) {}

  void run() {
    find_spills();
    if (accesses_.has_lines && !module_.locs.empty()) {
      find_changes();
      find_atomics();
    }
    std::stable_sort(
        info_.compiled.changes.begin(), info_.compiled.changes.end(), [](const CodeChange& a, const CodeChange& b) {
          return std::tie(a.frame, a.kind, a.access, a.space) < std::tie(b.frame, b.kind, b.access, b.space);
        });
  }

 private:
  void find_spills() {
    views::CompiledFacts& facts = info_.compiled;
    facts.spills_are_floors = accesses_.local_in_doubt;
    std::map<std::tuple<std::uint32_t, bool, LocalUse>, CodeAccesses> sums;
    std::map<std::uint32_t, LocalUse> use_at;
    for (const MachineAccess& a : accesses_.machine) {
      use_at[a.instruction.pc] = a.use;
      if (a.use != LocalUse::kSpill && a.use != LocalUse::kSaved) continue;
      const std::uint32_t bytes = a.instruction.memory.bytes;
      const bool store = a.type == AccessType::kStore;
      if (a.use == LocalUse::kSpill) (store ? facts.spill_store_bytes : facts.spill_load_bytes) += bytes;
      add(sums[{frames_.of_pc(image_, section_, a.instruction.pc), store, a.use}], bytes);
    }
    for (views::Site& site : info_.sites)
      if (const auto found = use_at.find(site.pc); found != use_at.end()) site.local_use = found->second;
    for (const auto& [key, machine] : sums) {
      const auto& [frame, store, use] = key;
      CodeChange change;
      change.kind = use == LocalUse::kSpill ? CodeChangeKind::kSpilled : CodeChangeKind::kSaved;
      change.frame = frame;
      change.space = trace::Space::kLocal;
      change.access = store ? trace::Kind::kStore : trace::Kind::kLoad;
      change.machine = machine;
      facts.changes.push_back(change);
    }
  }

  /// Whether all of local memory that the program names is gone.
  bool no_local_memory() const {
    return !accesses_.local_in_doubt &&
           std::none_of(accesses_.machine.begin(), accesses_.machine.end(), [](const MachineAccess& a) {
             return a.use == LocalUse::kArray || a.use == LocalUse::kNone
                        ? a.instruction.opcode == sass::Opcode::kLDL || a.instruction.opcode == sass::Opcode::kSTL
                        : false;
           });
  }

  /// Loads and stores by line and state space.
  void find_changes() {
    for (const PtxAccess& a : accesses_.ptx)
      if (const auto base = base_of(a); base && !a.machine.empty()) by_base_[*base].push_back(&a);
    std::map<std::tuple<std::uint32_t, ptx::Space, AccessType>, std::vector<const PtxAccess*>> groups;
    for (const PtxAccess& a : accesses_.ptx)
      if (a.type != AccessType::kAtomic && a.instruction->loc != ptx::kNoIndex)
        groups[{frames_.of_loc(module_, a.instruction->loc), a.space, a.type}].push_back(&a);
    for (const auto& [key, group] : groups) {
      const auto& [frame, space, type] = key;
      if (frame == views::kNoFrame || accesses_.unplaced[static_cast<int>(type)]) continue;
      CodeChange change;
      change.frame = frame;
      change.generic = space == ptx::Space::kGeneric;
      change.space = space_of(space).value_or(trace::Space::kGlobal);
      change.access = type == AccessType::kStore ? trace::Kind::kStore : trace::Kind::kLoad;
      if (classify(group, change)) info_.compiled.changes.push_back(change);
    }
  }

  /// False when nothing changed, or what did is not certain.
  bool classify(const std::vector<const PtxAccess*>& group, CodeChange& change) const {
    bool same_width = true, all_once = true, looped = true, more = false, all_looped = true;
    std::vector<const PtxAccess*> gone;
    for (const PtxAccess* a : group) {
      if (!a->certain) return false;
      add(change.ptx, a->bytes);
      for (const MachineAccess* m : a->machine) {
        add(change.machine, m->instruction.memory.bytes);
        same_width &= m->instruction.memory.bytes == a->bytes;
      }
      if (a->machine.empty()) gone.push_back(a);
      all_once &= a->machine.size() == 1;
      more |= a->machine.size() > 1;
      all_looped &= a->in_loop;
      looped &= a->machine.size() <= 1 || a->in_loop;
    }
    const CodeAccesses &ptx = change.ptx, &machine = change.machine;
    if (same_width && all_once) return false;
    if (change.space == trace::Space::kLocal && !change.generic) {
      // What is left of a local variable may be a spill, where that cannot be told.
      if (accesses_.local_in_doubt) return false;
      if (machine.count == 0 && no_local_memory()) return change.kind = CodeChangeKind::kInRegisters, true;
    }
    const auto all_gone = [&](auto why) { return std::all_of(gone.begin(), gone.end(), why); };
    if (machine.count == 0 && all_gone([&](const PtxAccess* a) { return is_part(*a); })) {
      change.kind = CodeChangeKind::kPartOf;
    } else if (same_width && !gone.empty() && !more) {
      const bool twice = all_gone([&](const PtxAccess* a) { return is_duplicate(*a); });
      change.kind = twice ? CodeChangeKind::kDuplicates : CodeChangeKind::kDropped;
    } else if (machine.bytes == ptx.bytes && machine.count < ptx.count) {
      change.kind = CodeChangeKind::kJoined;
    } else if (all_once && machine.bytes > ptx.bytes) {
      change.kind = CodeChangeKind::kWidened;
    } else if (same_width && gone.empty()) {
      change.kind = looped ? CodeChangeKind::kUnrolled : CodeChangeKind::kCopied;
    } else if (all_looped && machine.bytes >= 2 * ptx.bytes) {
      change.kind = CodeChangeKind::kUnrolledInto;
    } else {
      change.kind = CodeChangeKind::kBecame;
    }
    return true;
  }

  /// Whether `fits(access, offset of `gone` from it)` for an access with the same base.
  template <typename Fits>
  bool any_near(const PtxAccess& gone, Fits fits) const {
    const auto base = base_of(gone);
    if (!base) return false;
    const auto found = by_base_.find(*base);
    return found != by_base_.end() && std::any_of(found->second.begin(), found->second.end(), [&](const PtxAccess* a) {
             return fits(*a, gone.address().offset - a->address().offset);
           });
  }

  /// Another access of the same bytes is left.
  bool is_duplicate(const PtxAccess& gone) const {
    return any_near(gone, [&](const PtxAccess& a, std::int64_t apart) { return a.bytes == gone.bytes && apart == 0; });
  }

  /// A wider one at a near address of the same register is left, which its own PTX is not as wide as.
  bool is_part(const PtxAccess& gone) const {
    return any_near(gone, [](const PtxAccess& a, std::int64_t apart) {
      return std::any_of(a.machine.begin(), a.machine.end(), [&](const MachineAccess* m) {
        const std::int64_t width = m->instruction.memory.bytes;
        return width > a.bytes && apart > -width && apart < width;
      });
    });
  }

  void find_atomics() {
    struct Sums {
      CodeAccesses ptx, machine;
    };
    std::map<std::tuple<std::uint32_t, CodeChangeKind, ptx::Space>, Sums> found;
    for (const PtxAccess& a : accesses_.ptx) {
      if (a.type != AccessType::kAtomic || !a.certain || a.machine.empty() || a.instruction->loc == ptx::kNoIndex)
        continue;
      std::vector<const MachineAccess*> updates;
      bool spins = false, reduces = true, increments = true;
      for (const MachineAccess* m : a.machine) {
        if (m->type != AccessType::kAtomic) continue;  // the load of a swap loop
        const sass::Instruction& i = m->instruction;
        updates.push_back(m);
        spins |= i.memory.spin;
        reduces &= i.opcode == sass::Opcode::kRED || i.opcode == sass::Opcode::kREDG;
        increments &= i.memory.atomic == kPopcIncrement && i.opcode == sass::Opcode::kATOMS;
      }
      if (updates.empty()) continue;
      const std::uint32_t frame = frames_.of_loc(module_, a.instruction->loc);
      const auto note = [&](CodeChangeKind kind) {
        Sums& sums = found[{frame, kind, a.space}];
        add(sums.ptx, a.bytes);
        for (const MachineAccess* m : updates) add(sums.machine, m->instruction.memory.bytes);
      };
      if (spins) note(CodeChangeKind::kSwapLoop);
      if (reduces && a.instruction->opcode == ptx::Opcode::k_atom) note(CodeChangeKind::kReduction);
      if (increments) note(CodeChangeKind::kIncrement);
      if (a.sums_warp) note(CodeChangeKind::kWarpSum);
    }
    for (const auto& [key, sums] : found) {
      const auto& [frame, kind, space] = key;
      CodeChange change;
      change.kind = kind;
      change.frame = frame;
      change.generic = space == ptx::Space::kGeneric;
      change.space = space_of(space).value_or(trace::Space::kGlobal);
      change.access = trace::Kind::kAtom;
      change.ptx = sums.ptx;
      change.machine = sums.machine;
      info_.compiled.changes.push_back(change);
    }
  }

  views::KernelInfo& info_;
  const ptx::Module& module_;
  const cubin::CodeImage& image_;
  const cubin::CodeSection& section_;
  FrameTable frames_;
  PairedAccesses accesses_;
  std::map<Base, std::vector<const PtxAccess*>> by_base_;  // of which machine code is left
};

}  // namespace

void add_compiled_facts(views::KernelInfo& info, const ptx::Module& module, const cubin::CodeImage& image,
                        const cubin::CubinInfo& cubin) {
  const cubin::CodeSection* const section = image.section(info.mangled);
  const cubin::CubinKernel* const kernel = cubin.kernel(info.mangled);
  if (section == nullptr || kernel == nullptr) return;
  info.compiled = {};
  info.compiled.known = true;
  info.compiled.frame_bytes = kernel->frame_bytes;
  info.compiled.stack_bytes = kernel->stack_bytes;
  const cubin::FunctionFacts* const facts = image.facts_of(info.mangled);
  info.calls_driver = facts != nullptr && !facts->externs.empty();
  Facts(info, module, image, *section).run();
}

}  // namespace muscope::code
