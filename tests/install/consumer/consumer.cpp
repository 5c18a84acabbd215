// The same in C++.
#include <cstdio>
#include <ferrule/ferrule.h>
#include <memory>
#include <stdexcept>

template <auto release> struct releaser {
    template <typename T> void operator()(T *object) const
    {
        release(object);
    }
};
using op = std::unique_ptr<fer_op, releaser<fer_op_release>>;
using tensor = std::unique_ptr<fer_tensor, releaser<fer_tensor_release>>;

struct error_holder {
    fer_error error = FER_ERROR_INIT;
    ~error_holder()
    {
        fer_error_clear(&error);
    }
    void check(fer_status status) const
    {
        if (status != FER_OK)
            throw std::runtime_error(error.message);
    }
};

static tensor vector_of(const float (&elements)[3], error_holder &holder)
{
    const std::int64_t shape[] = {3};
    fer_tensor *made = nullptr;
    holder.check(
        fer_tensor_copy_from(FER_F32, 1, shape, elements, fer_device{}, &made, &holder.error));
    return tensor(made);
}

int main()
try {
    error_holder holder;
    fer_declaration declaration{};
    declaration.kernel = "add";
    declaration.packages[0] = "std";
    fer_op *declared = nullptr;
    holder.check(fer_declare(&declaration, &declared, &holder.error));
    op add(declared);

    tensor a = vector_of({1, 2, 3}, holder);
    tensor b = vector_of({10, 20, 30}, holder);
    fer_tensor *operands[] = {a.get(), b.get()};
    fer_tensor *made = nullptr;
    holder.check(fer_call(add.get(), operands, 2, &made, 1, &holder.error));
    tensor sum(made);
    auto sums = static_cast<const float *>(fer_tensor_const_data(sum.get()));
    std::printf("%s\n%g %g %g\n", fer_op_extension(add.get(), 0), sums[0], sums[1], sums[2]);
} catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
