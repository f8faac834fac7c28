#include "code/machine_lowering.h"

#include <fmt/format.h>

#include "code/machine_builder.h"
#include "code/system_functions.h"

namespace muscope::code {
namespace {

using sass::Opcode;
using sass::OperandKind;

bool is_true(const sass::Operand& predicate) {
  return !predicate.exists() || (predicate.index == sass::kPt && !predicate.invert);
}

class MachineLowering {
 public:
  MachineLowering(const MachineInput& input, const MachineFlow& flow, const Kernel& like)
      : b_(input, flow, like), flow_(flow) {}

  std::shared_ptr<const Kernel> run() {
    for (std::uint32_t n = 0; n < flow_.blocks.size(); ++n) lower_block(n);
    add_end();
    for (const auto& [address, name] : b_.input().externals) add_external(address, name);
    for (const auto& [op, address] : external_calls_) {
      const auto found = b_.kernel().code_targets.find(address);
      if (found == b_.kernel().code_targets.end())
        throw CannotLower(fmt::format("a call of '{}', which muscope does not have", b_.input().externals.at(address)));
      b_.kernel().ops[op].target = found->second;
    }
    for (const auto& [op, block] : targets_) b_.kernel().ops[op].target = enter_of_[block];
    for (const auto& [op, block] : targets2_) b_.kernel().ops[op].target2 = enter_of_[block];
    for (std::size_t n = 0; n < flow_.blocks.size(); ++n)
      b_.kernel().code_targets[kCodeWindow + std::uint64_t{flow_.blocks[n].first} * 16] = enter_of_[n];
    const auto kernel = b_.finish();
    kernel->functions[0].entry = enter_of_[block_of(b_.input().entry)];
    kernel->functions[0].address = kCodeWindow + b_.input().entry;
    return kernel;
  }

 private:
  std::uint32_t next_op() { return static_cast<std::uint32_t>(b_.kernel().ops.size()); }

  std::uint32_t block_of(std::int64_t offset) const {
    const auto n = static_cast<std::size_t>(offset / 16);
    return n < flow_.block_at.size() ? flow_.block_at[n] : kNoBlock;
  }

  std::uint32_t target_block(std::int64_t offset) const {
    const std::uint32_t block = block_of(offset);
    if (block == kNoBlock) throw CannotLower(fmt::format("a jump to {:#x}, where no block begins", offset));
    return block;
  }

  /// kEnter of a new basic block of `instructions`.
  std::uint32_t enter(std::uint32_t instructions, bool loop) {
    const std::uint32_t op = next_op();
    Op& e = b_.kernel().ops.emplace_back();
    e.kind = OpKind::kEnter;
    e.offset = static_cast<std::int64_t>(b_.kernel().blocks.size());
    b_.kernel().blocks.push_back({op, instructions, loop});
    return op;
  }

  void lower_block(std::uint32_t n) {
    const MachineBlock& block = flow_.blocks[n];
    enter_of_.push_back(enter(block.end - block.first, block.loop_header));
    for (std::uint32_t at = block.first; at < block.end; ++at) {
      const sass::Instruction& i = flow_.instructions[at];
      const std::size_t before = b_.kernel().ops.size();
      try {
        lower(i);
      } catch (const CannotLower& problem) {
        throw CannotLower(fmt::format("{} in '{}' at {:#x}", problem.what(), sass::text(i), i.pc));
      }
      count(i, before);
    }
    // Where the code goes on with the next block, nothing stands between them but helper blocks of this one's last
    // instruction.
    const std::uint32_t next = n + 1 < flow_.blocks.size() ? flow_.blocks[n + 1].first : kNoBlock;
    const sass::Instruction& last = flow_.instructions[block.end - 1];
    if (next != block.end && !ends_block(last)) throw CannotLower(fmt::format("code that runs out at {:#x}", last.pc));
  }

  void count(const sass::Instruction& i, std::size_t first_op) {
    CountedInstruction c;
    c.block = static_cast<std::uint32_t>(b_.kernel().blocks.size() - 1);
    const std::size_t index = i.pc / 16;
    c.frame = index < b_.input().frame_of.size() ? b_.input().frame_of[index] : views::kNoFrame;
    c.kind = kind_of(i);
    if (i.guard.exists())
      for (std::size_t op = first_op; op < b_.kernel().ops.size(); ++op) {
        const Op& made = b_.kernel().ops[op];
        if (made.guard.exists() && made.kind != OpKind::kBranch) c.guarded_op = static_cast<std::uint32_t>(op);
        if (made.kind == OpKind::kEnter) c.block = static_cast<std::uint32_t>(made.offset) - 1;
      }
    b_.kernel().counted.push_back(c);
  }

  /// Jumps to block `target` where the guard and the predicate source hold; goes on with block `otherwise` where not.
  void branch(const sass::Instruction& i, std::uint32_t target, std::uint32_t otherwise) {
    Place condition;
    bool negated = false;
    condition_of(i, condition, negated);
    if (!condition.exists()) {
      targets_.push_back({next_op(), target});
      b_.add(OpKind::kJump, i, false);
      return;
    }
    targets_.push_back({next_op(), target});
    targets2_.push_back({next_op(), otherwise});
    Op& op = b_.add(OpKind::kBranch, i, false);
    op.guard = condition;
    op.guard_negated = negated;
  }

  /// The guard, or the predicate source, or both.
  void condition_of(const sass::Instruction& i, Place& condition, bool& negated) {
    const bool source = !is_true(i.p0);
    if (i.guard.exists() && source) {
      Op& op = b_.add(OpKind::kPtx, i, false);
      op.opcode = ptx::Opcode::k_and;
      op.type = ptx::Type::kPred;
      op.dst = b_.temporary_predicate();
      op.a = b_.predicate(i.guard), op.a_negated = i.guard.invert;
      op.b = b_.predicate(i.p0), op.b_negated = i.p0.invert;
      op.sass = nullptr;
      condition = b_.temporary_predicate();
    } else if (i.guard.exists() || source) {
      const sass::Operand& p = source ? i.p0 : i.guard;
      condition = b_.predicate(p);
      negated = p.invert;
    }
  }

  /// An op that ends or turns paths, under its guard: lanes where that does not hold go on with the next block.
  Op& control(OpKind kind, const sass::Instruction& i, MachineKind machine = MachineKind::kNone) {
    Place condition;
    bool negated = false;
    condition_of(i, condition, negated);
    if (condition.exists()) {
      const std::uint32_t branch_op = next_op();
      targets2_.push_back({branch_op, target_block(i.pc + 16)});
      Op& op = b_.add(OpKind::kBranch, i, false);
      op.guard = condition;
      op.guard_negated = negated;
      const std::uint32_t entered = enter(0, false);  // counted with the instruction already
      b_.kernel().ops[branch_op].target = entered;    // `op` is gone: ops may have moved
    }
    Op& op = b_.add(kind, i, false);
    op.machine = machine;
    return op;
  }

  void lower(const sass::Instruction& i) {
    switch (i.opcode) {
      case Opcode::kNOP:
      case Opcode::kYIELD:
      case Opcode::kDEPBAR:
      case Opcode::kLDGDEPBAR:
      case Opcode::kERRBAR:
      case Opcode::kCGAERRBAR:
      case Opcode::kCCTL:
      case Opcode::kCCTLL:
      case Opcode::kCCTLT:
      case Opcode::kMEMBAR:
      case Opcode::kFENCE:
      case Opcode::kPMTRIG:
      case Opcode::kACQBULK:  // waits for the grid before it, which has ended
      case Opcode::kPREEXIT:  // lets the grid after it begin
        return;               // no data moves and no lane parts; the executor is sequentially consistent
      case Opcode::kBRA:
        return lower_branch(i);
      case Opcode::kEXIT:
      case Opcode::kKILL:
        control(OpKind::kExit, i);
        return;
      case Opcode::kBSSY:
        barrier_op(b_.add(OpKind::kMachine, i, false), MachineKind::kSetBarrier, i.a);
        return;
      case Opcode::kBSYNC:
        barrier_op(control(OpKind::kMachine, i), MachineKind::kWaitBarrier, i.a);
        return;
      case Opcode::kBREAK: {
        Place condition;
        bool negated = false;
        condition_of(i, condition, negated);
        Op& op = b_.add(OpKind::kMachine, i, false);
        barrier_op(op, MachineKind::kLeaveBarrier, i.a);
        op.guard = condition;
        op.guard_negated = negated;
        return;
      }
      case Opcode::kBMOV:
        return lower_barrier_move(i);
      case Opcode::kWARPSYNC:
        return lower_warp_sync(i);
      case Opcode::kENDCOLLECTIVE:
        control(OpKind::kMachine, i, MachineKind::kEndCollective);
        return;
      case Opcode::kCALL: {
        if (i.b.exists()) throw CannotLower("a call by a constant");
        if (i.a.exists()) return lower_indirect(i);
        if (b_.input().externals.contains(static_cast<std::uint64_t>(i.memory.target))) {
          control(OpKind::kJump, i);
          external_calls_.push_back({next_op() - 1, static_cast<std::uint64_t>(i.memory.target)});
          return;
        }
        control(OpKind::kJump, i);
        targets_.push_back({next_op() - 1, target_block(i.memory.target)});
        return;
      }
      case Opcode::kRET:
      case Opcode::kBRX:
      case Opcode::kBRXU:
      case Opcode::kJMX:
        return lower_indirect(i);
      case Opcode::kBAR:
        return lower_barrier(i);
      case Opcode::kUCGABAR_ARV:
      case Opcode::kUCGABAR_WAIT: {
        const bool arrives = i.opcode == Opcode::kUCGABAR_ARV;
        control(OpKind::kMachine, i, arrives ? MachineKind::kClusterArrive : MachineKind::kClusterWait);
        return;
      }
      case Opcode::kB2R:
        return lower_barrier_result(i);
      case Opcode::kBPT: {
        Op& op = b_.add(OpKind::kPtx, i);
        op.opcode = ptx::Opcode::k_trap;
        return;
      }
      case Opcode::kNANOSLEEP: {
        if (i.memory.mode & kSleepForBarrier) return;  // until a phase ends: the wait before it did that
        Op& op = b_.add(OpKind::kPtx, i);
        op.opcode = ptx::Opcode::k_nanosleep;
        b_.kernel().ordered = true;
        return;
      }
      case Opcode::kLEPC: {
        // The address of an instruction of this section: what CALL.ABS leaves in the return registers.
        std::vector<ConstSlot> words(2);
        const std::uint64_t address = kCodeWindow + static_cast<std::uint64_t>(i.memory.target);
        words[0].bits = address & 0xffffffffu, words[1].bits = address >> 32;
        copy_words(i, i.dst, b_.constant_words(words), 2);
        return;
      }
      case Opcode::kS2R:
      case Opcode::kS2UR:
      case Opcode::kCS2R:
        return lower_special_register(b_, i);
      case Opcode::kQSPC:
        return lower_space_query(b_, i);
      default:
        break;
    }
    if (is_memory_instruction(i)) return lower_memory_instruction(b_, i);
    if (lower_async_instruction(b_, i) || lower_texture_instruction(b_, i)) return;
    if (lower_matrix_access(b_, i)) return;
    if (!b_.input().executable || !b_.input().executable(i)) throw CannotLower("an instruction without a handler");
    lower_plain(i);
  }

  void copy_words(const sass::Instruction& i, const sass::Operand& to, Place from, unsigned words) {
    for (unsigned n = 0; n < words; ++n) {
      Op& op = b_.add(OpKind::kPtx, i);
      op.opcode = ptx::Opcode::k_mov;
      op.type = ptx::Type::kB32;
      op.dst = Place{b_.result(to).bits + n * kSlotBytes};
      op.a = Place{from.bits + n * kSlotBytes};
      op.uniform = to.kind == OperandKind::kUniform;
    }
  }

  void lower_plain(const sass::Instruction& i) {
    Op& op = b_.add(OpKind::kSass, i);
    op.dst = b_.result(i.dst);
    op.dst2 = b_.predicate_result(i.pdst0);
    op.dst3 = b_.predicate_result(i.pdst1);
    const bool three_predicates = i.c.kind == OperandKind::kPredicate || i.c.kind == OperandKind::kUniformPredicate;
    op.a = b_.value(i.a), op.b = b_.value(i.b);
    op.c = three_predicates ? b_.predicate(i.c) : b_.value(i.c);
    op.d = b_.predicate(i.p0), op.e = b_.predicate(i.p1);
    const bool exchanges = i.opcode == Opcode::kVOTEU || i.opcode == Opcode::kR2UR || i.opcode == Opcode::kREDUX ||
                           i.opcode == Opcode::kELECT;
    op.uniform = !exchanges && (i.dst.kind == OperandKind::kUniform || i.pdst0.kind == OperandKind::kUniformPredicate ||
                                i.pdst1.kind == OperandKind::kUniformPredicate);
  }

  void lower_branch(const sass::Instruction& i) {
    const std::uint32_t target = target_block(i.memory.target);
    const auto kind = static_cast<std::uint8_t>(i.memory.mode & kBranchKind);
    if (kind == kBranchDiverged || kind == kBranchConverged) {
      if (i.p0.exists() || (i.a.invert && i.a.index != sass::kUrz)) throw CannotLower("a form of BRA");
      targets_.push_back({next_op(), target});
      targets2_.push_back({next_op(), target_block(i.pc + 16)});
      Op& op = b_.add(OpKind::kMachine, i, false);
      op.machine = MachineKind::kDiverged;
      op.offset = kind == kBranchConverged ? 1 : 0;
      op.a = i.a.invert ? b_.all_ones() : b_.value(i.a);
      if (i.guard.exists()) op.b = b_.predicate(i.guard), op.b_negated = i.guard.invert;
      return;
    }
    // .U: a uniform predicate in place of one per lane, with the same meaning; with one per lane, the lanes jump
    // together or not at all.
    sass::Instruction plain = i;
    if (kind == kBranchUniform && i.p1.exists()) {
      if (i.p0.exists()) throw CannotLower("a branch with two predicates");
      plain.p0 = i.p1;
    }
    const bool goes_on = plain.guard.exists() || !is_true(plain.p0);
    const bool any = (i.memory.mode & kBranchAnyLane) != 0;
    if (goes_on && (any || (kind == kBranchUniform && plain.guard.exists()))) return branch_whole(plain, target, any);
    branch(plain, target, goes_on ? target_block(i.pc + 16) : kNoBlock);
  }

  /// All running lanes jump when the condition holds for one of them (`any`) or for each.
  void branch_whole(const sass::Instruction& i, std::uint32_t target, bool any) {
    Place condition;
    bool negated = false;
    condition_of(i, condition, negated);
    Op& found = b_.add(OpKind::kMachine, i, false);  // a lane with the condition, or one without
    found.machine = MachineKind::kAnyLane;
    found.a = condition;
    found.a_negated = negated != !any;
    found.dst = b_.second_temporary_predicate();
    targets_.push_back({next_op(), target});
    targets2_.push_back({next_op(), target_block(i.pc + 16)});
    Op& jump = b_.add(OpKind::kBranch, i, false);
    jump.guard = b_.second_temporary_predicate();
    jump.guard_negated = !any;
  }

  void lower_indirect(const sass::Instruction& i) {
    if (!i.a.exists()) throw CannotLower("a jump without a register");
    const Place from = b_.value(i.a);
    Op& op = control(OpKind::kMachine, i, MachineKind::kIndirect);
    op.a = from;
    op.dst_lane_bytes = i.a.words == 2 ? 8 : 4;
    op.offset = i.memory.target < 0 ? 0 : i.memory.target;
  }

  void lower_warp_sync(const sass::Instruction& i) {
    if (i.memory.mode > kWarpSyncCollective) throw CannotLower("a form of WARPSYNC");
    Place mask;
    if (i.a.exists()) mask = b_.value(i.a);
    const bool collective = i.memory.mode == kWarpSyncCollective;
    const std::uint32_t after = collective ? target_block(i.memory.target) : kNoBlock;
    Op& op = control(OpKind::kMachine, i, collective ? MachineKind::kCollective : MachineKind::kWarpSync);
    op.a = mask;
    op.offset = i.memory.mode == kWarpSyncExclusive && i.a.exists() ? 1 : 0;  // one mask at a time
    if (collective) targets_.push_back({next_op() - 1, after});
  }

  void lower_barrier_move(const sass::Instruction& i) {
    if (i.dst.kind == OperandKind::kBarrier) {
      const Place from = b_.value(i.a);
      Op& op = b_.add(OpKind::kMachine, i);
      barrier_op(op, MachineKind::kMoveBarrier, i.dst);
      op.a = from;
      return;
    }
    copy_words(i, i.dst, b_.barrier(i.a.index), 1);
    if ((i.memory.mode & 1) == 0) return;
    // .CLEAR leaves an empty barrier behind.
    Op& op = b_.add(OpKind::kMachine, i);
    barrier_op(op, MachineKind::kMoveBarrier, i.a);
    op.a = b_.literal(0);
  }

  static void barrier_op(Op& op, MachineKind machine, const sass::Operand& barrier) {
    op.machine = machine;
    op.offset = barrier.index;
  }

  void lower_barrier(const sass::Instruction& i) {
    static constexpr std::uint8_t kEngineMode[] = {0, 4, 1, 2, 3};  // of XOp::imm8, by MemoryForm::mode
    if (i.memory.mode >= std::size(kEngineMode)) throw CannotLower("a form of BAR");
    const bool reduces = i.memory.mode >= kBarrierPopc;
    const Place number = i.a.exists() ? b_.value(i.a) : b_.literal(0);
    Place count;
    if (i.b.exists()) count = b_.value(i.b);
    sass::Instruction waiting = i;  // its predicate source is no condition
    waiting.p0 = {};
    Op& op = control(OpKind::kPtx, waiting);
    op.opcode = ptx::Opcode::k_bar;
    op.vector = kEngineMode[i.memory.mode];
    op.a = number;
    op.b = count;
    if (reduces) {
      last_reduction_ = i.memory.mode;
      op.c = b_.predicate(i.p0);
      op.negate_c = i.p0.invert;
      op.dst = b_.barrier_result();
    }
  }

  /// B2R.RESULT: what the BAR.RED before it found.
  void lower_barrier_result(const sass::Instruction& i) {
    if (i.memory.mode != kBarrierToRegisterResult || last_reduction_ == 0) throw CannotLower("a form of B2R");
    if (last_reduction_ == kBarrierPopc) return copy_words(i, i.dst, b_.barrier_result(), 1);
    if (i.pdst0.exists() && i.pdst0.index != sass::kPt) {
      Op& op = b_.add(OpKind::kPtx, i);
      op.opcode = ptx::Opcode::k_mov;
      op.type = ptx::Type::kPred;
      op.dst = b_.predicate_result(i.pdst0);
      op.a = b_.barrier_result();
    }
    if (i.dst.exists() && i.dst.index != sass::kRz) throw CannotLower("the register of B2R.RESULT");
  }

  /// Code that does not end in EXIT, a jump or a return stops at its end.
  void add_end() {
    enter(0, false);
    b_.kernel().ops.emplace_back().kind = OpKind::kExit;
  }

  /// A function of the device runtime: called as any other, it returns by the register pair R20.
  void add_external(std::uint64_t address, const std::string& name) {
    const auto all = system_functions();
    const auto known = std::find_if(all.begin(), all.end(), [&](const SystemFunction& f) { return name == f.name; });
    if (known == all.end()) return;  // a call of it ends in "no code begins there"
    b_.kernel().code_targets[address] = enter(0, false);
    Op& op = b_.kernel().ops.emplace_back();
    op.kind = OpKind::kMachine;
    op.machine = MachineKind::kBuiltin;
    op.call = std::make_shared<CallDetails>();
    op.call->builtin = name;
    for (const auto& [first, words] : known->arguments) {
      CallDetails::Transfer t;
      t.is_register = true;
      t.caller_place = b_.reg(first);
      t.bytes = words * 4u;
      op.call->arguments.push_back(t);
    }
    if (known->result_words != 0) {
      CallDetails::Transfer t;
      t.is_register = true;
      t.caller_place = b_.reg(4);
      t.bytes = known->result_words * 4u;
      op.call->results.push_back(t);
    }
    Op& back = b_.kernel().ops.emplace_back();
    back.kind = OpKind::kMachine;
    back.machine = MachineKind::kIndirect;
    back.a = b_.reg(20);
    back.dst_lane_bytes = 8;
    b_.kernel().has_calls = true;
  }

  MachineBuilder b_;
  const MachineFlow& flow_;
  std::vector<std::uint32_t> enter_of_;  // by block of the flow: op index of its kEnter
  std::vector<std::pair<std::uint32_t, std::uint32_t>> targets_, targets2_;  // op, block of the flow
  std::vector<std::pair<std::uint32_t, std::uint64_t>> external_calls_;      // op, address of the function
  std::uint8_t last_reduction_ = 0;                                          // mode of the last BAR.RED in the code
};

}  // namespace

LoweredMachine lower_machine(const MachineInput& input, const Kernel& like) {
  LoweredMachine out;
  const MachineFlow flow = find_flow(input);
  out.problem = flow.problem;
  if (!out.problem.empty()) return out;
  try {
    out.kernel = MachineLowering(input, flow, like).run();
    out.doubt = doubt_of(flow, like);
  } catch (const CannotLower& problem) {
    out.problem = problem.what();
  }
  return out;
}

}  // namespace muscope::code
