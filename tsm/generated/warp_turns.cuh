// Which rows of a tall matrix the warps of a grid have, turn by turn: round robin, or by tickets.
#pragma once

#include <cuda_runtime.h>

namespace gemm::generated {

/// Streams that can have a counter for tickets.
inline constexpr int most_counters = 1024;

/// A warp's pieces of rows, of which it knows `ahead` at a time. The first ones go round robin to all warps, and all
/// others, too, if there is no counter. Else a warp takes a ticket for each: the next piece that no warp has yet. So all
/// warps work near each other, as memory wants it (docs/tsm/probes.md#lives). A ticket is asked for a turn before it is
/// needed. The counter is 0 before a launch, and after it; launches that share it may not overlap. Pieces, and one more for
/// each warp, are below 2^32.
template <int ahead>
class WarpTurns {
 public:
  unsigned piece[ahead];  ///< this turn's, and those that follow

  /// The number-th of so many warps, all of whose lanes call this and next().
  __device__ WarpTurns(unsigned pieces, unsigned number, unsigned warps, unsigned* counter, int lane)
      : pieces(pieces), warps(warps), counter(lane == 0 ? counter : nullptr), takes_tickets(counter) {
#pragma unroll
    for (int i = 0; i < ahead; ++i) piece[i] = number + i * warps;
    ask();
  }
  __device__ bool exists(int i = 0) const {
    return piece[i] < pieces;
  }
  __device__ void next() {
    const unsigned round_robin = piece[ahead - 1] + warps, its_ticket = __shfl_sync(~0u, ticket, 0);
#pragma unroll
    for (int i = 0; i + 1 < ahead; ++i) piece[i] = piece[i + 1];
    piece[ahead - 1] = takes_tickets ? its_ticket : round_robin;
    if (exists(ahead - 1)) ask();
  }

 private:
  unsigned pieces, warps, *counter;
  bool takes_tickets;
  unsigned ticket = 0;

  // Each warp asks until there is nothing left: so often in all that the counter ends at 0.
  __device__ void ask() {
    const unsigned dealt = ahead * warps, asked = (pieces > dealt ? pieces - dealt : 0) + warps;
    if (counter) ticket = dealt + atomicInc(counter, asked - 1);
  }
};

}  // namespace gemm::generated
