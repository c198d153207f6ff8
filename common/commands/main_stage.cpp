// The executable of a single stage: the last that is linked in, behind those that it chooses from, if it does.
#include "common/commands/stage_program.hpp"
#include "common/problem/registry.hpp"

int main(int argc, char** argv) {
  return gemm::stage_program(gemm::stages().back(), argc, argv);
}
