//! What the derive macro refuses, and in which words.

#[test]
fn refusals_say_what_to_do() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/all/refused/*.rs");
}
