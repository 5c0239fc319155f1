// SPDX-License-Identifier: MIT
//! Entries in Rust: one by its plain name, one whose name is mangled, one that
//! unwinds. The arguments are the names of those to look at.

extern "C" {
    fn witness() -> usize;
    fn expect_cells(name: *const u8, entry: extern "C" fn() -> usize, bits: u32);
}

#[no_mangle]
pub extern "C" fn entry_plain() -> usize {
    unsafe { witness() }
}

// Small, private, called once: it would be inlined.
fn entry_mangled(add: usize) -> usize {
    unsafe { witness() + add }
}

extern "C" fn call_mangled() -> usize {
    entry_mangled(16)
}

fn entry_panics(left: usize) -> usize {
    let bytes = vec![1u8; left + 1];
    if left == 0 {
        panic!("thrown");
    }
    entry_panics(left - 1) + bytes.len()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    unsafe {
        expect_cells("plain\0".as_ptr(), entry_plain, 6);
        expect_cells("mangled\0".as_ptr(), call_mangled, 6);
    }
    for _ in 0..300 {
        assert!(std::panic::catch_unwind(|| entry_panics(10)).is_err());
    }
}
