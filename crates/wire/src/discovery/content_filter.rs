//! The content filter that a reader announces. RTPS 2.5 §9.6.3.1 (ContentFilterProperty_t).

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::limits::Limits;
use whimbrel_base::reject::Reject;

use crate::parameter::value::{read_short_string, read_strings, write_string, write_strings};

/// Parameters that one filter may have: `%0` to `%99`. DDS 1.4 §B.2.1.
const PARAMETERS_MAX: usize = 100;

/// The content filter that a reader announces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContentFilter {
    /// Name of the content-filtered topic.
    pub filtered_topic_name: String,
    /// Name of the topic that is filtered.
    pub related_topic_name: String,
    /// Language of the expression, such as `DDSSQL`.
    pub class_name: String,
    /// The expression.
    pub expression: String,
    /// Values of `%0` and so on in the expression.
    pub parameters: Vec<String>,
}

impl ContentFilter {
    /// Reads the value of the parameter.
    ///
    /// # Errors
    /// `Limit` for names over `name_bytes_max`, more than 100 parameters, or an expression or
    /// parameter over `property_bytes_max`; `String`, `Truncated`.
    pub fn parse(cursor: &mut ReadCursor<'_>, limits: &Limits) -> Result<Self, Reject> {
        let mut next = |len_max| {
            cursor.align(4)?;
            read_short_string(cursor, len_max).map(String::from)
        };
        Ok(Self {
            filtered_topic_name: next(limits.name_bytes_max)?,
            related_topic_name: next(limits.name_bytes_max)?,
            class_name: next(limits.name_bytes_max)?,
            expression: next(limits.property_bytes_max)?,
            parameters: {
                cursor.align(4)?;
                read_strings(cursor, PARAMETERS_MAX, limits.property_bytes_max)?
            },
        })
    }

    /// Appends the value of the parameter.
    pub fn compose(&self, out: &mut WriteCursor<'_>) {
        for text in [
            &self.filtered_topic_name,
            &self.related_topic_name,
            &self.class_name,
            &self.expression,
        ] {
            out.align(4);
            write_string(out, text);
        }
        out.align(4);
        write_strings(out, &self.parameters);
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::cursor::Endian;
    use whimbrel_base::reject::RejectKind;

    use super::*;

    #[test]
    fn the_filter_of_a_connext_reader() {
        // Connext: garbage in the padding at the end.
        let mut golden = Vec::new();
        for text in [
            "Example MarketData",
            "Example MarketData",
            "DDSSTRINGMATCH",
            "Symbol MATCH %0",
        ] {
            golden.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
            golden.extend_from_slice(text.as_bytes());
            golden.push(0);
            golden.resize(golden.len().next_multiple_of(4), 0x5a);
        }
        golden.extend_from_slice(&[1, 0, 0, 0, 6, 0, 0, 0]);
        golden.extend_from_slice(b"'A,D'\0\x04\x00");
        assert_eq!(golden.len(), 0x68);
        let parse = |bytes: &[u8]| {
            ContentFilter::parse(
                &mut ReadCursor::new(bytes, Endian::Little),
                &Limits::DEFAULT,
            )
        };
        let filter = parse(&golden).unwrap();
        assert_eq!(filter.class_name, "DDSSTRINGMATCH");
        assert_eq!(filter.parameters, ["'A,D'"]);
        let mut out = Vec::new();
        filter.compose(&mut WriteCursor::new(&mut out, Endian::Little));
        assert_eq!(parse(&out), Ok(filter));
        for len in 0..golden.len() - 2 {
            assert_eq!(
                parse(&golden[..len]).unwrap_err().kind,
                RejectKind::Truncated
            );
        }
        let count = golden.len() - 16;
        golden[count] = 101;
        assert_eq!(parse(&golden).unwrap_err().kind, RejectKind::Limit);
    }
}
