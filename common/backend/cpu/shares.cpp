#include "common/backend/shares.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>

#include "common/backend/process_state.hpp"
#include "common/backend/shared_numbers.hpp"
#include "common/simt/observe/global_memory.hpp"

namespace gemm {
namespace {

using Piece = std::function<std::string(std::size_t)>;

// keep(i, text): of those that nobody has taken yet, one after another.
template <class Keep>
void take(std::atomic<int>& next, std::size_t pieces, const Piece& work, Keep keep) {
  for (std::size_t i; (i = static_cast<std::size_t>(next++)) < pieces;) keep(i, work(i));
}

// A process that takes pieces, too. What it has done it writes to a file, so that it never waits for who reads that.
class Helper {
 public:
  Helper(std::atomic<int>& next, std::size_t pieces, const Piece& work) : file_(memfd_create("answers", MFD_CLOEXEC)) {
    if (file_ < 0) return;
    std::fflush(nullptr);  // or both would write it
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) help(parent, next, pieces, work);
  }
  ~Helper() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    if (file_ >= 0) close(file_);
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // When it has ended.
  void collect(std::vector<std::string>& answers) {
    if (process_ <= 0) return;
    while (waitpid(process_, nullptr, WNOHANG) == 0) {
      usleep(1000);
      if (is_halted(process_)) kill(process_, SIGKILL);  // a stage has stopped it
    }
    process_ = 0;
    std::FILE* const file = fdopen(file_, "rb");
    if (!file) return;
    file_ = -1;
    std::rewind(file);
    for (std::size_t head[2]; std::fread(head, sizeof head, 1, file) == 1;) {
      std::string text(head[1], '\0');
      if (head[0] >= answers.size() || std::fread(text.data(), 1, text.size(), file) != text.size()) break;
      answers[head[0]] = std::move(text);
    }
    std::fclose(file);
  }

 private:
  [[noreturn]] void help(pid_t parent, std::atomic<int>& next, std::size_t pieces, const Piece& work) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever ends the other one, Ctrl-C included
    if (getppid() != parent) _exit(1);
    try {
      simt::GlobalMemory::instance().begin_anew();
      std::FILE* const file = fdopen(file_, "wb");
      take(next, pieces, work, [&](std::size_t i, const std::string& text) {
        const std::size_t head[2] = {i, text.size()};
        std::fwrite(head, sizeof head, 1, file);
        std::fwrite(text.data(), 1, text.size(), file);
        std::fflush(file);
      });
    } catch (...) {  // what it lacks, the other one does, and tells what is wrong
      _exit(1);
    }
    _exit(0);
  }

  int file_;
  pid_t process_ = 0;
};

}  // namespace

std::vector<std::string> share_out(std::size_t pieces, int processes, const Piece& work) {
  std::vector<std::string> answers(pieces);
  const SharedNumbers next(1);
  std::vector<std::unique_ptr<Helper>> helpers;
  for (int i = 1; i < processes; ++i) helpers.push_back(std::make_unique<Helper>(next[0], pieces, work));
  take(next[0], pieces, work, [&](std::size_t i, std::string text) { answers[i] = std::move(text); });
  for (const auto& helper : helpers) helper->collect(answers);
  return answers;
}

}  // namespace gemm
