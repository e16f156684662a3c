//! Words that the tree never contains: unfinished work, skipped tests, machine paths, registries.
//!
//! The words are put together here from halves, so that this file keeps its own rule.

use super::problem::Problem;
use super::tree::Tree;

/// A banned text; `whole` means it counts only as a word of its own.
struct Banned {
    text: &'static str,
    whole: bool,
    why: &'static str,
}

const UNFINISHED: &str = "finish it, or refuse it with a clear error";
const MACHINE: &str = "a path of one machine";
const REGISTRY: &str = "no registry or index is named in the tree";
const AUTHOR: &str = "the tree does not speak about its authors";

const BANNED: &[Banned] = &[
    Banned {
        text: concat!("to", "do!"),
        whole: true,
        why: UNFINISHED,
    },
    Banned {
        text: concat!("unimpl", "emented!"),
        whole: true,
        why: UNFINISHED,
    },
    Banned {
        text: concat!("db", "g!"),
        whole: true,
        why: "left over from a search for a fault",
    },
    Banned {
        text: concat!("FIX", "ME"),
        whole: true,
        why: UNFINISHED,
    },
    Banned {
        text: concat!("TO", "DO"),
        whole: true,
        why: UNFINISHED,
    },
    Banned {
        text: concat!("XX", "X"),
        whole: true,
        why: UNFINISHED,
    },
    Banned {
        text: concat!("#[ig", "nore"),
        whole: false,
        why: "a test that never runs proves nothing",
    },
    Banned {
        text: concat!("/wo", "rk/"),
        whole: false,
        why: MACHINE,
    },
    Banned {
        text: concat!("/tmp/", "target"),
        whole: false,
        why: MACHINE,
    },
    Banned {
        text: concat!("crates", ".io"),
        whole: false,
        why: REGISTRY,
    },
    Banned {
        text: concat!("docs", ".rs"),
        whole: true,
        why: REGISTRY,
    },
    Banned {
        text: concat!("py", "pi.org"),
        whole: false,
        why: REGISTRY,
    },
    Banned {
        text: concat!("pythonhosted", ".org"),
        whole: false,
        why: REGISTRY,
    },
    Banned {
        text: concat!("npm", "js."),
        whole: false,
        why: REGISTRY,
    },
    Banned {
        text: concat!("deb.deb", "ian.org"),
        whole: false,
        why: REGISTRY,
    },
    Banned {
        text: concat!("arti", "factory"),
        whole: false,
        why: REGISTRY,
    },
    Banned {
        text: concat!("Cla", "ude"),
        whole: true,
        why: AUTHOR,
    },
    Banned {
        text: concat!("LL", "M"),
        whole: true,
        why: AUTHOR,
    },
    Banned {
        text: concat!("AI", " agent"),
        whole: true,
        why: AUTHOR,
    },
];

/// Looks for every banned text in every file but lock files, which cargo writes.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut found = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|f| !f.path.ends_with("Cargo.lock"))
    {
        for (n, line) in file.text.lines().enumerate() {
            for banned in BANNED.iter().filter(|b| occurs(line, b)) {
                let what = format!("`{}`: {}", banned.text, banned.why);
                found.push(Problem::new("word", &file.path, n + 1, what));
            }
        }
    }
    found
}

fn occurs(line: &str, banned: &Banned) -> bool {
    line.match_indices(banned.text).any(|(at, text)| {
        let letter = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_alphanumeric());
        let before = letter(line[..at].chars().next_back());
        let after = letter(line[at + text.len()..].chars().next());
        !banned.whole || !(before || (after && !text.ends_with('!')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_line(line: &str, want: usize) {
        assert_eq!(check(&Tree::of(&[("a.md", line)])).len(), want, "{line}");
        assert_eq!(check(&Tree::of(&[("fuzz/Cargo.lock", line)])).len(), 0);
    }

    #[test]
    fn each_word_is_found() {
        for banned in BANNED {
            check_line(&format!("x {} y", banned.text), 1);
            check_line(banned.text, 1);
        }
    }

    #[test]
    fn parts_of_other_words_are_fine() {
        check_line(concat!("mktemp file.XX", "XXXX"), 0);
        check_line(concat!("to", "do = \"warn\""), 0);
        check_line(concat!("cargo::mydb", "g!(x)"), 0);
        check_line(concat!("LL", "VM"), 0);
    }
}
