// The executable of a single stage: the last that is linked in, behind those that it chooses from, if it does.
#include "common/options.hpp"
#include "common/registry.hpp"

int main(int argc, char** argv) {
  return gemm::stage_program(gemm::stages().back(), argc, argv);
}
