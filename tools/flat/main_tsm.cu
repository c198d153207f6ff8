int main() {
  using program::run;
  try {
@products@
    constexpr int M = 16, K = 1 << 20;
    const double ms = run<double>({.m = M, .n = M, .k = K, .adds = false, .timed = true});
    std::printf("PASS @id@, %d x %d x %d: %.4f ms, %.1f GFLOP/s\n", M, M, K, ms, 2e-6 * M * M * K / ms);
  } catch (const std::exception& error) {
    std::printf("FAIL @id@, %s\n", error.what());
    return 1;
  }
}
