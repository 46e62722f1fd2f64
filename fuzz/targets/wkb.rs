#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| quadrat_study::fuzz::wkb(bytes));
