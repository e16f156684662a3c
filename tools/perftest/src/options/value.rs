//! What follows the name of an option.

use super::spec::Argument;

/// `text` as the argument `argument`, in the spelling that settings expect.
///
/// # Errors
/// What it should have been.
pub(super) fn check(argument: Argument, text: &str) -> Result<String, String> {
    match argument {
        Argument::None => Ok(String::new()),
        Argument::Text if text.is_empty() => Err("needs a value".into()),
        Argument::Text => Ok(text.to_owned()),
        Argument::Number(low, high) | Argument::OptionalNumber(low, high) => {
            number(text, low, high).map(|it| it.to_string())
        }
        Argument::Range(low, high) => range(text, low, high),
        Argument::OptionalNumbers(low, high) => {
            let all: Result<Vec<i64>, String> =
                text.split(':').map(|it| number(it, low, high)).collect();
            Ok(joined(&all?))
        }
        Argument::Rate(high) => rate(text, high),
        Argument::OneOf(names) => one_of(text, names),
    }
}

/// How the help shows an argument.
pub(super) fn shape(argument: Argument) -> String {
    match argument {
        Argument::None => String::new(),
        Argument::Number(low, high) => format!("<{low}..{high}>"),
        Argument::OptionalNumber(low, high) => format!("[{low}..{high}]"),
        Argument::Range(low, high) => format!("<from>[:<to>] in {low}..{high}"),
        Argument::OptionalNumbers(low, high) => format!("[<n>:<n>:...] in {low}..{high}"),
        Argument::Rate(high) => format!("<0..{high}>[:spin|sleep]"),
        Argument::OneOf(names) => format!("<{}>", names.join("|")),
        Argument::Text => "<text>".into(),
    }
}

fn number(text: &str, low: i64, high: i64) -> Result<i64, String> {
    let value: i64 = text
        .trim()
        .parse()
        .map_err(|_| format!("{text} is no whole number"))?;
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(format!("{value} is not within {low} to {high}"))
}

fn range(text: &str, low: i64, high: i64) -> Result<String, String> {
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    let (from, to) = (number(from, low, high)?, number(to, low, high)?);
    if from > to {
        return Err(format!("{from} is above {to}"));
    }
    Ok(joined(&[from, to]))
}

fn rate(text: &str, high: i64) -> Result<String, String> {
    let (count, method) = text.split_once(':').unwrap_or((text, "spin"));
    let method = one_of(method, &["spin", "sleep"])?;
    Ok(format!("{}:{method}", number(count, 0, high)?))
}

fn one_of(text: &str, names: &[&str]) -> Result<String, String> {
    let found = names.iter().find(|it| it.eq_ignore_ascii_case(text));
    found
        .map(|it| (*it).to_owned())
        .ok_or_else(|| format!("{text} is none of {}", names.join(", ")))
}

fn joined(numbers: &[i64]) -> String {
    let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
    words.join(":")
}
