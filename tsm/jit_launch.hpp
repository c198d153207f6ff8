// From a problem to the kernel that is compiled for it: what the stages that generate their kernels have in common. A
// stage says which kernel that is and what a block of it needs (Generator); here it is found or compiled, kept, and
// launched.
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/stage.cuh"
#include "common/toolchain/jit.hpp"
#include "tsm/generated/combine.cuh"
#include "tsm/generated/multiply.cuh"
#include "tsm/generated/pipeline_model.hpp"
#include "tsm/generated/scale_rows.cuh"
#include "tsm/generated/stream.cuh"
#include "tsm/generated/warp_turns.cuh"
#include "tsm/stream_counter.hpp"

namespace gemm::generated {

/// What one kernel is compiled for.
struct Form {
  int m = 0, n = 0;
  bool is_complex = false, conjugate = false;
  Rows rows_a = Rows::flat, rows_b = Rows::flat;
  bool gram = false;           ///< TSMTTSM: B is A
  bool few_terms = false;      ///< so few that a complex product takes four real ones even where three are asked for
  KernelOptions options = {};  ///< as they are asked for; for a Generator, complete

  auto operator<=>(const Form&) const = default;
};

/// What one block of it needs.
struct BlockNeeds {
  std::int64_t rows = 1;                   ///< at least, of the long side: fewer blocks where there are not so many
  int shared_bytes = 0;                    ///< dynamic
  std::int64_t rows_of_life = 0;           ///< if not 0: more blocks than fit at a time, each for so many rows
  bool tickets = false;                    ///< whether blocks that live to the end take turns by them
  int most_on_a_multiprocessor = INT_MAX;  ///< where more would only leave more partial sums
};

/// What a stage says of the kernels that it generates. All but `each` get complete options.
struct Generator {
  EachKernel* each;
  std::string (*refusal)(int m, int n, bool is_complex, const KernelOptions& complete);
  JitRequest (*request)(const Form& form);
  BlockNeeds (*needs)(const Form& form);
};

/// A kernel, ready to launch, and what a launch must know: settled once for each form.
struct Plan {
  Status status;
  const JitKernel* kernel = nullptr;
  KernelOptions options;
  BlockNeeds needs;
  int resident = 1;  ///< blocks that a multiprocessor holds at a time

  /// Blocks that the device holds at a time.
  std::int64_t places() const { return static_cast<std::int64_t>(device_limits().multiprocessors) * resident; }
  /// As many blocks as there are rows for, but no more than there are places; or more where they live shortly.
  LaunchShape shape(std::int64_t rows, cudaStream_t stream) const {
    const std::int64_t shortly = needs.rows_of_life > 0 ? rows / needs.rows_of_life : 0;
    return {.grid = static_cast<unsigned>(std::max(std::min((rows + needs.rows - 1) / needs.rows, places()), shortly)),
            .block = static_cast<unsigned>(options.threads),
            .dynamic_shared = static_cast<unsigned>(needs.shared_bytes),
            .stream = stream};
  }
};

template <const Generator& generator>
Plan make_plan(Form form) {
  form.options = choose<generator.each>(form.m, form.n, form.is_complex, form.options);
  if (form.few_terms && form.options.products == 3) form.options.products = 4;
  Plan plan{.status = {}, .options = form.options, .needs = {}};
  if (std::string why = generator.refusal(form.m, form.n, form.is_complex, form.options); !why.empty()) {
    plan.status = Status::unsupported(why);
    return plan;
  }
  const JitResult found = find_kernel(generator.request(form));
  plan.status = found.status;
  plan.kernel = found.kernel;
  if (!plan.status) return plan;
  plan.needs = generator.needs(form);
  plan.resident = std::min(
      blocks_per_multiprocessor(*plan.kernel, form.options.threads, static_cast<std::size_t>(plan.needs.shared_bytes)),
      plan.needs.most_on_a_multiprocessor);
  return plan;
}

/// The plan for this form on the current device: looked up, but for the first time.
template <const Generator& generator>
const Plan& plan_for(const Form& form) {
  static std::map<std::pair<int, Form>, Plan> known;
  if (const auto found = known.find({device_number(), form}); found != known.end()) return found->second;
  return known[{device_number(), form}] = make_plan<generator>(form);
}

template <class T>
Form form_of(const TsmttsmProblem<T>& p) {
  return {.m = p.m,
          .n = p.n,
          .is_complex = sizeof(T) == sizeof(double2),
          .conjugate = p.conjugate,
          .rows_a = rows_of(p.a, p.lda, p.m),
          .rows_b = rows_of(p.b, p.ldb, p.n),
          .gram = p.a == p.b && p.lda == p.ldb && p.m == p.n,
          .few_terms = p.depth() < least_terms_of_three_products,
          .options = p.kernel};
}
template <class T>
Form form_of(const TsmmProblem<T>& p) {
  return {.m = p.m,
          .n = p.n,
          .is_complex = sizeof(T) == sizeof(double2),
          .rows_a = rows_of(p.a, p.lda, p.m),
          .rows_b = rows_of(p.b, p.ldb, p.n, 32),
          .options = p.kernel};
}

/// TSMTTSM by a kernel whose blocks leave partial sums in the workspace, which a second one adds up in order.
template <const Generator& generator, class T>
Status launch_in_order(const TsmttsmProblem<T>& p, const Form& form, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return Status::ok();
  const Plan& plan = plan_for<generator>(form);
  if (!plan.status) return plan.status;
  const LaunchShape shape = plan.shape(p.depth(), stream);
  T* const partial = static_cast<T*>(p.workspace);
  const Status multiplied = JitCall<void(std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*)>::launch(
      *plan.kernel, shape, p.depth(), p.a, p.lda, p.b, p.ldb, partial);
  if (!multiplied) return multiplied;
  return launch_combine<T>(p, partial, static_cast<int>(shape.grid.x), stream);
}

/// The same, but where B is A by the second generator, if it has a kernel.
template <const Generator& generator, const Generator& of_gram, class T>
Status launch_product_or_gram(const TsmttsmProblem<T>& p, Form form, cudaStream_t stream) {
  if (form.gram && p.m > 0 && plan_for<of_gram>(form).status) return launch_in_order<of_gram>(p, form, stream);
  form.gram = false;
  return launch_in_order<generator>(p, form, stream);
}

/// TSMM: each block has rows of B. has_counter: the kernel's last parameter is the number of a counter for tickets, or -1.
template <const Generator& generator, bool has_counter = false, class T>
Status launch_rows(const TsmmProblem<T>& p, cudaStream_t stream) {
  if (p.n == 0 || p.k == 0) return Status::ok();
  if (p.depth() == 0) return launch_scale_rows(p, stream);
  if (has_counter && p.k >> 35) return Status::unsupported("it counts sets of 16 rows in 32 bits: k is below 2^35");
  const Plan& plan = plan_for<generator>(form_of(p));
  if (!plan.status) return plan.status;
  const LaunchShape shape = plan.shape(p.k, stream);
  const auto launch = [&]<class... Counter>(Counter... counter) {
    return JitCall<void(std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T, T*, std::int64_t,
                        Counter...)>::launch(*plan.kernel, shape, p.k, p.alpha, p.a, p.lda, p.c, p.ldc, p.beta, p.b,
                                             p.ldb, counter...);
  };
  if constexpr (has_counter)
    return launch(plan.needs.tickets && shape.grid.x == plan.places() ? counter_of(stream, most_counters) : -1);
  else
    return launch();
}

/// What the registration of such a stage says; its requests are for rows without padding.
template <const Generator& generator>
constexpr GeneratedKernels kernels_of() {
  return {.choose = choose<generator.each>,
          .refusal = generator.refusal,
          .candidates = candidates<generator.each>,
          .request =
              [](int m, int n, bool is_complex, bool conjugate, const KernelOptions& complete) {
                return generator.request(
                    {.m = m, .n = n, .is_complex = is_complex, .conjugate = conjugate, .options = complete});
              },
          .find = find_kernel};
}

/// An argument of a template, as it is written.
inline std::string argument(int number) {
  return std::to_string(number);
}
inline std::string argument(bool yes) {
  return yes ? "true" : "false";
}
inline std::string argument(const char* name) {
  return name;
}
inline std::string argument(Reduction reduction) {
  constexpr const char* names[] = {"atomics", "shared_atomics", "local", "ordered", "none"};  // in the enum's order
  return std::string("gemm::Reduction::") + names[static_cast<int>(reduction)];
}
inline std::string argument(Rows how) {
  return std::string("gemm::generated::Rows::") + std::array{"flat", "wide", "any", "displaced"}[static_cast<int>(how)];
}
/// "gemm::generated::tsmm<double2, 3, true>"
template <class... Arguments>
std::string instance(const char* name, bool is_complex, Arguments... arguments) {
  std::string text = std::string("gemm::generated::") + name + (is_complex ? "<double2" : "<double");
  ((text += ", ", text += argument(arguments)), ...);
  return text + ">";
}

}  // namespace gemm::generated
