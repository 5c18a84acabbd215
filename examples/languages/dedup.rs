//! A package in Rust: the table of ferrule/abi.h, exported by a shared object.
//!
//!     rustc --edition 2021 -O -C panic=abort -C strip=symbols --crate-type cdylib dedup.rs -o dedup.so
//!     ferrule list dedup.so

use std::os::raw::{c_char, c_int, c_void};

// The structs of ferrule/abi.h, member for member.

#[repr(C)]
#[derive(Clone, Copy)]
pub struct DlDtype {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
pub struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    dtype: DlDtype,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
pub struct Context {
    struct_bytes: u32,
    num_threads: u32,
    runtime: *mut c_void,
    fail: unsafe extern "C" fn(*mut Context, *const c_char, c_int, *const c_char, ...) -> c_int,
    scratch: unsafe extern "C" fn(*mut Context, u64) -> *mut c_void,
    extent: unsafe extern "C" fn(*mut Context, *const c_char) -> *mut i64,
}

type Run = unsafe extern "C" fn(*mut Context, *const *const DlTensor) -> c_int;

#[repr(C)]
pub struct AbiTensor {
    name: *const c_char,
    role: i32,
    rank: i32,
    dtype: DlDtype,
    reserved: u32,
}

#[repr(C)]
pub struct AbiEntry {
    struct_bytes: u32,
    kind: i32,
    name: *const c_char,
    run: Run,
    tensors: *const AbiTensor,
    num_tensors: u32,
    num_params: u32,
    params: *const c_void,
    file: *const c_char,
    line: i32,
    reserved: i32,
    signature: *const c_char,
}

#[repr(C)]
pub struct AbiTable {
    abi_version: u32,
    struct_bytes: u32,
    begin: *const *const AbiEntry,
    end: *const *const AbiEntry,
}

/// Constants that point to constants: nobody writes them.
struct Constant<T>(T);
unsafe impl<T> Sync for Constant<T> {}

/// A C string, with its 0.
const fn text(bytes: &'static [u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// The elements of a vector; its pointer may be null where there are none.
unsafe fn elements<'a>(tensor: *const DlTensor) -> &'a [i64] {
    let count = *(*tensor).shape as usize;
    if count == 0 {
        return &[];
    }
    let data = (*tensor).data.cast::<u8>().add((*tensor).byte_offset as usize);
    std::slice::from_raw_parts(data.cast::<i64>(), count)
}

/// Each element that differs from the one before it.
fn kept(x: &[i64]) -> impl Iterator<Item = i64> + '_ {
    x.iter().enumerate().filter(|&(i, value)| i == 0 || x[i - 1] != *value).map(|(_, value)| *value)
}

unsafe extern "C" fn run(_context: *mut Context, tensors: *const *const DlTensor) -> c_int {
    let y = *tensors; // results come first, then operands
    let mut to = (*y).data.cast::<u8>().add((*y).byte_offset as usize).cast::<i64>();
    for value in kept(elements(*tensors.add(1))) {
        to.write(value);
        to = to.add(1);
    }
    0
}

/// How many are kept, before the result is allocated: it gets the operands only.
unsafe extern "C" fn shape(context: *mut Context, tensors: *const *const DlTensor) -> c_int {
    let count = kept(elements(*tensors)).count();
    *((*context).extent)(context, text(b"kept\0")) = count as i64;
    0
}

const RESULT: i32 = 0;
const OPERAND: i32 = 1;
const KERNEL: i32 = 0;
const SHAPE: i32 = 2;
const I64: DlDtype = DlDtype { code: 0, bits: 64, lanes: 1 };

static TENSORS: Constant<[AbiTensor; 2]> = Constant([
    AbiTensor { name: text(b"y\0"), role: RESULT, rank: 1, dtype: I64, reserved: 0 },
    AbiTensor { name: text(b"x\0"), role: OPERAND, rank: 1, dtype: I64, reserved: 0 },
]);

const fn entry(kind: i32, run: Run, tensors: *const AbiTensor, num_tensors: u32) -> AbiEntry {
    AbiEntry {
        struct_bytes: std::mem::size_of::<AbiEntry>() as u32,
        kind,
        name: text(b"dedup\0"),
        run,
        tensors,
        num_tensors,
        num_params: 0,
        params: std::ptr::null(),
        file: text(b"dedup.rs\0"),
        line: 0, // not told
        reserved: 0,
        signature: text(b"dedup(x: i64[n]) -> i64[kept]\0"),
    }
}

static KERNEL_ENTRY: Constant<AbiEntry> = Constant(entry(KERNEL, run, &TENSORS.0[0], 2));
static SHAPE_ENTRY: Constant<AbiEntry> = Constant(entry(SHAPE, shape, &TENSORS.0[1], 1));
static ENTRIES: Constant<[*const AbiEntry; 2]> = Constant([&KERNEL_ENTRY.0, &SHAPE_ENTRY.0]);
static TABLE: Constant<AbiTable> = Constant(AbiTable {
    abi_version: 1,
    struct_bytes: std::mem::size_of::<AbiTable>() as u32,
    begin: ENTRIES.0.as_ptr(),
    end: unsafe { ENTRIES.0.as_ptr().add(2) },
});

#[no_mangle]
pub extern "C" fn ferrule_package_table() -> *const AbiTable {
    &TABLE.0
}
