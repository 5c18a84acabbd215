! A package in Fortran: the table of ferrule/abi.h, exported by a shared object.
!
!     gfortran -std=f2018 -O3 -shared -fPIC solve.f90 -o solve.so
!     ferrule list solve.so
module solve_package
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: ferrule_package_table

  ! The structs of ferrule/abi.h, member for member.
  type, bind(c) :: fer_dl_dtype
    integer(c_int8_t) :: code, bits
    integer(c_int16_t) :: lanes
  end type

  type, bind(c) :: fer_dl_tensor
    type(c_ptr) :: data
    integer(c_int32_t) :: device_type, device_id
    integer(c_int32_t) :: ndim
    type(fer_dl_dtype) :: dtype
    type(c_ptr) :: shape, strides
    integer(c_int64_t) :: byte_offset
  end type

  type, bind(c) :: fer_context
    integer(c_int32_t) :: struct_bytes, num_threads
    type(c_ptr) :: runtime
    type(c_funptr) :: fail, scratch, extent
  end type

  type, bind(c) :: fer_abi_tensor
    type(c_ptr) :: name
    integer(c_int32_t) :: role, rank
    type(fer_dl_dtype) :: dtype
    integer(c_int32_t) :: reserved = 0
  end type

  type, bind(c) :: fer_abi_entry
    integer(c_int32_t) :: struct_bytes, kind
    type(c_ptr) :: name
    type(c_funptr) :: run
    type(c_ptr) :: tensors
    integer(c_int32_t) :: num_tensors, num_params = 0
    type(c_ptr) :: params = c_null_ptr, file = c_null_ptr
    integer(c_int32_t) :: line = 0, reserved = 0
    type(c_ptr) :: signature
  end type

  type, bind(c) :: fer_abi_table
    integer(c_int32_t) :: abi_version, struct_bytes
    type(c_ptr) :: begin, end
  end type

  abstract interface
    ! The message takes no further values here, so that the call needs no variable arguments.
    function fail_function(context, file, line, message) bind(c) result(returned)
      import :: c_char, c_int, c_ptr, fer_context
      type(fer_context), intent(inout) :: context
      type(c_ptr), value :: file ! NULL: none is told
      integer(c_int), value :: line
      character(kind=c_char), intent(in) :: message(*)
      integer(c_int) :: returned
    end function
  end interface

  type(fer_dl_dtype), parameter :: f64 = fer_dl_dtype(2_c_int8_t, 64_c_int8_t, 1_c_int16_t)
  integer(c_int32_t), parameter :: result_role = 0, operand_role = 1, kernel_kind = 0

  ! What the table points to, for as long as the object is loaded.
  character(kind=c_char), target, save :: name_of_kernel(6), name_of_x(2), name_of_a(2), name_of_b(2)
  character(kind=c_char), target, save :: text_of_signature(45)
  type(fer_abi_tensor), target, save :: tensors(3)
  type(fer_abi_entry), target, save :: entry
  type(c_ptr), target, save :: entries(2)
  type(fer_abi_table), target, save :: table = fer_abi_table(0, 0, c_null_ptr, c_null_ptr)

contains

  ! x with a x = b, by elimination with pivots. A row of a is a column here: Fortran's first index is
  ! the one that lies closest, which is the last one in a declaration.
  function run(context, given) bind(c) result(returned)
    type(fer_context), intent(inout) :: context
    type(c_ptr), intent(in) :: given(3)
    integer(c_int) :: returned
    type(fer_dl_tensor), pointer :: tensor
    integer(c_int64_t), pointer :: shape(:)
    integer(c_int64_t) :: n
    real(c_double), pointer :: x(:), a(:, :), b(:)
    real(c_double), allocatable :: work(:, :)
    procedure(fail_function), pointer :: fail

    call c_f_pointer(given(1), tensor)
    call c_f_pointer(tensor%shape, shape, [1])
    n = shape(1)
    returned = 0
    if (n == 0) return ! data may be NULL where there is nothing
    call c_f_pointer(tensor%data, x, [n])
    call c_f_pointer(given(2), tensor)
    call c_f_pointer(tensor%data, a, [n, n])
    call c_f_pointer(given(3), tensor)
    call c_f_pointer(tensor%data, b, [n])
    allocate (work(n, n))
    work = transpose(a)
    x = b
    if (.not. eliminate(work, x)) then
      call c_f_procpointer(context%fail, fail)
      returned = fail(context, c_null_ptr, 0_c_int, 'the matrix is singular'//c_null_char)
    end if
  end function

  function eliminate(a, x) result(is_solved)
    real(c_double), intent(inout) :: a(:, :), x(:)
    logical :: is_solved
    integer :: n, i, j, pivot
    n = size(x)
    is_solved = .false.
    do i = 1, n
      pivot = i - 1 + maxloc(abs(a(i:, i)), dim=1)
      if (.not. abs(a(pivot, i)) > 0) return
      a([i, pivot], :) = a([pivot, i], :)
      x([i, pivot]) = x([pivot, i])
      do j = i + 1, n
        x(j) = x(j) - a(j, i)/a(i, i)*x(i)
        a(j, i:) = a(j, i:) - a(j, i)/a(i, i)*a(i, i:)
      end do
    end do
    do i = n, 1, -1
      x(i) = (x(i) - dot_product(a(i, i + 1:), x(i + 1:)))/a(i, i)
    end do
    is_solved = .true.
  end function

  subroutine set_text(to, from)
    character(kind=c_char), intent(out) :: to(:)
    character(*), intent(in) :: from
    integer :: i
    to = c_null_char
    do i = 1, min(len(from), size(to) - 1)
      to(i) = from(i:i)
    end do
  end subroutine

  function ferrule_package_table() bind(c) result(address)
    type(c_ptr) :: address
    address = c_loc(table)
    if (c_associated(table%begin)) return ! made before
    call set_text(name_of_kernel, 'solve')
    call set_text(name_of_x, 'x')
    call set_text(name_of_a, 'a')
    call set_text(name_of_b, 'b')
    call set_text(text_of_signature, 'solve(a: f64[n, n], b: f64[n]) -> f64[n]')
    tensors(1) = fer_abi_tensor(c_loc(name_of_x), result_role, 1, f64)
    tensors(2) = fer_abi_tensor(c_loc(name_of_a), operand_role, 2, f64)
    tensors(3) = fer_abi_tensor(c_loc(name_of_b), operand_role, 1, f64)
    entry%struct_bytes = int(c_sizeof(entry), c_int32_t)
    entry%kind = kernel_kind
    entry%name = c_loc(name_of_kernel)
    entry%run = c_funloc(run)
    entry%tensors = c_loc(tensors)
    entry%num_tensors = 3
    entry%signature = c_loc(text_of_signature)
    entries = [c_loc(entry), c_null_ptr]
    table = fer_abi_table(1, int(c_sizeof(table), c_int32_t), c_loc(entries(1)), c_loc(entries(2)))
  end function
end module
