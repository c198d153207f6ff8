// A stage in a program of its own that is not trusted: it shares no memory with the one that judges, and learns of a
// problem only its operands. The other end of the connection is serve_stage().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/check/stage_run.hpp"

namespace gemm {

struct PlannedRun;

class RemoteStage {
 public:
  /// `command` starts the program, with the connection as its file descriptor 3. Nothing runs before the first launch.
  /// The timeouts, in seconds: of a launch, and of all of them together.
  RemoteStage(std::vector<std::string> command, double timeout, double timeout_of_all);
  ~RemoteStage();
  RemoteStage(const RemoteStage&) = delete;
  RemoteStage& operator=(const RemoteStage&) = delete;

  /// As run_apart(). After a launch that the program did not survive, the next one has a new program.
  StageRun run(const Contender& contender, const Problem& problem, Looking looking);
  /// In which order the blocks of later launches begin (simt::set_block_order).
  void set_block_order(unsigned order) { order_ = order; }
  /// Whether later launches tell Observation::most_sectors_of_a_block.
  void count_sectors_of_blocks(bool count) { sectors_of_blocks_ = count; }

  std::optional<std::string> last_writer(const Contender& contender, const Problem& problem, const void* address);

  /// What it launches for this problem on a GPU with so many multiprocessors. The operands are not looked at: their
  /// pointers may be any. Throws DeviceError if it does not say.
  PlannedRun plan(const Contender& contender, const Problem& problem, int multiprocessors);

 private:
  struct Reply;
  struct Question;
  std::optional<Reply> ask(const Contender& contender, Problem problem, const Question& question);
  void start();
  bool answer_until(double seconds, std::size_t most_bytes, std::string& answer);
  std::string how_it_ended();
  int end();

  const std::vector<std::string> command_;
  const double timeout_, timeout_of_all_;
  double spent_ = 0;  // by all launches
  int child_ = 0, socket_ = -1;
  bool late_ = false;
  unsigned order_ = 0;
  bool sectors_of_blocks_ = false;
};

/// The program that all stages are run by from now on. `file`: the same, as it is here, for its symbols.
void set_stage_program(const std::string& file, std::vector<std::string> command, double timeout,
                       double timeout_of_all);
/// Null unless there is one.
RemoteStage* remote_stage();

/// The life of such a program: launches the only stage that it has, until the connection ends.
void serve_stage(int socket);

}  // namespace gemm
