// On the CPU executor the program of a stage is two processes: one that does all the work, and its keeper, who waits for
// it, and knows whether it came to its end. The stage's code can end or stop the first one in many ways, before main(), too.
#pragma once

namespace gemm {

/// main() begins: until then only the stage's static objects can have run.
void main_begins();
/// Its verdict, an exit status. The program ends with that, or another failure, whatever follows.
void main_ends(int status);

}  // namespace gemm
