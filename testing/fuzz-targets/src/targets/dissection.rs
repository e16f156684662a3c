//! A whole datagram, printed for people.

use whimbrel_wire::pretty::Dissection;

/// Prints a datagram; what it says cannot command a terminal, nor be far longer than it is.
pub fn dissection(data: &[u8]) {
    let text = Dissection(data).to_string();
    assert!(!text.is_empty());
    assert!(
        text.chars().all(|c| c == '\n' || !c.is_control()),
        "{text:?}"
    );
    assert!(
        text.len() <= 1024 + 64 * data.len(),
        "{} of {}",
        text.len(),
        data.len()
    );
}
