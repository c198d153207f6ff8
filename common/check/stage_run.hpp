// One launch of a contender, looked on: in this process, or in one of its own, so that what it does to its process
// befalls nobody else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/backend/counts.hpp"
#include "common/check/contender.hpp"
#include "common/kernel/launch_log.hpp"

namespace gemm {

struct StageRun {
  Status status;
  std::vector<LaunchRecord> launches;  ///< what the stage launched
  Observation observation;             ///< what the CPU executor saw of it
  std::string policy;                  ///< what the contender chose, if it has a choice
  /// Its process ended, or was stopped: how and where, on one line. Then there is nothing else.
  std::string ended;
};

/// In this process, with observe(). Throws DeviceError, OutOfDeviceMemory among them, and UsageError.
StageRun run_here(const Contender& contender, const Problem& problem, Looking looking = {});

/// From now on run_apart() runs stages in a process of their own, where this back end can (the CPU executor, unless the
/// program is being debugged), and ends one that has not returned after so many seconds; 0: never.
void set_stages_apart(double timeout_seconds);

/// As run_here(). Apart from this process are registered stages only, after set_stages_apart(): one process for all
/// launches until it ends, and with it what stages keep from launch to launch.
StageRun run_apart(const Contender& contender, const Problem& problem, Looking looking = {});

/// Looks on at a launch, which it is given, and says what it saw. May throw UsageError, DeviceError and StageError.
using Onlooker = std::function<std::string(const std::function<Status()>& launch)>;
/// What the onlooker says of this contender's launch: both in a process of their own, as run_apart() has them.
/// Throws what the onlooker throws, and StageError if the process ends: how and where.
std::string look_on_apart(const Contender& contender, const Problem& problem, const Onlooker& onlooker);

/// Launches it to see who writes this address last, as last_writer() has it (common/backend/last_writer.hpp). Nothing if
/// its process ends, too.
std::optional<std::string> last_writer_here(const Contender& contender, const Problem& problem, const void* address);
std::optional<std::string> last_writer_apart(const Contender& contender, const Problem& problem, const void* address);

}  // namespace gemm
