// Looks on while a program of anybody's runs: from before main() until after it, and says then what its kernels did.
// Linked into the program as a whole. The environment asks for more than mistakes:
//
//   SIMT_COUNT=1   each kernel's accesses, and what they cost; SIMT_LINES=1: each line's
//   SIMT_JSON=FILE all of it as JSON
//   SIMT_LEAKS=1   memory that is never freed
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "common/simt/observe/inspection.hpp"
#include "common/simt/program/report.hpp"
#include "common/simt/run/executor.hpp"
#include "common/simt/runtime/program.hpp"

namespace simt {
namespace {

bool asked_for(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value && std::string_view(value) != "0";
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

// Registered before all others, so it comes last: the program's own destructors have run.
void at_the_end(int status, void*) {
  finish_program(status);
  std::cout.flush();
  std::fflush(nullptr);
  tell_mistakes();
  const InspectionResult& result = observed->result;
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
  if (has_mistakes(result)) _exit(1);
}

// Before the constructors of the program's own objects, which may launch kernels.
[[gnu::constructor(101)]] void begin() {
  observed = new Observed;
  observed->inspection.on_launch_end = tell_mistakes;
  worker_count();  // the workers are there before what ends them is registered, and so until after the end
  start_program();
  on_exit(at_the_end, nullptr);
}

}  // namespace
}  // namespace simt
