// Programs that end by a signal: the argument says how, and the line that is told ends with the same word.
#include <string>

struct Node {
  const Node* next;
  int value;
};

__global__ void divides(int* out, int by) {
  out[0] = 5 / by;  // divides
}
__global__ void overflows(int* out, int n) {  // overflows
  volatile int large[20000];
  for (int i = 0; i < 20000; ++i) large[i] = n;
  out[0] = large[n];
}

int main(int count, char** arguments) {
  const std::string is = arguments[1];
  int* out = nullptr;
  cudaMalloc(&out, sizeof(int));
  if (is == "divides") divides<<<1, 1>>>(out, count - 2);
  if (is == "overflows") overflows<<<1, 1>>>(out, count);
  cudaDeviceSynchronize();
  const Node last = {nullptr, 5};
  const Node* node = is == "host" ? &last : nullptr;
  while (node && node->value != 0) {
    node = node->next;
    if (node->value < 0) break;  // host
  }
}
