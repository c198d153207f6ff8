// Whether this process is a program that the executor runs whole (program.hpp), or the harness.
#pragma once

namespace simt {

inline bool is_program = false;
inline bool runs_program() {
  return is_program;
}

}  // namespace simt
