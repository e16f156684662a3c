//! What a reader needs from the parameters that go with a change. RTPS 2.5 §8.7, §9.6.4.

use core::fmt;

use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;

use crate::field::read_sequence_number;
use crate::parameter::value::read_string;
use crate::parameter::{Parameter, ParameterId, ParameterList};

/// What happened to the instance of a change. RTPS 2.5 §9.6.4.9.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StatusInfo(pub u32);

impl StatusInfo {
    /// The instance was disposed.
    pub const DISPOSED: Self = Self(0x1);
    /// The writer unregistered the instance.
    pub const UNREGISTERED: Self = Self(0x2);
    /// The reader's filter did not let the change through.
    pub const FILTERED: Self = Self(0x4);

    /// True where all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The four octets that travel, whatever the byte order of the submessage.
    pub const fn to_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// The inverse of [`StatusInfo::to_bytes`].
    pub const fn from_bytes(octets: [u8; 4]) -> Self {
        Self(u32::from_be_bytes(octets))
    }
}

impl fmt::Debug for StatusInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::DISPOSED, "disposed"),
            (Self::UNREGISTERED, "unregistered"),
            (Self::FILTERED, "filtered"),
        ];
        let mut separator = "";
        for (_, name) in names.into_iter().filter(|(flag, _)| self.contains(*flag)) {
            write!(f, "{separator}{name}")?;
            separator = " ";
        }
        f.write_str(if separator.is_empty() { "alive" } else { "" })
    }
}

/// What a reader needs from the parameters that go with a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InlineQos<'a> {
    /// Hash of the instance's key. RTPS 2.5 §9.6.4.8.
    pub key_hash: Option<[u8; 16]>,
    /// What happened to the instance.
    pub status: StatusInfo,
    /// First number of the coherent set that the change belongs to. RTPS 2.5 §9.6.4.3.
    pub coherent_set: Option<SequenceNumber>,
    /// First group number of the coherent set of the group. RTPS 2.5 §9.6.4.4.
    pub group_coherent_set: Option<SequenceNumber>,
    /// Number of the change within its publisher. RTPS 2.5 §9.6.4.5.
    pub group_number: Option<SequenceNumber>,
    /// Name of the topic.
    pub topic_name: Option<&'a str>,
    /// Which readers' filters the change passes, undecoded. RTPS 2.5 §9.6.4.1.
    pub content_filter_info: Option<Parameter<'a>>,
    /// Who wrote a forwarded change, undecoded. RTPS 2.5 §9.6.4.7.
    pub original_writer_info: Option<Parameter<'a>>,
    /// Readers that alone the change is meant for, undecoded. RTPS 2.5 §9.6.4.6.
    pub directed_write: Option<Parameter<'a>>,
    /// The request that a reply answers, undecoded. DDS-RPC 1.0 §7.8.2.
    pub related_sample_identity: Option<Parameter<'a>>,
}

impl<'a> InlineQos<'a> {
    /// Reads `list`; parameters that a reader does not need are passed over, QoS policies among
    /// them: those of discovery count.
    ///
    /// # Errors
    /// `MustUnderstand` for an unknown parameter that says so (RTPS 2.5 §9.6.3.2), `Truncated` and
    /// `String` for values that do not fit their type.
    pub fn parse(list: ParameterList<'a>) -> Result<Self, Reject> {
        let mut qos = Self::default();
        for parameter in list {
            qos.take(parameter)
                .map_err(|reject| reject.shifted(parameter.offset))?;
        }
        Ok(qos)
    }

    fn take(&mut self, parameter: Parameter<'a>) -> Result<(), Reject> {
        let mut cursor = parameter.cursor();
        match parameter.id {
            ParameterId::KEY_HASH => self.key_hash = Some(cursor.array()?),
            ParameterId::STATUS_INFO => self.status = StatusInfo::from_bytes(cursor.array()?),
            ParameterId::COHERENT_SET => {
                self.coherent_set = Some(read_sequence_number(&mut cursor)?);
            }
            ParameterId::GROUP_COHERENT_SET => {
                self.group_coherent_set = Some(read_sequence_number(&mut cursor)?);
            }
            ParameterId::GROUP_SEQ_NUM => {
                self.group_number = Some(read_sequence_number(&mut cursor)?);
            }
            ParameterId::TOPIC_NAME => self.topic_name = Some(read_string(&mut cursor)?),
            ParameterId::CONTENT_FILTER_INFO => self.content_filter_info = Some(parameter),
            ParameterId::ORIGINAL_WRITER_INFO => self.original_writer_info = Some(parameter),
            ParameterId::DIRECTED_WRITE => self.directed_write = Some(parameter),
            ParameterId::RELATED_SAMPLE_IDENTITY => self.related_sample_identity = Some(parameter),
            id if id.must_be_understood() => return Err(cursor.reject(RejectKind::MustUnderstand)),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::format;

    use whimbrel_base::cursor::Endian;

    use super::*;
    use crate::parameter::ParameterListWriter;

    fn parse(
        write: impl Fn(&mut ParameterListWriter<'_>),
        check: impl Fn(Result<InlineQos<'_>, Reject>),
    ) {
        for endian in [Endian::Big, Endian::Little] {
            let mut bytes = Vec::new();
            let mut writer = ParameterListWriter::new(&mut bytes, endian);
            write(&mut writer);
            writer.finish().unwrap();
            check(InlineQos::parse(
                ParameterList::parse(&bytes, endian).unwrap(),
            ));
        }
    }

    #[test]
    fn what_a_reader_needs() {
        let status = StatusInfo::DISPOSED.with(StatusInfo::UNREGISTERED);
        let write = |list: &mut ParameterListWriter<'_>| {
            list.put(ParameterId::KEY_HASH, |out| out.bytes(&[7; 16]));
            list.put(ParameterId::STATUS_INFO, |out| {
                out.bytes(&status.to_bytes())
            });
            list.put(ParameterId(0x8123), |out| out.u32(1));
            list.put(ParameterId(0x0123), |out| out.u32(1));
            list.put(ParameterId::DURABILITY, |out| out.u32(1));
            list.put(ParameterId::COHERENT_SET, |out| {
                out.i32(1);
                out.u32(2);
            });
            list.put(ParameterId::CONTENT_FILTER_INFO, |out| out.u32(9));
        };
        parse(write, |qos| {
            let qos = qos.unwrap();
            assert_eq!(qos.key_hash, Some([7; 16]));
            assert_eq!(qos.status, status);
            assert_eq!(qos.coherent_set, Some(SequenceNumber((1 << 32) + 2)));
            let info = qos.content_filter_info.unwrap();
            assert_eq!(info.cursor().u32(), Ok(9));
            assert_eq!(qos.topic_name, None);
        });
    }

    #[test]
    fn status_is_read_most_significant_octet_first() {
        let status = StatusInfo::from_bytes([0, 0, 0, 1]);
        assert!(status.contains(StatusInfo::DISPOSED));
        assert!(!status.contains(StatusInfo::UNREGISTERED));
        assert_eq!(format!("{status:?}"), "disposed");
        assert_eq!(format!("{:?}", StatusInfo(3)), "disposed unregistered");
        assert_eq!(format!("{:?}", StatusInfo(0)), "alive");
    }

    #[test]
    fn what_must_be_understood_and_is_not_is_refused() {
        for id in [0x4123, 0xc123, 0x4070] {
            let write = |list: &mut ParameterListWriter<'_>| {
                list.put(ParameterId::TOPIC_NAME, |out| out.u32(0));
                list.put(ParameterId(id), |out| out.u32(1));
            };
            parse(write, |qos| {
                assert_eq!(qos, Err(Reject::new(RejectKind::MustUnderstand, 12)));
            });
        }
    }

    #[test]
    fn short_values_are_refused() {
        let write = |list: &mut ParameterListWriter<'_>| {
            list.put(ParameterId::KEY_HASH, |out| out.bytes(&[7; 12]));
        };
        parse(write, |qos| {
            assert_eq!(qos.unwrap_err().kind, RejectKind::Truncated)
        });
    }
}
