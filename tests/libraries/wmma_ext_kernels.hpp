// What tests/libraries/test_wmma_ext.cpp runs on the device: every primitive of tensorcore/wmma_ext/ on every kind of fragment.
// Numbers go in as double; fragments come out as the bytes of x[], lane by lane.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gemm::wmma_ext_test {

enum class Primitive {
  foreach_ij,       // a, by two fragments at once: the second one is what comes out
  foreach_rows,     // a, from memory by rows
  foreach_columns,  // a, from memory by columns
  foreach_v,        // u in the first row
  map,              // a, element by element, by run-time map()
  set_element,      // s at (i, j)
  set_constant,     // s at three places that are constants: see Kind::constant_places
  fill,             // s everywhere
  fill_zero,
  load_row,     // u in the first row
  load_column,  // v in the first column
  make_identity,
  direct_product,  // v u^T
  add_eye,         // a, s added to the diagonal
  plus,            // of a and b
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
  // Where an operand's type tells how it lies in memory:
  first_of_operands,
  foreach_by_type = first_of_operands,  // a
  foreach_v_by_type,                    // u in the first row or v in the first column
  load_by_type,
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

/// The same on the device, in the type of the fragment's x[]; matrices in rows and in columns, without padding.
struct Arguments {
  const void *a, *b, *c, *a_by_cols, *b_by_cols, *c_by_cols, *u, *v;
  double s;
  int i, j;
  unsigned char* fragments;  ///< x[] of all lanes, after each primitive
  void *row, *column;        ///< from store_vector()
  void* by_type;             ///< the same of an operand, whose type says which
};

/// Matrices on the device, row-major, each to be put into shared memory and loaded from there.
struct LoadArguments {
  const double* matrices;
  int count;
  bool by_rows;  ///< how it lies in shared memory
  unsigned char* fragments;
};

enum class Value { f16, bf16, f32, f64 };  // of an element of x[]

/// A kind of fragment, and its kernels.
struct Kind {
  std::string name;  ///< "wmma matrix_a 16x16x16 f16 row_major"
  int rows, cols;
  int elements;  ///< of x[]
  bool is_accumulator, by_rows;
  Value value;
  int value_bytes;
  int needs;  ///< compute capability times 10
  std::vector<Place> constant_places;
  void (*primitives_kernel)(Arguments);
  void (*load_kernel)(LoadArguments);
  void (*print_kernel)(Arguments);
};
const std::vector<Kind>& wmma_kinds();
const std::vector<Kind>& mma_kinds();

using Bytes = std::vector<unsigned char>;

/// What all primitives make of a problem.
struct Made {
  std::map<Primitive, Bytes> fragments;
  std::vector<double> row, column, by_type;
};
Made run_primitives(const Kind& kind, const Input& in);

/// Row-major matrices, in whatever precision (each element is rounded once), put into shared memory with padding and
/// loaded with load_matrix_sync, from there in rows or columns.
std::vector<Bytes> load_from_shared(const Kind& kind, const std::vector<std::vector<double>>& matrices, bool by_rows);

/// print_fragment() of a, called "it".
void print(const Kind& kind, const Input& in);

/// D = A B + C through mma fragments' own loads, product and stores; all row-major here, and in shared memory padded
/// and in the order that is asked for.
struct Orders {
  bool a_by_rows, b_by_rows, c_by_rows;
};
struct Product {
  std::string name;
  int m, n, k, needs;
  std::vector<double> (*run)(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                             Orders orders);
};
const std::vector<Product>& products();

/// wmma_ext::self_test(), and with tables that are wrong for one kind of fragments.
std::string self_test();
std::string self_test_with_wrong_wmma_table();
std::string self_test_with_wrong_mma_table();
std::string architecture_problem(int compiled, int device);

}  // namespace gemm::wmma_ext_test
