// The executable of a single stage: the last that is linked in, behind those that it chooses from, if it does.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/commands/stage_program.hpp"
#include "common/problem/registry.hpp"

namespace {

bool has_a_verdict = false;

// The stage's host code can call exit() outside of a launch, too: where its static objects are made, or where it predicts.
void refuse_to_leave() {
  if (has_a_verdict) return;
  std::fputs("error: the stage ended the program: it called exit(), or the like, outside of a launch\n", stderr);
  std::fflush(nullptr);
  _exit(1);
}

// Before the stage's static objects, which have no priority.
[[gnu::constructor(101)]] void expect_a_verdict() {
  std::atexit(refuse_to_leave);
}

}  // namespace

int main(int argc, char** argv) {
  const int status = gemm::stage_program(gemm::stages().back(), argc, argv);
  has_a_verdict = true;
  return status;
}
