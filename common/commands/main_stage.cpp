// The executable of a single stage: the last that is linked in, behind those that it chooses from, if it does.
#include "common/commands/keeper.hpp"
#include "common/commands/stage_program.hpp"
#include "common/problem/registry.hpp"

int main(int argc, char** argv) {
  gemm::main_begins();
  const int status = gemm::stage_program(gemm::stages().back(), argc, argv);
  gemm::main_ends(status);
  return status;
}
