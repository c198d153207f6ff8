// Looks on while a program of anybody's runs: from before main() until after it, and says then what its kernels did.
// Linked into the program as a whole. The environment asks for more than mistakes:
//
//   SIMT_COUNT=1   each kernel's accesses, and what they cost; SIMT_LINES=1: each line's
//   SIMT_JSON=FILE all of it as JSON
//   SIMT_LEAKS=1   memory that is never freed
//   SIMT_SAMPLE=N  only N blocks of each launch run, and counts are extrapolated
//   SIMT_ORDER=N   blocks begin in another order: another one for each N, 0 as their numbers are; if N is odd, of each block
//                  the last warps are first
//   SIMT_FLAGS=FILE  made if fences and flags order threads: in another order they may show more (./lab emulate)
#include "common/simt/runtime/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "common/simt/observe/inspection.hpp"
#include "common/simt/observe/onlookers.hpp"
#include "common/simt/program/report.hpp"
#include "common/simt/run/block.hpp"
#include "common/simt/run/executor.hpp"
#include "common/simt/run/last_words.hpp"

namespace simt {
namespace {

bool asked_for(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value && std::string_view(value) != "0";
}

// 0 if it isn't there.
std::uint32_t number_in(const char* name) {
  const char* const text = std::getenv(name);
  if (!text || !*text) return 0;
  std::uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  if (const auto [rest, error] = std::from_chars(text, end, number); error != std::errc{} || rest != end) {
    std::fprintf(stderr, "error: %s='%s' is no number from 0 to 4294967295\n", name, text);
    _exit(2);
  }
  return number;
}

// Never destroyed: workers may outlive main().
struct Observed {
  InspectionResult result;
  Inspection inspection{result};
  std::size_t told = 0;  // of the mistakes
};
Observed* observed = nullptr;

// A program that crashes later has said by then what was wrong.
void tell_mistakes() {
  const auto& defects = observed->result.defects;
  if (observed->told == defects.size()) return;
  std::fflush(stdout);
  for (; observed->told < defects.size(); ++observed->told)
    std::fprintf(stderr, "simt: %s\n", defects[observed->told].text().c_str());
}

// What is known so far, and what ends the program. By a child, which may take time and memory; if another thread had locks that it needs, it gives up.
void tell_crash(const LastWords& words) {
  const pid_t child = _Fork();
  if (child == 0) {
    constexpr unsigned seconds = 10;
    alarm(seconds);
    for (std::size_t i = observed->told; i < observed->result.defects.size(); ++i)
      std::fprintf(stderr, "simt: %s\n", observed->result.defects[i].text().c_str());
    std::fprintf(stderr, "simt: %s\n", words.reason().c_str());
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

// Registered before all others, so it comes last: the program's own destructors have run.
void at_the_end(int status, void*) {
  finish_program(status);
  std::cout.flush();
  std::fflush(nullptr);
  tell_mistakes();
  const InspectionResult& result = observed->result;
  if (std::ranges::any_of(result.kernels, [](const KernelObservation& kernel) { return kernel.sampled_blocks > 0; }))
    std::fputs(
        "simt: only a sample of the blocks ran: results, and mistakes that follow from them, are not the program's\n",
        stderr);
  if (asked_for("SIMT_COUNT") || asked_for("SIMT_LINES"))
    std::fputs(counts_text(result, asked_for("SIMT_LINES")).c_str(), stderr);
  if (asked_for("SIMT_JSON")) {
    const char* const name = std::getenv("SIMT_JSON");
    std::FILE* const file = std::fopen(name, "w");
    if (!file || std::fputs(report_json(result, status).c_str(), file) < 0 || std::fclose(file) != 0) {
      std::fprintf(stderr, "error: can't write %s\n", name);
      _exit(2);
    }
  }
  if (asked_for("SIMT_FLAGS") && global_order().causality().orders_by_flags()) {
    if (std::FILE* const file = std::fopen(std::getenv("SIMT_FLAGS"), "w")) std::fclose(file);
  }
  if (has_mistakes(result)) _exit(1);
}

// Before the constructors of the program's own objects, which may launch kernels.
[[gnu::constructor(101)]] void begin() {
  observed = new Observed;
  observed->inspection.on_launch_end = tell_mistakes;
  observed->inspection.merges_launches = true;
  observed->inspection.counts = asked_for("SIMT_COUNT") || asked_for("SIMT_LINES") || asked_for("SIMT_JSON");
  set_block_order(static_cast<unsigned>(number_in("SIMT_ORDER")));
  set_block_sample(number_in("SIMT_SAMPLE"));
  worker_count();  // the workers are there before what ends them is registered, and so until after the end
  host_may_leave_variables = true;
  start_program();
  tell_crashes(tell_crash);
  on_exit(at_the_end, nullptr);
}

}  // namespace
}  // namespace simt
