//! Both ends with the settings of a command line, and what samples hold.

use whimbrel::domain::Waiting;
use whimbrel::qos::{Compression, CompressionIds};
use whimbrel::{DataWriterQos, DomainParticipant, Error};
use whimbrel_bench::exchange::{Ends, Msg, Qos, bundled};
use whimbrel_bench::protocol::option;
use whimbrel_payload::{Payload, SEED};

/// Writes the topic `written`, reads the topic `read`; QoS as in the comparison of 2019 but for
/// what `words` say: `--compress`, `--waiting receive` for one that never polls, and
/// `--capture FILE` for one that writes down what it sends and receives.
pub(super) fn open(domain: u32, topics: [&str; 2], words: &[String]) -> Result<Ends, String> {
    let mut qos = Qos::default();
    qos.writer = turned(qos.writer, words)?;
    let open = || -> Result<Ends, Error> {
        let mut builder = DomainParticipant::builder(domain);
        if option(words, "--waiting") == Ok("receive") {
            builder = builder.waiting(Waiting::Receive);
        }
        if let Ok(file) = option(words, "--capture") {
            builder = builder.capture(file);
        }
        Ends::new(&builder.build()?, topics, &qos)
    };
    open().map_err(|error| error.to_string())
}

/// `qos` with `--compress CODEC:LEVEL:THRESHOLD` and `--bundle automatic`, `off` or a limit in
/// octets.
pub(super) fn turned(mut qos: DataWriterQos, words: &[String]) -> Result<DataWriterQos, String> {
    if let Ok(text) = option(words, "--bundle") {
        qos.bundling = Some(bundled(text)?);
    }
    if let Ok(text) = option(words, "--compress") {
        qos.data_representation.compression = compression(text)?;
    }
    Ok(qos)
}

fn compression(text: &str) -> Result<Compression, String> {
    let wrong = || format!("--compress {text}: not CODEC:LEVEL:THRESHOLD");
    let parts: Vec<&str> = text.split(':').collect();
    let [codec, level, threshold] = parts[..] else {
        return Err(wrong());
    };
    Ok(Compression {
        compression_ids: Some(CompressionIds::from_name(codec).ok_or_else(wrong)?),
        writer_compression_level: level.parse().map_err(|_| wrong())?,
        writer_compression_threshold: Some(threshold.parse().map_err(|_| wrong())?),
    })
}

/// What samples hold.
#[derive(Clone, Debug)]
pub(super) struct Sample(Payload);

impl Sample {
    /// That of `--payload`, or a constant octet as with the peers.
    pub(super) fn new(words: &[String]) -> Result<Self, String> {
        let name = option(words, "--payload").unwrap_or("zeros");
        let payload = name.parse();
        payload.map(Self).map_err(|error| format!("{error}"))
    }

    /// One of `size` octets.
    pub(super) fn of(&self, size: usize) -> Result<Msg, String> {
        let payload = self.0.octets(SEED, size);
        let payload = payload.map_err(|error| error.to_string())?;
        Ok(Msg {
            seq: 0,
            payload: payload.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let words = ["--compress", "lz4:5:0"].map(str::to_owned);
        let qos = turned(DataWriterQos::default(), &words).unwrap();
        let compression = qos.data_representation.compression;
        assert_eq!(compression.offered(), CompressionIds::LZ4);
        assert_eq!(compression.writer_compression_level, 5);
        assert_eq!(compression.writer_compression_threshold, Some(0));
        for text in ["lz4", "lz4:5", "none:5:0", "lz4:x:0", "lz4:5:0:1"] {
            assert!(super::compression(text).is_err(), "{text}");
        }
        let plain = turned(DataWriterQos::default(), &[]).unwrap();
        assert_eq!(plain, DataWriterQos::default());
    }
}
