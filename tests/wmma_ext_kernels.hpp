// What tests/test_wmma_ext.cpp runs on the device: every primitive of tensorcore/wmma_ext/ on every kind of fragment.
// Numbers go in as double; fragments come out as the bytes of x[], lane by lane.
#pragma once

#include <string>
#include <vector>

namespace gemm::wmma_ext_test {

enum class Primitive {
  // For every kind:
  foreach_ij,          // a, by two fragments at once: the second one is what comes out
  foreach,             // a
  foreach_in_columns,  // a, from memory by columns
  load_vector,         // an operand's: u in the first row or v in the first column, as its type says
  // Unless the kind is an operand by columns:
  map,           // a, element by element, by run-time map()
  set_element,   // zeros, but s at (i, j)
  set_constant,  // zeros, but s at three places that are constants: see constant_places()
  fill,          // s everywhere
  fill_zero,
  load_row,     // u in the first row
  load_column,  // v in the first column
  make_identity,
  direct_product,  // v u^T
  add_eye,         // a, s added to the diagonal
  // For some kinds:
  plus,  // of a and b
  minus,
  times,
  divided,
  plus_s,
  minus_s,
  times_s,
  s_times,
  divided_by_s,
  fma,    // a b + c
  fma_s,  // s b + c
  count
};

struct Place {
  int row, col;
};

/// The problem of one launch. a, b, c: rows x cols, row-major; u: cols; v: rows.
struct Input {
  std::vector<double> a, b, c, u, v;
  double s = 0;
  int i = 0, j = 0;
};

using Bytes = std::vector<unsigned char>;

/// A kind of fragment.
struct Kind {
  std::string name;      ///< "wmma matrix_a 16x16x16 f16 row_major"
  int rows, cols, held;  ///< held: elements of the matrix a lane
  bool is_accumulator, by_rows;
  bool is_half;     ///< or bfloat16: 11 or 8 bits
  int needs;        ///< compute capability times 10
  int value_bytes;  ///< of an element of x[]
  /// By the primitive: x[] of all lanes, without shared memory.
  Bytes (*primitive)(Primitive, const Input&);
  /// The same matrix (in Input::a, in whatever precision: it is rounded once) put into shared memory and loaded with
  /// load_matrix_sync, from there in rows or columns.
  Bytes (*loaded)(const Input&, bool by_rows);
  /// store_vector() of a: its first row, or its first column.
  std::vector<double> (*store_vector)(const Input&, bool row);
  /// print_fragment() of a, called "it".
  void (*print)(const Input&);
  std::vector<Place> (*constant_places)();
  bool tests_all, tests_arithmetic;
};
const std::vector<Kind>& wmma_kinds();
const std::vector<Kind>& mma_kinds();

/// D = A B + C through mma fragments' own loads, product and stores; all row-major, padded within.
struct Product {
  std::string name;
  int m, n, k, needs;
  std::vector<double> (*run)(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                             bool c_by_rows);
};
const std::vector<Product>& products();

/// wmma_ext::self_test(), and with tables that are wrong for one kind of fragments.
std::string self_test();
std::string self_test_with_wrong_wmma_table();
std::string self_test_with_wrong_mma_table();
std::string architecture_problem(int compiled, int device);

}  // namespace gemm::wmma_ext_test
