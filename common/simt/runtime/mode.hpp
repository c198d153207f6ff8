// Whether this process is a program that the executor runs whole (program.hpp), or the harness.
#pragma once

namespace simt {

inline bool is_program = false;
inline bool has_left_main = false;  ///< its variables may be gone
inline bool runs_program() {
  return is_program;
}

}  // namespace simt
