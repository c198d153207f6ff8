#include "common/simt/runtime/program.hpp"

#include <cstdlib>
#include <string_view>

#include "common/simt/run/own_stack.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/device.hpp"
#include "common/simt/runtime/host_watch.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/pieces.hpp"
#include "common/simt/runtime/queue.hpp"
#include "common/simt/runtime/starter.hpp"

namespace simt {
void start_program() {
  is_program = has_guard_words = true;
  on_queued = start_when_host_idles;
  compute_capability();  // who asks for a device that is not there learns it at once
  watch_host(true);
}

void finish_program(int exit_status) {
  const Entered entered(SIMT_CALL("the program's end"));
  has_left_main = true;
  wait_for_all();
  if (exit_status == 0) report_ignored_errors();
  const char* const leaks = std::getenv("SIMT_LEAKS");
  if (leaks && leaks == std::string_view("1")) report_leaks();
  watch_host(false);
  is_program = false;
}

}  // namespace simt
