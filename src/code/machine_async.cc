// Asynchronous copies and barriers in shared memory of machine code (LDGSTS, ARRIVES, SYNCS, UBLKCP) -> kAsync ops.
#include "code/async.h"
#include "code/machine_builder.h"

namespace muscope::code {
namespace {

using ptx::Space;
using sass::Opcode;
using sass::OperandKind;

// Values of MemoryForm fields (sass/async.cc).
constexpr std::uint8_t kCopyZeroFill = 1, kCopyBypass = 2;
constexpr std::uint8_t kArrivesArrive = 1, kArrivesComplete = 2;
constexpr std::uint8_t kExchange = 0, kCheck = 1, kTryCheck = 2, kArriveAt = 3, kInvalidate = 4;
constexpr std::uint8_t kGivesLanes = 1, kNoResult = 2, kOptOut = 4;
enum Counts : std::uint8_t { kOneAndRegister, kOneArrival, kOneTransaction, kExpect, kComplete, kArrivals };
constexpr std::uint8_t kBulkToShared = 1, kBulkFromShared = 2, kBulkMulticast = 4;
constexpr std::uint8_t kTensorPatches = 1, kTensorMulticast = 2;
constexpr std::uint32_t kBulkUnit = 16;  ///< bytes

bool is_register(const sass::Operand& o) {
  return (o.kind == OperandKind::kRegister && o.index != sass::kRz) ||
         (o.kind == OperandKind::kUniform && o.index != sass::kUrz);
}

AsyncAddress address_of(MachineBuilder& b, const sass::Instruction& i, Space space) {
  const sass::MemoryForm& m = i.memory;
  if (m.scale != 0) throw CannotLower("a scaled address");
  AsyncAddress address;
  address.space = space;
  address.cluster = space == Space::kShared;  // the rank of the block stands in it, the own one too
  address.offset = m.offset;
  if (is_register(m.base)) {
    address.base = b.value(m.base);
    address.pair = m.address_64;
  }
  if (is_register(m.uniform)) {
    address.uniform = b.uniform(m.uniform.index);
    address.uniform_bytes = m.uniform_64 ? 8 : 4;
  }
  return address;
}

Op& add(MachineBuilder& b, const sass::Instruction& i, const AsyncDetails& details) {
  Op& op = b.add(OpKind::kAsync, i);
  op.async = std::make_shared<const AsyncDetails>(details);
  return op;
}

void lower_copy(MachineBuilder& b, const sass::Instruction& i) {
  AsyncDetails copy;
  copy.kind = AsyncKind::kCopy;
  copy.bytes = i.memory.bytes;
  copy.bypass = (i.memory.mode & kCopyBypass) != 0;
  copy.zeros_in_address = (i.memory.mode & kCopyZeroFill) != 0;
  copy.from = address_of(b, i, Space::kGlobal);
  if (is_register(i.memory.second)) copy.to.base = b.reg(i.memory.second.index);
  copy.to.offset = i.memory.second_offset;
  if (i.p0.exists()) {
    copy.condition = b.predicate(i.p0);
    copy.condition_negated = i.p0.invert;
  }
  add(b, i, copy);
  const std::uint32_t site = b.add_site(i, i.memory.bytes);
  b.kernel().ops.back().site = site;
}

/// Copies are done when they are issued, so what LDGSTSBAR waits for is over.
void lower_arrives(MachineBuilder& b, const sass::Instruction& i) {
  AsyncDetails arrival;
  arrival.barrier = address_of(b, i, Space::kShared);
  arrival.amount = b.literal(1);
  if (i.memory.mode == kArrivesArrive) {
    arrival.kind = AsyncKind::kArrive;
  } else if (i.memory.mode == kArrivesComplete) {
    arrival.kind = AsyncKind::kTransactions;
    arrival.completes = true;
  } else {
    throw CannotLower("a form of ARRIVES");
  }
  add(b, i, arrival);
}

void lower_arrival(MachineBuilder& b, const sass::Instruction& i) {
  AsyncDetails arrival;
  arrival.kind = AsyncKind::kArrive;
  arrival.barrier = address_of(b, i, Space::kShared);
  arrival.gives_lanes = (i.memory.atomic & kGivesLanes) != 0;
  arrival.drops = (i.memory.atomic & kOptOut) != 0;
  arrival.result_pair = true;
  const Place count = b.value(i.a);
  switch (i.memory.type) {
    case kOneAndRegister:
      arrival.expects = count;
      arrival.amount = b.literal(1);
      break;
    case kOneArrival:
      arrival.amount = b.literal(1);
      break;
    case kArrivals:
      arrival.amount = count;
      break;
    case kOneTransaction:
    case kExpect:
    case kComplete:
      arrival.kind = AsyncKind::kTransactions;
      arrival.completes = i.memory.type == kComplete;
      arrival.amount = i.memory.type == kOneTransaction ? b.literal(1) : count;
      if (arrival.drops || arrival.gives_lanes || i.dst.index != sass::kRz) throw CannotLower("a form of SYNCS.ARRIVE");
      break;
    default:
      throw CannotLower("a form of SYNCS.ARRIVE");
  }
  Op& op = add(b, i, arrival);
  if ((i.memory.atomic & kNoResult) == 0 && is_register(i.dst)) op.dst = b.result(i.dst);
}

void lower_syncs(MachineBuilder& b, const sass::Instruction& i) {
  if (i.memory.mode == kInvalidate) return;
  if (i.memory.mode == kArriveAt) return lower_arrival(b, i);
  AsyncDetails details;
  details.barrier = address_of(b, i, Space::kShared);
  details.state = b.value(i.a);
  if (i.memory.mode == kExchange) {
    details.kind = AsyncKind::kExchange;
    details.state_pair = details.result_pair = true;
    Op& op = add(b, i, details);
    op.uniform = true;
    if (is_register(i.dst)) op.dst = b.result(i.dst);
  } else if (i.memory.mode == kCheck || i.memory.mode == kTryCheck) {
    details.kind = AsyncKind::kWait;
    details.parity_bit = 31;  // where the high word of a state has its phase; parities are shifted there
    add(b, i, details).dst = b.predicate_result(i.pdst0);
  } else {
    throw CannotLower("a form of SYNCS");
  }
}

/// A tile by tensor map: uniform registers with the shared address, for loads the mbarrier, and the coordinates.
void lower_tensor(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  if (m.mode & kTensorPatches) throw CannotLower("a copy of patches (im2col)");
  AsyncDetails copy;
  copy.kind = AsyncKind::kTensor;
  copy.has_barrier = i.opcode == Opcode::kUTMALDG;
  copy.to.cluster = copy.barrier.cluster = true;
  std::uint8_t at = m.base.index;
  copy.to.uniform = b.uniform(at++);
  copy.to.uniform_bytes = 4;
  if (copy.has_barrier) {
    copy.barrier.uniform = b.uniform(at++);
    copy.barrier.uniform_bytes = 4;
  }
  for (unsigned d = 0; d < m.dimensions; ++d) copy.values.push_back(b.uniform(at++));
  copy.from.space = Space::kGlobal;
  copy.from.uniform = b.uniform(m.second.index);
  copy.from.uniform_bytes = 8;
  if (m.mode & kTensorMulticast) {
    copy.multicast = b.value(i.a);
    copy.multicast_in_amount = true;
  }
  copy.reduces = i.opcode == Opcode::kUTMAREDG;
  copy.reduction = m.atomic;
  add(b, i, copy).uniform = true;
  const std::uint32_t site = b.add_site(i, 0);
  b.kernel().ops.back().site = site;
}

/// The pair at the address holds the place and the mbarrier, 32 bits each.
void lower_async_store(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  if (!is_register(m.base)) throw CannotLower("an asynchronous store without an address");
  const auto address = [&](std::uint8_t index) {
    AsyncAddress a;
    a.cluster = true;
    a.base = b.reg(index);
    return a;
  };
  AsyncDetails store;
  store.to = address(m.base.index);
  store.to.offset = m.offset;
  store.barrier = address(static_cast<std::uint8_t>(m.base.index + 1));
  store.bytes = m.bytes;
  for (unsigned n = 0; n < m.bytes / 4u; ++n) store.values.push_back(b.word(i.a, n));
  store.kind = AsyncKind::kStore;
  if (i.opcode == Opcode::kREDAS) {
    static constexpr ptx::Type kTypes[] = {ptx::Type::kU32, ptx::Type::kS32, ptx::Type::kU64};
    if (m.type >= std::size(kTypes)) throw CannotLower("a form of REDAS");
    store.kind = AsyncKind::kReduce;
    store.type = kTypes[m.type];
    store.reduction = m.atomic;
  }
  add(b, i, store);
}

/// Addresses and size in uniform registers: a shared destination stands with its mbarrier behind it.
void lower_bulk(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  if (!is_register(m.base) || !is_register(m.second)) throw CannotLower("a bulk copy without addresses");
  const auto address = [&](std::uint8_t index, bool shared) {
    AsyncAddress a;
    a.space = shared ? Space::kShared : Space::kGlobal;
    a.cluster = shared;
    a.uniform = b.uniform(index);
    a.uniform_bytes = shared ? 4 : 8;
    return a;
  };
  AsyncDetails copy;
  copy.kind = AsyncKind::kBulkCopy;
  const bool to_shared = (m.mode & kBulkToShared) != 0;
  copy.to = address(m.base.index, to_shared);
  copy.from = address(m.second.index, (m.mode & kBulkFromShared) != 0);
  copy.has_barrier = to_shared;
  if (to_shared) copy.barrier = address(static_cast<std::uint8_t>(m.base.index + 1), true);
  copy.amount = b.value(i.a);
  copy.units = kBulkUnit;
  copy.multicast_in_amount = (m.mode & kBulkMulticast) != 0;
  if (i.opcode == Opcode::kUBLKRED) {
    static constexpr ptx::Type kTypes[] = {ptx::Type::kU32,  ptx::Type::kS32, ptx::Type::kU64,
                                           ptx::Type::kS64,  ptx::Type::kF16, ptx::Type::kF32,
                                           ptx::Type::kNone, ptx::Type::kF64, ptx::Type::kBF16};
    copy.kind = AsyncKind::kBulkReduce;
    copy.type = m.type < std::size(kTypes) ? kTypes[m.type] : ptx::Type::kNone;
    copy.reduction = m.atomic;
    const bool half = copy.type == ptx::Type::kF16 || copy.type == ptx::Type::kBF16;
    if (copy.type == ptx::Type::kNone || (half && m.atomic != 0)) throw CannotLower("a form of UBLKRED");
  }
  add(b, i, copy).uniform = true;
  const std::uint32_t site = b.add_site(i, 0);
  b.kernel().ops.back().site = site;
}

}  // namespace

bool lower_async_instruction(MachineBuilder& b, const sass::Instruction& i) {
  switch (i.opcode) {
    case Opcode::kLDGSTS:
      lower_copy(b, i);
      return true;
    case Opcode::kARRIVES:
      lower_arrives(b, i);
      return true;
    case Opcode::kSYNCS:
      lower_syncs(b, i);
      return true;
    case Opcode::kSTAS:
    case Opcode::kREDAS:
      lower_async_store(b, i);
      return true;
    case Opcode::kUBLKCP:
    case Opcode::kUBLKRED:
      lower_bulk(b, i);
      return true;
    case Opcode::kUTMALDG:
    case Opcode::kUTMASTG:
    case Opcode::kUTMAREDG:
      lower_tensor(b, i);
      return true;
    case Opcode::kUTMAPF:    // prefetches into L2
    case Opcode::kUTMACCTL:  // the cache of maps
    case Opcode::kUBLKPF:
    case Opcode::kUTMACMDFLUSH:  // ends a group of bulk copies, which are done already
      return true;
    default:
      return false;
  }
}

}  // namespace muscope::code
