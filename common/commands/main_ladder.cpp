// A ladder over programs of single stages (--program): what ./lab ladder runs. It has no stage of its own.
#include "common/commands/ladder_program.hpp"

int main(int argc, char** argv) {
  return gemm::ladder_program(argc, argv, gemm::results_of_programs);
}
