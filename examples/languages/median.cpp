// A package in C++: the table of ferrule/abi.h, exported by a shared object.
//
//     flags="-std=c++17 -O3 -shared -fPIC -fvisibility=hidden -fno-gnu-unique -I../../include"
//     g++ $flags median.cpp -o median.so
//     ferrule list median.so
#include <ferrule/abi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

namespace {

std::int64_t count_elements(const fer_dl_tensor &tensor)
{
    std::int64_t count = 1;
    for (std::int32_t axis = 0; axis < tensor.ndim; axis++)
        count *= tensor.shape[axis];
    return count;
}

// Where the elements begin: data may lie before them.
template <typename T> T *elements(const fer_dl_tensor &tensor)
{
    return reinterpret_cast<T *>(static_cast<char *>(tensor.data) + tensor.byte_offset);
}

// The element in the middle of each row: the lower one of two. Results come first, then operands.
template <typename T> void find_medians(const fer_dl_tensor &y, const fer_dl_tensor &x)
{
    const std::int64_t n = x.shape[x.ndim - 1]; // > 0, as the declaration says
    const std::int64_t rows = count_elements(y);
    std::vector<T> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < rows; i++) {
        const T *from = elements<const T>(x) + i * n;
        std::copy(from, from + n, row.begin());
        const auto middle = row.begin() + (n - 1) / 2;
        std::nth_element(row.begin(), middle, row.end());
        elements<T>(y)[i] = *middle;
    }
}

// No exception may leave a kernel: its caller is C.
template <typename T> int run(fer_context *context, const fer_dl_tensor *const *tensors) noexcept
{
    try {
        find_medians<T>(*tensors[0], *tensors[1]);
        return 0;
    } catch (const std::exception &problem) {
        return context->fail(context, __FILE__, __LINE__, "%s", problem.what());
    }
}

constexpr fer_dl_dtype F32{2, 32, 1};
constexpr fer_dl_dtype F64{2, 64, 1};

// One entry for each dtype of T. An entry says which one it was compiled for.
template <typename T> struct median {
    static constexpr fer_dl_dtype DTYPE = sizeof(T) == 4 ? F32 : F64;
    static constexpr fer_abi_tensor TENSORS[] = {{"y", FER_ABI_RESULT, FER_ABI_ANY_RANK, DTYPE, 0},
                                                 {"x", FER_ABI_OPERAND, FER_ABI_ANY_RANK, DTYPE, 0}};
    static const fer_abi_param PARAMS[1];
    static const fer_abi_entry ENTRY;
};

fer_abi_param dtype_param(const char *name, fer_dl_dtype dtype)
{
    fer_abi_param param{name, FER_ABI_DTYPE, 0, {}};
    param.value.as_dtype = dtype;
    return param;
}

template <typename T> const fer_abi_param median<T>::PARAMS[1] = {dtype_param("T", DTYPE)};
template <typename T>
const fer_abi_entry median<T>::ENTRY = {
    sizeof(fer_abi_entry),
    FER_ABI_KERNEL,
    "median",
    run<T>,
    TENSORS,
    2,
    1,
    PARAMS,
    __FILE__,
    __LINE__,
    0,
    "median<T: f32|f64>(x: T[*s, n]) -> T[*s] where n > 0",
};

} // namespace

extern "C" __attribute__((visibility("default"))) const fer_abi_table *ferrule_package_table()
{
    static const fer_abi_entry *const entries[] = {&median<float>::ENTRY, &median<double>::ENTRY};
    static const fer_abi_table table = {FER_ABI_VERSION, sizeof(fer_abi_table), entries,
                                        entries + 2};
    return &table;
}
