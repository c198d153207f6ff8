// A CUDA context does not survive a fork: everything is done in this process.
#include "common/backend/shares.hpp"

namespace gemm {

std::vector<std::string> share_out(std::size_t pieces, int, const std::function<std::string(std::size_t)>& work) {
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < pieces; ++i) answers.push_back(work(i));
  return answers;
}

}  // namespace gemm
