// Where a pattern occurs in a text: one thread per position; the host sorts the results.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

__constant__ char pattern[32];
__device__ int found_count;

__global__ void match(const char* __restrict__ text, int text_length, int pattern_length, int* found, int most) {
  const int start = blockIdx.x * blockDim.x + threadIdx.x;
  if (start + pattern_length > text_length) return;
  for (int i = 0; i < pattern_length; ++i)
    if (text[start + i] != pattern[i]) return;
  const int at = atomicAdd(&found_count, 1);
  if (at < most) found[at] = start;
}

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "abcab";
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "abc"[i * i % 7 % 3];
  text += word;  // at the very end, too
  const int most = 2000;
  char* d_text;
  int *d_found, count = 0;
  cudaMalloc(&d_text, text.size());
  cudaMalloc(&d_found, most * sizeof(int));
  cudaMemcpy(d_text, text.data(), text.size(), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(pattern, word.data(), word.size());
  cudaMemcpyToSymbol(found_count, &count, sizeof(count));
  const int threads = 192;
  match<<<(text.size() + threads - 1) / threads, threads>>>(d_text, text.size(), word.size(), d_found, most);
  cudaMemcpyFromSymbol(&count, found_count, sizeof(count));
  std::vector<int> found(count), expected;
  cudaMemcpy(found.data(), d_found, count * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(found.begin(), found.end());
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) expected.push_back(at);
  std::printf("%d matches, the last at %d, %s\n", count, found.back(), found == expected ? "right" : "wrong");
  cudaFree(d_text);
  cudaFree(d_found);
  return found != expected;
}
