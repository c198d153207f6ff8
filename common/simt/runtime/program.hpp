// A program with a main() of its own that the executor runs whole: its work is queued by stream and runs as late as
// CUDA allows, its host code is watched, and errors that it never asked for are reported. (The harness has none of
// this.)
#pragma once

namespace simt {

/// From now on. Reports go to the inspection under way (inspection.hpp), which must last until finish_program().
void start_program();

/// Runs what is still queued and reports what the program has left behind: errors, unless it ends with a status that
/// says so itself; with SIMT_LEAKS=1 in the environment, memory.
void finish_program(int exit_status = 0);

}  // namespace simt
