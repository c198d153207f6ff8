// What a program has allocated, and whose it is; what it has freed, too, for reports. Internal to common/simt/; call
// with the runtime entered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simt/runtime/call.hpp"

namespace simt {

enum class Home {
  pageable,    ///< the host's own, which no kernel may access
  registered,  ///< by cudaHostRegister()
  pinned,
  managed,
  device,
  symbol,  ///< a __device__, __constant__ or __managed__ variable
};

struct Piece {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  Home home = Home::device;
  Call made{};
  Call freed{};           ///< name null: it is not
  bool of_graph = false;  ///< nodes of graphs allocate and free it
};

/// Allocates device memory for it. Null if there is not enough.
void* add_piece(std::size_t bytes, Home home, const Call& call);
void add_registered(void* pointer, std::size_t bytes, const Call& call);
/// The one that holds this address, or has before it was freed; null if there is none. (In the harness: always.)
const Piece* piece_at(std::uintptr_t address);
/// The one that begins there goes. `home`: what it must be.
cudaError_t remove_piece(void* pointer, Home home, const Call& call);
/// From now on it is there only from a node's run on: renewed, it has nothing in it.
void give_to_graph(void* pointer, const Call& call);
cudaError_t renew_piece(void* pointer, const Call& call);
/// Where an address belongs. Device memory that nobody has allocated is device memory, too.
Home home_of(std::uintptr_t address);
/// Whether all of this is memory that may be copied to and from, as far as anybody knows. `why` tells if not.
bool is_whole(std::uintptr_t address, std::size_t bytes, std::string& why, const Piece** freed);

/// Never 0; another number whenever a piece has gone. Needs no entering.
unsigned times_freed();
std::size_t bytes_in_use();
void report_leaks();

}  // namespace simt
