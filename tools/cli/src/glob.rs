//! Patterns over names: `*` stands for any characters, `?` for one.

/// Whether `name` fits `pattern`. Takes at most pattern × name steps.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some('?') => (p, n) = (p + 1, n + 1),
            Some(c) if *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((at, eaten)) = star else {
                    return false;
                };
                star = Some((at, eaten + 1));
                (p, n) = (at + 1, eaten + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("Square", "Square", true),
            ("Square", "square", false),
            ("S*e", "Square", true),
            ("S*e", "Squares", false),
            ("rt/*/scan", "rt/front/left/scan", true),
            ("?quare", "Square", true),
            ("??", "ä1", true),
            ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("a*", "b", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
