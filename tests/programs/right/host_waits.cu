// The host waits without a CUDA call: for a callback, by a lock; and for a flag that a kernel sets in mapped memory.
#include <condition_variable>
#include <cstdio>
#include <mutex>

struct Done {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_set = false;
};

__global__ void fill(int* to, int value) {
  to[threadIdx.x] = value * threadIdx.x;
}

// Answers each question that the host writes to ask[0].
__global__ void answer(volatile int* ask, volatile int* reply, int* data, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    while (*ask != round) {
    }
    __threadfence_system();
    data[1] = 2 * data[0];
    __threadfence_system();
    *reply = round;
  }
}

int main() {
  int *data, *flags;
  cudaMallocHost(&data, 64 * sizeof(int));
  cudaMallocHost(&flags, 2 * sizeof(int));
  Done done;
  fill<<<1, 64>>>(data, 3);
  cudaLaunchHostFunc(
      nullptr,
      [](void* to) {
        Done& it = *(Done*)to;
        const std::lock_guard<std::mutex> lock(it.mutex);
        it.is_set = true;
        it.changed.notify_one();
      },
      &done);
  {
    std::unique_lock<std::mutex> lock(done.mutex);
    done.changed.wait(lock, [&] { return done.is_set; });
  }
  std::printf("%d\n", data[63]);

  volatile int *ask = flags, *reply = flags + 1;
  *ask = *reply = 0;
  answer<<<1, 1>>>(ask, reply, data, 3);
  for (int round = 1; round <= 3; ++round) {
    data[0] = 10 * round;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *ask = round;
    while (*reply != round) {
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    std::printf("%d\n", data[1]);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  return cudaFreeHost(data) || cudaFreeHost(flags);
}
