// st.async, red.async, STAS, REDAS: stores and atomics in shared memory of the cluster that count as transactions of an
// mbarrier.
#include <bit>
#include <cstring>

#include "code/async.h"
#include "exec/async.h"
#include "exec/reduction.h"

namespace muscope::exec {

const XOp* run_async_store(Warp& w, const XOp* op) {
  const code::AsyncDetails& details = *op->source->async;
  AsyncPlaces to, barrier;
  if (!find_async_addresses(w, op, details.to, to) || !find_async_addresses(w, op, details.barrier, barrier))
    return nullptr;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    if (!check_shared(w, op, l, barrier[l], 8, 8)) return nullptr;
    if (!check_shared(w, op, l, to[l], details.bytes, details.bytes)) return nullptr;
    std::uint8_t data[16] = {};
    std::size_t filled = 0;
    for (const code::Place value : details.values) {
      if (filled + details.value_bytes > sizeof data) break;
      const auto* lanes = w.src<std::uint8_t>(value.bits);
      std::memcpy(data + filled, lanes + std::size_t{l} * details.value_bytes, details.value_bytes);
      filled += details.value_bytes;
    }
    std::uint8_t* target = to.block[l]->shared + to.at[l];
    if (details.kind == code::AsyncKind::kStore)
      std::memcpy(target, data, details.bytes);
    else
      reduce_element(details.type, details.reduction, false, target, data);
    to.block[l]->progress = true;
    complete_transactions(w, barrier[l], details.bytes);
  }
  w.progress = true;
  return op + 1;
}

}  // namespace muscope::exec
