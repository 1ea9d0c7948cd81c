// What the operators of linear algebra share: the exception, checks of matrices, tolerances,
// column-major tensors as LAPACK reads them, permutations of rows.
#pragma once
#include <optional>
#include <string>

#include "facula/base/error.h"
#include "facula/core/tensor.h"
#include "facula/ops/hidden_values.h"

namespace facula {

// LinAlgError says that a matrix does not permit what was asked: singular, not positive-definite,
// not converging. Python shows it as facula.linalg.LinAlgError, a RuntimeError.
class FACULA_API LinAlgError : public Error {
 public:
  explicit LinAlgError(std::string message) : Error(ErrorKind::kRuntime, std::move(message)) {}
  ~LinAlgError() override;
};

namespace linalg {

// check_matrix refuses tensors of fewer than 2 dimensions (RuntimeError) and of element types that
// LAPACK does not know (NotImplementedError). check_square refuses rectangular matrices too.
void check_matrix(const char* op, const Tensor& t, const char* name = "A");
void check_square(const char* op, const Tensor& t, const char* name = "A");
// check_same_type refuses two operands of different types.
void check_same_type(const char* op, const Tensor& a, const Tensor& b);
// check_system refuses A and B that do not fit A X = B, or X A = B.
void check_system(const char* op, const Tensor& a, const Tensor& b, bool left);
// check_pivots refuses pivots that do not belong to LU factors.
void check_pivots(const char* op, const Tensor& lu, const Tensor& pivots);

// Trouble names what a nonzero info of a routine means.
enum class Trouble : uint8_t {
  kCholesky,
  kInverse,
  kSolve,
  kFactor,
  kEigenvalues,
  kSvd,
  kLdl,
  kRank
};

// check_info raises LinAlgError for the first matrix with a nonzero info; RuntimeError for kFactor.
void check_info(const char* op, const Tensor& info, Trouble trouble);

// tolerance makes the 0-d tensor of a tolerance in the real type of a matrix, undefined for none. A
// tolerance is a double: one that is too large for the type is infinite there.
Tensor tolerance(std::optional<double> v, const Tensor& like);

// significant says which sizes [..., k] of the singular values or eigenvalues of matrices with at
// most `longest` rows and columns exceed the larger of atol and rtol times the largest size. An
// undefined atol is 0; an undefined rtol is epsilon * longest, or 0 where there is a positive atol.
Tensor significant(const Tensor& sizes, int64_t longest, const Tensor& atol, const Tensor& rtol);

// is_vector_system says whether B of a system holds vectors, which lack the last dimension.
bool is_vector_system(const Tensor& a, const Tensor& b);

// batch_sizes gives all sizes but the last two; with puts two sizes behind them.
inline IntList batch_sizes(const Tensor& t) { return {t->sizes, static_cast<size_t>(t->ndim - 2)}; }
Sizes with(IntList batch, std::initializer_list<int64_t> tail);
int64_t batch_count(IntList sizes);

// new_columns allocates column-major matrices; columns copies into such, broadcasting the batch.
Tensor new_columns(IntList batch, int64_t m, int64_t n, DType dtype, Device device);
Tensor columns(const Tensor& t, IntList batch);
Tensor columns(const Tensor& t);

// adjoint_of conjugates and transposes; product is matmul; both are recorded operators.
Tensor adjoint_of(const Tensor& t);
Tensor product(const Tensor& a, const Tensor& b);
// identity gives n x n identity matrices that broadcast.
Tensor identity(int64_t n, const Tensor& like);

// rows_of gives for each row of L U the row of the input that it is, from pivots; inverse_rows the
// other way round. permuted takes rows (dim -2) or columns (dim -1) of t in that order.
Tensor rows_of(const Tensor& pivots, int64_t rows);
Tensor inverse_rows(const Tensor& rows);
Tensor permuted(const Tensor& t, const Tensor& order, int64_t dim);

}  // namespace linalg
}  // namespace facula
