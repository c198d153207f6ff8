// What the system says of a process: /proc/PID/status.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace gemm {

struct ProcessState {
  char state = '?';  ///< as ps has it: T stopped by a signal, t by a tracer
  pid_t parent = 0, tracer = 0;
};

inline ProcessState state_of(pid_t process) {
  ProcessState found;
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string key;
  for (; status >> key; status.ignore(1 << 16, '\n')) {
    if (key == "State:") status >> found.state;
    if (key == "PPid:") status >> found.parent;
    if (key == "TracerPid:") status >> found.tracer;
  }
  return found;
}

/// Stopped by a signal, or by a process that descends from it. Any other tracer is a person's debugger.
inline bool is_halted(pid_t process) {
  const ProcessState now = state_of(process);
  if (now.state != 't') return now.state == 'T';
  for (pid_t ancestor = now.tracer; ancestor > 1; ancestor = state_of(ancestor).parent) {
    if (ancestor == process) return true;
  }
  return false;
}

}  // namespace gemm
