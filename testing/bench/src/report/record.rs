//! A measurement on its way to CSV and JSON.

use std::borrow::Cow;

/// One measurement: named values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record(pub(super) Vec<(Cow<'static, str>, Value)>);

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Words.
    Text(String),
    /// A figure; its unit is the end of its name. NaN where it was not measured.
    Number(f64),
}

impl Record {
    /// Without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds words.
    #[must_use]
    pub fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name.into(), Value::Text(value.into())));
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn number(mut self, name: impl Into<Cow<'static, str>>, value: f64) -> Self {
        self.0.push((name.into(), Value::Number(value)));
        self
    }

    /// The figure of this name.
    #[cfg(test)]
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        self.0.iter().find_map(|(own, value)| match value {
            Value::Number(number) if *own == name => Some(*number),
            _ => None,
        })
    }
}
