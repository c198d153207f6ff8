// A lock that blocks take in turn, to change more than one word at once.
#include <cstdio>

struct Lock {
  int* mutex;
  __device__ void lock() {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    __threadfence();  // what follows is not read before the lock is ours
  }
  __device__ void unlock() {
    __threadfence();  // what we wrote is visible before the lock is free
    atomicExch(mutex, 0);
  }
};

struct Account {
  int balance, transfers;
};

__global__ void transfer(Lock lock, Account* accounts, int n) {
  __shared__ int amount;
  if (threadIdx.x == 0) amount = 0;
  __syncthreads();
  atomicAdd(&amount, 1 + static_cast<int>(threadIdx.x % 2));
  __syncthreads();
  if (threadIdx.x == 0) {
    Account& from = accounts[blockIdx.x % n];
    Account& to = accounts[(blockIdx.x * 7 + 3) % n];
    lock.lock();
    from.balance -= amount;
    ++from.transfers;
    to.balance += amount;
    ++to.transfers;
    lock.unlock();
  }
}

int main() {
  const int n = 5, blocks = 60;
  Account accounts[n], *d_accounts;
  for (Account& account : accounts) account = {1000, 0};
  Lock lock;
  cudaMalloc(&lock.mutex, sizeof(int));
  cudaMemset(lock.mutex, 0, sizeof(int));
  cudaMalloc(&d_accounts, sizeof accounts);
  cudaMemcpy(d_accounts, accounts, sizeof accounts, cudaMemcpyHostToDevice);
  transfer<<<blocks, 32>>>(lock, d_accounts, n);
  cudaMemcpy(accounts, d_accounts, sizeof accounts, cudaMemcpyDeviceToHost);
  int money = 0, transfers = 0;
  for (const Account& account : accounts) {
    std::printf("balance %d, transfers %d\n", account.balance, account.transfers);
    money += account.balance;
    transfers += account.transfers;
  }
  cudaFree(lock.mutex);
  cudaFree(d_accounts);
  return money != n * 1000 || transfers != 2 * blocks;
}
