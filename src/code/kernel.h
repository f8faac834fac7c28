// Kernel: the executable form of one PTX entry. Control flow is resolved, registers have slots, every operand is a
// place in one of four banks; nothing here knows how an op is executed (exec/ chooses a handler for each).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "sass/instruction.h"
#include "views/records.h"

namespace muscope::code {

/// A place that holds one value per lane: 32 lanes side by side. The top two bits name the bank, the rest is a byte
/// offset in it. Predicates are one 32-bit mask, in the frame bank.
struct Place {
  static constexpr std::uint32_t kBankShift = 30;
  static constexpr std::uint32_t kOffsetMask = (1u << kBankShift) - 1;
  std::uint32_t bits = kNoPlace;
  static constexpr std::uint32_t kNoPlace = 0xffffffffu;

  bool exists() const { return bits != kNoPlace; }
};

enum Bank : std::uint32_t {
  kFrameBank = 0,   ///< registers of the function activation
  kConstBank = 1,   ///< immediates and kernel parameters, filled once per launch
  kThreadBank = 2,  ///< %tid and what else differs between warps of a block, filled once per warp
  kBlockBank = 3,   ///< %ctaid and what else differs between blocks
};

/// Places of the thread and block banks, in units of kSlotBytes.
enum ThreadSlot : std::uint32_t { kTidX, kTidY, kTidZ, kWarpId, kThreadSlots };
/// Slots of clusters: kClusterRank is the block's rank in its cluster. Slots from kBlockSlots on:
/// Kernel::shared_addresses.
enum BlockSlot : std::uint32_t {
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kSmId,
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterRank,
  kBlockSlots
};

inline constexpr std::uint32_t kSlotBytes = 128;  ///< 32 lanes of 4 bytes; 64-bit values take two slots in a row

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };
enum class Compare : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
enum class Logic : std::uint8_t { kNone, kAnd, kOr, kXor };

/// What an op does beyond its PTX opcode.
enum class OpKind : std::uint8_t {
  kPtx,     ///< the PTX instruction `opcode`
  kEnter,   ///< start of a basic block: counting, merging, scheduling
  kJump,    ///< unconditional, to target
  kBranch,  ///< lanes where the guard holds go to target, the others to target2
  kSwitch,  ///< brx.idx
  kExit,    ///< ret of an entry, or exit
  kReturn,  ///< ret of a function
  kCall,
  kLocalAddress,  ///< address of a local variable of the current activation
  kSass,          ///< the machine instruction `sass`: arithmetic, logic, moves, exchanges between lanes
  kMachine,       ///< what machine code does to control flow and state: see MachineKind
  kAsync,         ///< asynchronous copies and mbarriers: see AsyncDetails
};

/// Ops of kernels made from machine code. There, lanes that parted come together only where an instruction says so.
enum class MachineKind : std::uint8_t {
  kNone,
  // Convergence barriers are masks of the warp, whichever path runs: number `offset`.
  kSetBarrier,     ///< BSSY: becomes the running lanes
  kWaitBarrier,    ///< BSYNC: waits until all its lanes that are alive wait at it; lanes that are not in it go on
  kLeaveBarrier,   ///< BREAK: the running lanes leave it
  kMoveBarrier,    ///< BMOV B, R: becomes the value of a
  kWarpSync,       ///< WARPSYNC: waits for the lanes of mask a; of all when it has no place
  kCollective,     ///< WARPSYNC.COLLECTIVE: the same, and remembers who came together and where they go on: target
  kEndCollective,  ///< ENDCOLLECTIVE: they part again and go on there
  kIndirect,       ///< BRX, CALL and RET by register: to the address in a (pair when dst_lane_bytes is 8) plus offset
  kDiverged,  ///< BRA.DIV, BRA.CONV (offset 1): to target when the running lanes differ from mask a (or are those of
              ///< it), under guard b; else to target2
  kBuiltin,   ///< a function of CUDA's device runtime, by the machine's calling convention
  kCastSpin,  ///< ATOMS.CAST.SPIN
  kAnyLane,   ///< BRA.U.ANY: predicate dst is true for all lanes when a is for a running one
  kClusterArrive,  ///< UCGABAR_ARV: the running lanes arrive at the cluster's barrier
  kClusterWait,    ///< UCGABAR_WAIT: they wait until all threads of the cluster have arrived
};

struct AsyncDetails;
struct Frame;
struct Function;

/// Details of a call.
struct CallDetails {
  std::uint32_t callee = 0xffffffffu;  ///< index into Kernel::functions; none for indirect calls
  std::string builtin;                 ///< "vprintf", "malloc", ... for functions that the engine supplies
  Place target;                        ///< indirect calls: place of the function's address
  /// One argument or result: bytes in the caller's activation to bytes in the callee's, or register to register.
  struct Transfer {
    bool is_register = false;
    std::uint32_t caller_local = 0;  ///< offset in the caller's local frame
    Place caller_place;
    std::uint32_t bytes = 0;
  };
  std::vector<Transfer> arguments, results;
};

struct Op {
  OpKind kind = OpKind::kPtx;
  ptx::Opcode opcode = ptx::Opcode::kInvalid;
  ptx::Type type = ptx::Type::kNone;   ///< of the operation: the destination's for cvt, the last one otherwise
  ptx::Type type2 = ptx::Type::kNone;  ///< of the source, where it differs (cvt, set, slct, tex coordinates)
  Rounding rounding = Rounding::kNearest;
  bool explicit_rounding = false;
  bool ftz = false, sat = false, integer_rounding = false, approx = false;
  Compare compare = Compare::kEq;
  Logic logic = Logic::kNone;
  std::uint8_t vector = 1;  ///< elements of a vector load or store
  std::uint8_t dst_lane_bytes =
      4;  ///< width of a lane in the destination (or stored) registers, where it may exceed the type's
  std::uint8_t a_lane_bytes = 4;  ///< the same of source a (cvt)
  Place dst, dst2;                ///< dst2: second predicate of setp, predicate of shfl
  Place a, b, c, d;
  /// kSass: results dst (registers), dst2 and dst3 (predicates); sources a, b, c (values), d and e (predicates). All
  /// exist: what the instruction leaves out is a place that reads zero or true, or that nobody reads. A value of
  /// several registers takes slots in a row, each with 32 lanes of 4 bytes.
  Place dst3, e;
  MachineKind machine = MachineKind::kNone;
  const sass::Instruction* sass = nullptr;    ///< kSass, and the other ops of a kernel made from machine code
  bool transposed = false;                    ///< ldmatrix, stmatrix: .trans; wmma: a store
  std::int64_t matrix = 0;                    ///< mma: MatrixForm; wmma.load and store: FragmentForm (code/matrix.h)
  bool uniform = false;                       ///< kSass: of the uniform datapath: once for the warp, whatever lanes run
  bool negate_c = false;                      ///< predicate operand c of setp/selp-like forms is negated
  bool a_negated = false, b_negated = false;  ///< predicate operands of and.pred and the like
  std::vector<Place> list;                    ///< vector elements, pack/unpack parts, texture coordinates
  Place guard;                                ///< predicate mask; branches: the condition
  bool guard_negated = false;
  std::int64_t offset = 0;  ///< of an address; immediate of control ops
  ptx::Space space = ptx::Space::kGeneric;
  bool address_is_64 = true;              ///< width of the register that holds the address
  bool address_is_pair = false;           ///< machine code: two 32-bit registers, low one first
  std::uint8_t uniform_bytes = 0;         ///< machine code: width of the uniform register e that is added; 0: none
  std::uint32_t site = 0xffffffffu;       ///< index into Kernel::info.sites for memory instructions
  std::uint32_t frame = views::kNoFrame;  ///< source position
  std::uint32_t target = 0, target2 = 0;  ///< op indices (of kEnter ops)
  std::vector<std::uint32_t> targets;     ///< kSwitch
  std::shared_ptr<CallDetails> call;
  std::shared_ptr<const AsyncDetails> async;   ///< kAsync (code/async.h)
  ptx::Special special = ptx::Special::kNone;  ///< mov from a register that changes while the kernel runs (%clock ...)
  bool local_relative = false;                 ///< address is relative to the activation's local frame
  const ptx::Instruction* source = nullptr;    ///< null for synthetic ops
  bool result_used = true;                     ///< of atom
  /// Shared addresses may be those of other blocks of the cluster (.shared::cluster); else they are the block's own.
  bool cluster = false;
  bool polls = false;  ///< volatile, relaxed, acquire loads; atomics with a used result; nanosleep
};

/// One basic block of the flat op array.
struct BasicBlock {
  std::uint32_t enter = 0;         ///< op index of its kEnter
  std::uint32_t instructions = 0;  ///< PTX instructions in it
  bool loop_header = false;
};

/// A basic block's instruction for the counts per source position: executed as often as its block, except where
/// guarded.
struct CountedInstruction {
  std::uint32_t block = 0;
  std::uint32_t frame = views::kNoFrame;
  views::InstructionKind kind = views::InstructionKind::kOther;
  std::uint32_t guarded_op = 0xffffffffu;  ///< op index whose own lane count holds, when guarded
};

struct Function {
  std::string name;
  std::uint32_t entry = 0;        ///< op index of its first kEnter
  std::uint32_t frame_bytes = 0;  ///< registers of one activation, all 32 lanes
  std::uint32_t local_bytes = 0;  ///< per thread: .local variables, call parameters, own parameters
  /// Where arguments and results live: local offset of the formal parameter, or its register.
  struct Formal {
    bool is_register = false;
    std::uint32_t local = 0;
    Place place;
    std::uint32_t bytes = 0;
  };
  std::vector<Formal> params, returns;
  std::uint64_t address = 0;              ///< what taking its address gives
  std::vector<std::uint32_t> zero_slots;  ///< frame offsets of registers that may be read before they are written
  std::uint32_t predicate_slots = 0;  ///< how many of the first slots hold predicates, one mask of 32 lanes per word
};

/// A kernel parameter.
struct Param {
  std::uint32_t offset = 0, bytes = 0;
};

/// First byte of a block's shared memory in its window: sm_90 reserves 1 KiB (facts of the cubins: .nv.shared starts
/// there). Machine code of earlier ones starts at 0.
inline constexpr std::uint32_t kSharedBase = 1024;
/// Of these the system has this many for itself; cooperative groups of several warps meet in its first bytes
/// (%reserved_smem_offset_1 is 0). Source: tests/programs/reserved_shared.cu on an H200.
inline constexpr std::uint32_t kReservedSharedUsed = 288;

/// A slot of the const bank: a literal, or bytes of the kernel's parameters.
struct ConstSlot {
  bool is_param = false;
  std::uint64_t bits = 0;  ///< literal
  std::uint32_t param_offset = 0;
  std::uint8_t bytes = 4;       ///< 1, 2, 4 or 8: width of the value; 8 takes two slots
  bool sign_extend = false;     ///< of parameters loaded into wider registers
  std::uint8_t lane_bytes = 4;  ///< width of a lane in the slot
  /// A value that the launch fixes; the lane ones differ by lane.
  enum class Launch : std::uint8_t {
    kNone,
    kNtidX,
    kNtidY,
    kNtidZ,
    kNctaidX,
    kNctaidY,
    kNctaidZ,
    kNwarpId,
    kNsmId,
    kLaneId,
    kLanemaskEq,
    kLanemaskLe,
    kLanemaskLt,
    kLanemaskGe,
    kLanemaskGt,
    kDynamicShared,
    kTotalShared,
    kWholeShared,      ///< with what the system reserves
    kAggregateShared,  ///< the same, not rounded up to what is handed out at once
    kGridWorkspaceHigh,
    kGridWorkspaceLow,
    kMemory,  ///< what lies at device address `bits` when the kernel starts
    kClusterNctaidX,
    kClusterNctaidY,
    kClusterNctaidZ,
    kClusterNctarank,
    kNclusteridX,
    kNclusteridY,
    kNclusteridZ,
    kIsExplicitCluster,  ///< a predicate
  } launch = Launch::kNone;
  std::uint32_t place = 0;  ///< byte offset in the const bank
};

struct Kernel {
  views::KernelInfo info;  ///< names, frames, sites: goes to the spool once
  std::shared_ptr<const ptx::Module> module;
  std::vector<Op> ops;             ///< of all functions
  std::vector<BasicBlock> blocks;  ///< in op order; index = priority of the scheduler
  std::vector<CountedInstruction> counted;
  std::vector<Function> functions;  ///< [0] is the entry
  std::vector<ConstSlot> constants;
  std::uint32_t const_bank_bytes = 0;
  std::vector<Param> params;
  std::uint32_t param_bytes = 0;
  std::uint32_t shared_base = kSharedBase;  ///< first byte of a block's shared memory that the kernel uses
  std::uint32_t static_shared_bytes = 0;    ///< without dynamic shared memory; starts at shared_base
  std::uint32_t dynamic_shared_offset = 0;  ///< from the window's start
  /// PTX: addresses of shared variables that operands name, in the block slots from kBlockSlots on, two each (the
  /// second one for the high words of 64-bit lanes). They hold the block's rank in its cluster; machine code puts it in
  /// itself.
  struct SharedAddress {
    std::uint64_t offset = 0;  ///< in the block's window
    unsigned lane_bytes = 4;
  };
  std::vector<SharedAddress> shared_addresses;
  bool ordered = false;  ///< results depend on the order of blocks: one worker, fixed schedule
  bool has_calls = false;
  bool recursive = false;             ///< or indirect: needs a stack with room to grow
  std::uint64_t const_bank_base = 0;  ///< device address of the module's constants, for offsets in the bank
  std::uint64_t const_bank_size = 0;
  /// Null when made from PTX. `params` then lie at the offsets of constant bank 0, behind the driver's words.
  std::shared_ptr<const std::vector<sass::Instruction>> machine_code;
  std::map<std::uint64_t, std::uint32_t> code_targets;  ///< machine code: address that a register may hold -> op index
  std::uint32_t stack_bytes = 0;  ///< machine code: local memory per thread, where its stack starts
  bool deep_stack = false;  ///< machine code: recursion or calls by pointer, the stack is as large as the launch says
  std::uint32_t estimated_registers = 0;  ///< from liveness, 32-bit registers per thread
};

/// Windows of the generic address space that are not memory of the host or the device.
inline constexpr std::uint64_t kSharedWindow = 0x8000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x8100'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x8200'0000'0000;
inline constexpr std::uint64_t kFunctionWindow = 0x8300'0000'0000;
inline constexpr std::uint64_t kCodeWindow = 0x8380'0000'0000;  ///< machine code: where the kernel's section lies
/// Machine code: first slot of the frame that holds a convergence barrier, its mask in every word.
inline constexpr std::uint32_t kBarrierSlots = 1, kBarriers = 16;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 40;
/// Shared addresses of sm_90: the block's rank in its cluster stands above the offset in its window. Seen in what ptxas
/// 13.0 makes of mapa (PRMT .., 0x654, ..) and of the address of a shared variable (LEA .., SR_CgaCtaId, .., 0x18).
inline constexpr unsigned kRankShift = 24;
inline constexpr std::uint64_t kRankOffsetMask = (std::uint64_t{1} << kRankShift) - 1;

}  // namespace muscope::code
