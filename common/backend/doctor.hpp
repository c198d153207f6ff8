// The part of ./lab doctor that a program can answer and a shell script can't.
#pragma once

namespace gemm {

/// Prints a line per finding, "ok" or what to do about it. Returns 0 if nothing stands in the way of running, else 1.
int doctor();

}  // namespace gemm
