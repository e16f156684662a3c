//! Makes an input smaller while it still does what it did.

/// Forms tried at most.
const TRIES_MAX: usize = 2000;

/// The smallest form found of `input` for which `breaks` still holds, as it must for `input`.
pub fn smallest(input: Vec<u8>, breaks: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input;
    let mut tries = 0;
    let mut part = best.len().next_power_of_two() / 2;
    while part > 0 && tries < TRIES_MAX {
        let mut at = 0;
        while at < best.len() && tries < TRIES_MAX {
            let mut form = best.clone();
            form.drain(at..(at + part).min(best.len()));
            tries += 1;
            if breaks(&form) {
                best = form;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    for at in 0..best.len() {
        if best[at] == 0 || tries >= TRIES_MAX {
            continue;
        }
        let mut form = best.clone();
        form[at] = 0;
        tries += 1;
        if breaks(&form) {
            best = form;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let input: Vec<u8> = (0..=255).collect();
        let breaks = |form: &[u8]| {
            let seven = form.iter().position(|octet| *octet == 7);
            seven.is_some_and(|at| form[at..].contains(&200))
        };
        assert_eq!(smallest(input, breaks), [7, 200]);
    }
}
