//! A token scan of Rust source, good enough for counting and for finding paths.
//!
//! It understands strings (raw, byte, C), characters, lifetimes and nested comments, so that a
//! brace or a word inside them is never taken for code. It never fails: what it does not know
//! becomes punctuation.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier, keyword or number.
    Word,
    /// A string, character or byte literal.
    Literal,
    /// A lifetime or loop label.
    Lifetime,
    /// One character of punctuation.
    Punct,
}

/// One token with the line it starts on (from 1).
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    /// True for a word or punctuation with this text.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Punct) && self.text == text
    }
}

/// Splits source text into tokens, leaving comments out.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut scan = Scan {
        chars,
        at: 0,
        line: 1,
        out: Vec::new(),
    };
    while scan.peek(0).is_some() {
        scan.step();
    }
    scan.out
}

/// The index of the bracket that closes the one at `open`, or the last token.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("{") || token.is("(") || token.is("[") {
            depth += 1;
        } else if token.is("}") || token.is(")") || token.is("]") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len().saturating_sub(1)
}

/// The token ranges (first, last) of the items that exist only under `cfg(test)`.
pub(crate) fn test_items(tokens: &[Token]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_test_attribute(tokens, at) {
            let end = item_end(tokens, at);
            found.push((at, end));
            at = end + 1;
        } else {
            at += 1;
        }
    }
    found
}

/// `#[cfg(test)]` or `#[cfg(all(test, ...))]` at this token.
fn is_test_attribute(tokens: &[Token], at: usize) -> bool {
    let matches = |words: &[&str]| {
        words
            .iter()
            .enumerate()
            .all(|(n, word)| tokens.get(at + n).is_some_and(|t| t.is(word)))
    };
    matches(&["#", "[", "cfg", "(", "test", ")", "]"])
        || matches(&["#", "[", "cfg", "(", "all", "(", "test"])
        || matches(&["#", "[", "test", "]"])
}

/// The last token of the item whose attributes begin at `at`.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut here = at;
    while tokens.get(here).is_some_and(|t| t.is("#")) {
        here = closing(tokens, here + 1) + 1;
    }
    while let Some(token) = tokens.get(here) {
        if token.is(";") {
            return here;
        }
        if token.is("{") {
            let end = closing(tokens, here);
            // `use a::{b, c};` goes on after its braces.
            let more = tokens.get(end + 1).is_some_and(|t| t.is(";"));
            return if more { end + 1 } else { end };
        }
        here = if token.is("(") || token.is("[") {
            closing(tokens, here) + 1
        } else {
            here + 1
        };
    }
    tokens.len().saturating_sub(1)
}

struct Scan {
    chars: Vec<char>,
    at: usize,
    line: usize,
    out: Vec<Token>,
}

impl Scan {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn push(&mut self, kind: Kind, from: usize, line: usize) {
        let text = self.chars[from..self.at].iter().collect();
        self.out.push(Token { kind, text, line });
    }

    fn step(&mut self) {
        let (from, line) = (self.at, self.line);
        let Some(c) = self.peek(0) else { return };
        match c {
            '/' if self.peek(1) == Some('/') => self.line_comment(),
            '/' if self.peek(1) == Some('*') => self.block_comment(),
            '"' => {
                self.quoted('"');
                self.push(Kind::Literal, from, line);
            }
            '\'' => {
                let kind = self.quote();
                self.push(kind, from, line);
            }
            c if c.is_whitespace() => {
                self.bump();
            }
            c if c == '_' || c.is_alphanumeric() => {
                let kind = self.word();
                self.push(kind, from, line);
            }
            _ => {
                self.bump();
                self.push(Kind::Punct, from, line);
            }
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.bump();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0usize;
        while let Some(c) = self.bump() {
            match (c, self.peek(0)) {
                ('/', Some('*')) => {
                    self.bump();
                    depth += 1;
                }
                ('*', Some('/')) => {
                    self.bump();
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Consumes a quoted literal with backslash escapes.
    fn quoted(&mut self, end: char) {
        self.bump();
        while let Some(c) = self.bump() {
            if c == '\\' {
                self.bump();
            } else if c == end {
                return;
            }
        }
    }

    /// A character literal or a lifetime.
    fn quote(&mut self) -> Kind {
        let named = self.peek(1).is_some_and(|c| c == '_' || c.is_alphabetic());
        if named && self.peek(2) != Some('\'') {
            self.bump();
            while self
                .peek(0)
                .is_some_and(|c| c == '_' || c.is_alphanumeric())
            {
                self.bump();
            }
            return Kind::Lifetime;
        }
        self.quoted('\'');
        Kind::Literal
    }

    /// A word, or the literal that its prefix begins (`r"`, `b'`, `br#"`).
    fn word(&mut self) -> Kind {
        let from = self.at;
        while self
            .peek(0)
            .is_some_and(|c| c == '_' || c.is_alphanumeric())
        {
            self.bump();
        }
        let text: String = self.chars[from..self.at].iter().collect();
        match (text.as_str(), self.peek(0)) {
            ("r" | "br" | "cr", Some('"' | '#')) if self.raw_follows() => self.raw(),
            ("b" | "c", Some('"')) => self.quoted('"'),
            ("b", Some('\'')) => self.quoted('\''),
            _ => return Kind::Word,
        }
        Kind::Literal
    }

    /// Tells `r#"..."#` from the raw identifier `r#type`.
    fn raw_follows(&self) -> bool {
        let hashes = (0..).take_while(|n| self.peek(*n) == Some('#')).count();
        self.peek(hashes) == Some('"')
    }

    fn raw(&mut self) {
        let hashes = (0..).take_while(|n| self.peek(*n) == Some('#')).count();
        for _ in 0..=hashes {
            self.bump();
        }
        while let Some(c) = self.bump() {
            if c == '"' && (0..hashes).all(|n| self.peek(n) == Some('#')) {
                for _ in 0..hashes {
                    self.bump();
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokens(source).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn braces_in_literals_and_comments_are_not_code() {
        let source = "a /* { /* } */ { */ b // {\n \"{\\\"\" '{' r#\"}\"\"# b'}' 'x: c";
        let kinds: Vec<Kind> = tokens(source).into_iter().map(|t| t.kind).collect();
        use Kind::{Lifetime, Literal, Punct, Word};
        let want = [
            Word, Word, Literal, Literal, Literal, Literal, Lifetime, Punct, Word,
        ];
        assert_eq!(kinds, want);
    }

    #[test]
    fn lifetimes_and_characters_differ() {
        assert_eq!(
            texts("&'a str 'b' '\\'' '_'"),
            ["&", "'a", "str", "'b'", "'\\''", "'_'"]
        );
    }

    #[test]
    fn raw_identifiers_are_words() {
        assert_eq!(texts("r#type + 1"), ["r", "#", "type", "+", "1"]);
    }

    #[test]
    fn lines_count_through_literals() {
        let found = tokens("a\n\"x\ny\"\nb");
        assert_eq!(found.iter().map(|t| t.line).collect::<Vec<_>>(), [1, 2, 4]);
    }

    #[test]
    fn test_items_end_where_the_item_ends() {
        let source = "#[cfg(test)] use a::{b}; fn x() {} #[cfg(test)] #[allow(y)] mod t { {} } z";
        let all = tokens(source);
        let found = test_items(&all);
        assert_eq!(found.len(), 2);
        assert!(all[found[0].1].is(";"));
        assert!(all[found[0].1 + 1].is("fn"));
        assert!(all[found[1].1 + 1].is("z"));
    }

    #[test]
    fn cfg_not_test_is_product_code() {
        assert!(test_items(&tokens("#[cfg(not(test))] mod real { }")).is_empty());
    }
}
