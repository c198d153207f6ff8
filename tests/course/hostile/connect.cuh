// connects to a port of the machine (loopback)
}
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
namespace {
int attack() {
  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(@PORT@);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) _exit(42);
  return 0;
}
const int done = attack();
constexpr int TILE = 16;
__global__ void sgemm(int m, int n, int k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc, int tiles_n) {
}
