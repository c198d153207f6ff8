#include <stdlib.h>

struct numbers {
  int count, class; /* a name that C++ keeps for itself */
};

int* new_numbers(int n) {
  struct numbers these = {.count = n, .class = 7};
  int* numbers = malloc(n * sizeof *numbers); /* no cast */
  for (int i = 0; i < n; ++i) numbers[i] = i * these.class % these.count;
  return numbers;
}

void free_numbers(int* numbers) {
  free(numbers);
}

long sum_of_squares(numbers, n) const int* numbers; /* as C was first written */
int n;
{
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += (long)numbers[i] * numbers[i];
  return sum;
}
