//! Who is measured, and how its processes are started.

use std::path::{Path, PathBuf};
use std::process::Command;

use whimbrel::qos::CompressionIds;

use crate::world::{Seat, World};

/// Who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Product {
    /// The UDP socket and nothing else.
    Raw,
    Whimbrel,
    Cyclone,
    FastDds,
    RustDds,
    DustDds,
    /// A ping-pong in C, by which the row of the raw socket is judged.
    Plain,
}

/// The program of [`Product::Plain`].
pub(crate) const PLAIN: &str = "plain_udp";

impl Product {
    /// Those that take part in scenarios.
    pub(crate) const ALL: [Self; 6] = [
        Self::Raw,
        Self::Whimbrel,
        Self::Cyclone,
        Self::FastDds,
        Self::RustDds,
        Self::DustDds,
    ];

    /// Whether it can be measured within one process.
    pub(crate) fn stays_within_a_process(self) -> bool {
        matches!(self, Self::Whimbrel | Self::Cyclone | Self::FastDds)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw socket",
            Self::Whimbrel => "Whimbrel",
            Self::Cyclone => "Cyclone DDS",
            Self::FastDds => "Fast DDS",
            Self::RustDds => "RustDDS",
            Self::DustDds => "Dust DDS",
            Self::Plain => "plain C",
        }
    }

    fn program(self) -> Option<&'static str> {
        match self {
            Self::Raw | Self::Whimbrel => None,
            Self::Cyclone => Some("bench_cyclone"),
            Self::FastDds => Some("bench_fastdds"),
            Self::RustDds => Some("bench_rustdds"),
            Self::DustDds => Some("bench_dustdds"),
            Self::Plain => Some(PLAIN),
        }
    }
}

/// A product in one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contestant {
    pub(crate) product: Product,
    /// What distinguishes it from others of the product; may be empty.
    pub(crate) variant: String,
    /// Words for its processes beside the usual.
    pub(crate) words: Vec<String>,
    /// How it receives in a ping-pong, where that is not by a listener.
    pub(crate) mode: Option<&'static str>,
    /// Its program, beside those of the peers, where it has one of its own.
    pub(crate) program: Option<&'static str>,
}

impl Contestant {
    pub(crate) fn plain(product: Product) -> Self {
        Self {
            product,
            variant: String::new(),
            words: Vec::new(),
            mode: None,
            program: None,
        }
    }

    /// Whimbrel as the others wait: asleep at once.
    pub(crate) fn without_polling() -> Self {
        Self {
            variant: "without polling".into(),
            words: vec!["--waiting".into(), "receive".into()],
            ..Self::plain(Product::Whimbrel)
        }
    }

    /// Cyclone DDS as its own example of a round trip waits, and as it was measured in 2019.
    pub(crate) fn by_wait_set() -> Self {
        Self {
            variant: "by wait set".into(),
            mode: Some("waitset"),
            ..Self::plain(Product::Cyclone)
        }
    }

    /// Reads `PRODUCT` or, of Whimbrel, `PRODUCT:CODEC[:LEVEL[:THRESHOLD]]`; the level is 5 and the
    /// threshold 0 unless said.
    ///
    /// # Errors
    /// There is no such product or setting.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default().to_lowercase();
        let product = match name.as_str() {
            "raw" => Product::Raw,
            "whimbrel" => Product::Whimbrel,
            "cyclone" => Product::Cyclone,
            "fastdds" => Product::FastDds,
            "rustdds" => Product::RustDds,
            "dustdds" => Product::DustDds,
            _ => {
                return Err(format!(
                    "{text}: there are raw, whimbrel, cyclone, fastdds, rustdds, dustdds, and \
                     whimbrel with a codec such as whimbrel:lz4 or whimbrel:zlib:9:8192"
                ));
            }
        };
        let mut contestant = Self::plain(product);
        let Some(codec) = parts.next() else {
            return Ok(contestant);
        };
        let known = CompressionIds::from_name(codec).filter(|_| product == Product::Whimbrel);
        let codec = known.ok_or_else(|| format!("{text}: no codec of this product"))?;
        let mut number = |default: u32| match parts.next().map(str::parse) {
            None => Ok(default),
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) => Err(format!("{text}: no number")),
        };
        let (level, threshold) = (number(5)?, number(0)?);
        if parts.next().is_some() || level > 10 {
            return Err(format!(
                "{text}: not CODEC:LEVEL:THRESHOLD with a level up to 10"
            ));
        }
        contestant.variant = text.split_once(':').map_or("", |it| it.1).to_uppercase();
        let setting = format!("{codec}:{level}:{threshold}");
        contestant.words = vec!["--compress".into(), setting];
        Ok(contestant)
    }

    /// The program that it is, unless that is this one.
    fn program(&self) -> Option<&'static str> {
        self.program.or(self.product.program())
    }

    /// Its name in tables and plots.
    pub(crate) fn name(&self) -> String {
        let product = self.product.name();
        if self.variant.is_empty() {
            product.to_owned()
        } else {
            format!("{product} {}", self.variant)
        }
    }
}

/// Which of its processes, in which bench.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// `latency` or `throughput`.
    pub(crate) bench: &'a str,
    pub(crate) role: &'a str,
    pub(crate) mode: &'a str,
    pub(crate) domain: u32,
}

/// Where programs are.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    own: PathBuf,
    peers: PathBuf,
}

impl Programs {
    /// Peers are in `peers`.
    ///
    /// # Errors
    /// The system does not tell where this program is.
    pub(crate) fn new(peers: &Path) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        Ok(Self {
            own,
            peers: peers.to_owned(),
        })
    }

    /// Why `product` cannot take part, if it cannot.
    pub(crate) fn missing(&self, product: Product) -> Option<String> {
        self.missing_of(&Contestant::plain(product))
    }

    /// Why `contestant` cannot take part, if it cannot.
    pub(crate) fn missing_of(&self, contestant: &Contestant) -> Option<String> {
        let product = contestant.product;
        let path = self.peers.join(contestant.program()?);
        if path.exists() {
            return None;
        }
        let path = path.display();
        let by = match product {
            Product::RustDds | Product::DustDds => "cargo xtask setup --rust-peers",
            Product::Whimbrel => "cargo xtask bench bytes",
            _ => "cargo xtask setup",
        };
        Some(format!("{path} is not there ({by} builds it)"))
    }

    /// What `product` says that its version is.
    pub(crate) fn version(&self, product: Product) -> String {
        let Some(program) = product.program() else {
            return env!("CARGO_PKG_VERSION").to_owned();
        };
        let output = Command::new(self.peers.join(program))
            .arg("version")
            .output();
        let said = output.map(|it| it.stdout).unwrap_or_default();
        String::from_utf8_lossy(&said).trim().to_owned()
    }

    /// A process of `contestant` on `seat`, whose other end is on `other`.
    pub(crate) fn command(
        &self,
        world: &World,
        [seat, other]: [&Seat; 2],
        contestant: &Contestant,
        part: Part<'_>,
    ) -> Command {
        let peer = contestant.program();
        let program = peer.map_or_else(|| self.own.clone(), |name| self.peers.join(name));
        let mut command = world.command(seat, &program);
        let raw = if contestant.product == Product::Raw {
            "raw-"
        } else {
            ""
        };
        if peer.is_none() {
            command.arg("role");
        }
        command.arg(format!("{raw}{}", part.bench));
        command.args([part.role, contestant.mode.unwrap_or(part.mode)]);
        command.args(["--domain", &part.domain.to_string()]);
        command.args(["--interface", seat.interface, "--address", seat.address]);
        command.args(["--peer", other.address]);
        command.args(&contestant.words);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_are_read() {
        let name = |text| Contestant::parse(text).unwrap().name();
        assert_eq!(name("Cyclone"), "Cyclone DDS");
        assert_eq!(name("whimbrel"), "Whimbrel");
        let tuned = Contestant::parse("whimbrel:zlib:9").unwrap();
        assert_eq!(tuned.name(), "Whimbrel ZLIB:9");
        assert_eq!(tuned.words, ["--compress", "ZLIB:9:0"]);
        for text in [
            "",
            "connext",
            "cyclone:lz4",
            "whimbrel:rar",
            "whimbrel:lz4:11",
            "whimbrel:lz4:x",
            "whimbrel:lz4:1:2:3",
        ] {
            assert!(Contestant::parse(text).is_err(), "{text}");
        }
    }
}
