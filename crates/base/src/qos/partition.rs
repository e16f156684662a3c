//! PARTITION: names that publisher and subscriber must share.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::policy::{Policy, PolicyId};

/// Names of the partitions that a publisher or subscriber is in. DDS 1.4 §2.2.3.13. Changeable.
///
/// A name may be a pattern of POSIX 1003.2 `fnmatch`: `*` for any text, `?` for one character,
/// `[a-z]` for one of a set, `[!a-z]` for one outside of it. There is no escape character.
/// A mismatch is no incompatible QoS: the endpoints just do not meet.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Partition {
    /// None, the default, means the one partition without a name.
    pub names: Vec<String>,
}

impl Partition {
    /// True when the two share a partition.
    pub fn matches(&self, other: &Self) -> bool {
        let unnamed = [String::new()];
        let mine = if self.names.is_empty() {
            &unnamed[..]
        } else {
            &self.names
        };
        let theirs = if other.names.is_empty() {
            &unnamed[..]
        } else {
            &other.names
        };
        mine.iter()
            .any(|a| theirs.iter().any(|b| names_match(a, b)))
    }
}

impl Policy for Partition {
    const ID: PolicyId = PolicyId::Partition;
    const CHANGEABLE: bool = true;
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (at, name) in self.names.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{name:?}")?;
        }
        f.write_str("]")
    }
}

/// True when two partition names meet: they are equal, or one is a pattern that the other, no
/// pattern, fits.
pub fn names_match(a: &str, b: &str) -> bool {
    match (is_pattern(a), is_pattern(b)) {
        (true, false) => fits(a, b) || a == b,
        (false, true) => fits(b, a) || a == b,
        (true, true) | (false, false) => a == b,
    }
}

/// True when `name` holds a character that makes it a pattern.
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// True when `text` fits `pattern`. Keeps one point to come back to, the last `*`, so the work is
/// at most the product of the two lengths and no stack grows.
fn fits(pattern: &str, text: &str) -> bool {
    let mut pattern = pattern.chars();
    let mut text = text.chars();
    let mut star: Option<(core::str::Chars<'_>, core::str::Chars<'_>)> = None;
    loop {
        let text_before = text.clone();
        let matched = match pattern.next() {
            Some('*') => {
                star = Some((pattern.clone(), text_before));
                continue;
            }
            None => match text.next() {
                None => return true,
                Some(_) => false,
            },
            Some(wanted) => match text.next() {
                // A longer run for the star leaves even less text.
                None => return false,
                Some(found) => one_fits(wanted, &mut pattern, found),
            },
        };
        if matched {
            continue;
        }
        let Some((after_star, resume)) = star.as_mut() else {
            return false;
        };
        if resume.next().is_none() {
            return false;
        }
        pattern = after_star.clone();
        text = resume.clone();
    }
}

/// Matches the one character `found` against the pattern item that starts with `wanted`, and
/// moves `pattern` past that item.
fn one_fits(wanted: char, pattern: &mut core::str::Chars<'_>, found: char) -> bool {
    match wanted {
        '?' => true,
        '[' => match set_contains(pattern.clone(), found) {
            Some((contained, rest)) => {
                *pattern = rest;
                contained
            }
            // POSIX 1003.2 §2.13.1: a bracket that is never closed stands for itself.
            None => found == '[',
        },
        other => other == found,
    }
}

/// Whether the set that starts after its `[` contains `found`, and what follows its `]`.
fn set_contains(
    mut set: core::str::Chars<'_>,
    found: char,
) -> Option<(bool, core::str::Chars<'_>)> {
    let negated = set.as_str().starts_with(['!', '^']);
    if negated {
        set.next();
    }
    let mut contained = false;
    let mut first = true;
    loop {
        let low = set.next()?;
        // A `]` in the first place stands for itself.
        if low == ']' && !first {
            return Some((contained != negated, set));
        }
        first = false;
        let mut ahead = set.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                set = ahead;
                high
            }
            _ => low,
        };
        contained |= (low..=high).contains(&found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(names_match(pattern, text), expected, "{pattern} {text}");
        assert_eq!(names_match(text, pattern), expected, "{text} {pattern}");
    }

    #[test]
    fn patterns() {
        check("", "", true);
        check("*", "", true);
        check("?", "", false);
        check("a*c", "abbbc", true);
        check("a*c", "abbbcd", false);
        check("*a*b*", "xxaxxbxx", true);
        check("*ab", "aab", true);
        check("a?c", "abc", true);
        check("?", "é", true);
        check("[a-c]x", "bx", true);
        check("[a-c]x", "dx", false);
        check("[!a-c]x", "dx", true);
        check("[^a-c]x", "bx", false);
        check("[]a]", "]", true);
        check("[a-]", "-", true);
        check("[ab", "[ab", true);
        check("x*[0-9]", "xyz7", true);
        check("x*[0-9]", "xyz7a", false);
        check("a", "b", false);
    }

    #[test]
    fn two_patterns_meet_only_when_equal() {
        check("a*", "a*", true);
        check("a*", "*", false);
        check("a?", "a*", false);
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let pattern: String = "*a".repeat(2_000) + "b";
        let text: String = "a".repeat(20_000);
        assert!(!fits(&pattern, &text));
        assert!(fits(&"*".repeat(5_000), &text));
    }

    #[test]
    fn partitions_share_any_name() {
        let of = |names: &[&str]| Partition {
            names: names.iter().map(|name| String::from(*name)).collect(),
        };
        assert!(of(&[]).matches(&of(&[])));
        assert!(of(&[]).matches(&of(&[""])));
        assert!(of(&[]).matches(&of(&["*"])));
        assert!(!of(&[]).matches(&of(&["a"])));
        assert!(of(&["a", "b"]).matches(&of(&["c", "b"])));
        assert!(of(&["rooms/*"]).matches(&of(&["rooms/kitchen"])));
    }
}
