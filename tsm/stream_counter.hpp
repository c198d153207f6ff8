// Which of a kernel's counters a launch may have, so that no other launch has it at the same time.
#pragma once

#include <cuda_runtime.h>

#include <map>

namespace gemm {

/// The number of a counter, below `most`, for launches in this stream: those of one stream never overlap, and no other
/// stream has that number. -1 while the stream is captured, since a graph may be launched anywhere; and once `most`
/// streams have one, of a process. Like plans of launches (jit_launch.hpp) for one thread at a time.
inline int counter_of(cudaStream_t stream, int most) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;  // unlike the handle, never given again
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone ||
      cudaStreamGetId(stream, &id) != cudaSuccess)
    return -1;
  static std::map<unsigned long long, int> numbers;
  if (const auto known = numbers.find(id); known != numbers.end()) return known->second;
  return std::ssize(numbers) < most ? numbers.emplace(id, static_cast<int>(numbers.size())).first->second : -1;
}

}  // namespace gemm
