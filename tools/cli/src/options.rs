//! The command line as it is declared.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use whimbrel::qos::{Bundling, CompressionIds};

const EXIT_CODES: &str = "Exit codes:
  0  it worked
  1  nothing was found, or a check failed
  2  the arguments make no sense, or what they name is not there or of the wrong kind
  3  the bus could not be joined, or this host refused something else, such as writing a file
  130 or 143  SIGINT (Ctrl-C) or SIGTERM came: it has left the bus, and said so in a last line
              on standard error; a second signal ends it at once, with the same code

Environment:
  WHIMBREL_DOMAIN, WHIMBREL_INTERFACES, WHIMBREL_PEERS and WHIMBREL_IP stand for the options
  of the same names; WHIMBREL_LOG=off keeps warnings back; NO_COLOR switches colours off.
  `whimbrel config show` prints what is in force and why.";

/// Looks at a DDS bus, joins it, and shows that it works.
#[derive(Parser, Debug)]
#[command(name = "whimbrel", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) bus: BusOptions,
    /// When to use colours
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Which bus to join and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Bus")]
pub(crate) struct BusOptions {
    /// Domain to join [default: WHIMBREL_DOMAIN, else 0]
    #[arg(long, short = 'd', global = true, value_name = "N", value_parser = domain)]
    pub(crate) domain: Option<u32>,
    /// Domain tag: only participants with the same tag meet
    #[arg(long, global = true, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Network interfaces: names, globs, networks, separated by commas; `!` excludes
    #[arg(long, global = true, value_name = "LIST")]
    pub(crate) interfaces: Option<String>,
    /// Address of a host to announce to, with port or without; may be repeated
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) peer: Vec<String>,
    /// IP versions to use
    #[arg(long, global = true, value_name = "4|6|46", value_parser = ["4", "6", "46"])]
    pub(crate) ip: Option<String>,
    /// How long to look for others [default: until nothing new comes, at most 4]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) wait: Option<Duration>,
    /// Print one JSON object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// When to use colours
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// List the participants of the domain
    Ps(Look),
    /// List topics with their types, writers and readers
    Ls(LsOptions),
    /// Explain why a writer and a reader match, or do not
    Why(WhyOptions),
    /// Find out what keeps participants from meeting, and what to do about it
    Doctor(Look),
    /// Show what knowing everybody in the domain takes of a participant's memory
    Mem(Look),
    /// Print the settings in force and where they come from, or check them
    Config(ConfigOptions),
    /// List every QoS policy: which values work here, which are refused, and the tests
    Features(FeaturesOptions),
    /// Print the samples of a topic
    Sub(SubOptions),
    /// Follow what happens on the bus, a line per event
    Trace(TraceOptions),
    /// Publish or subscribe to moving shapes, as every vendor's demo does
    Shapes(ShapesOptions),
    /// Publish a log file to a process of its own, and check that all of it arrives
    Demo(DemoOptions),
    #[command(hide = true)]
    DemoPublisher(DemoChild),
    #[command(hide = true)]
    DemoSubscriber(DemoChild),
    /// Print a script that completes this command's arguments
    Completions {
        /// Shell to write it for
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// When to use colours, where the subcommand says so.
    pub(crate) fn color(&self) -> Option<When> {
        match self {
            Self::Ps(look) | Self::Doctor(look) | Self::Mem(look) => look.color,
            Self::Ls(it) => it.look.color,
            Self::Config(it) => it.look.color,
            Self::Features(it) => it.look.color,
            Self::Why(it) => it.look.color,
            Self::Sub(it) => it.look.color,
            Self::Trace(it) => it.look.color,
            Self::Demo(it) => it.look.color,
            Self::Shapes(_)
            | Self::DemoPublisher(_)
            | Self::DemoSubscriber(_)
            | Self::Completions { .. } => None,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct LsOptions {
    /// Topics to list: a name, where `*` and `?` stand for anything
    #[arg(value_name = "TOPIC", default_value = "*")]
    pub(crate) topic: String,
    /// List each writer and reader with host and QoS, codecs included, and what compression and
    /// bundles came to where the program has WHIMBREL_STATISTICS on
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args, Debug)]
pub(crate) struct WhyOptions {
    /// GUID of the writer, or its beginning; alone: a topic, to explain all of its pairs
    #[arg(value_name = "WRITER|TOPIC")]
    pub(crate) writer: String,
    /// GUID of the reader, or its beginning
    pub(crate) reader: Option<String>,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigOptions {
    #[command(subcommand)]
    pub(crate) task: ConfigTask,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Subcommand, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConfigTask {
    /// Every setting in force, and whether an option, the environment or nobody said so
    Show,
    /// Everything in the environment and the options that is not understood
    Check,
}

#[derive(Args, Debug)]
pub(crate) struct FeaturesOptions {
    /// Print the page docs/features.md
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args, Debug)]
pub(crate) struct SubOptions {
    /// Topic to read
    pub(crate) topic: String,
    /// Stop after so many samples; fewer before the time is over are a failure
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Stop after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Print payloads in hexadecimal even where the type is known
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args, Debug)]
pub(crate) struct TraceOptions {
    /// Topics whose samples to print too: a name, where `*` and `?` stand for anything
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
    /// Write the lines to this file too
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Stop after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args, Debug)]
pub(crate) struct ShapesOptions {
    #[command(subcommand)]
    pub(crate) role: ShapesRole,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ShapesRole {
    /// Publish one shape in one colour
    Pub(ShapesPublisher),
    /// Print the shapes that others publish
    Sub(ShapesSubscriber),
}

/// The shapes, each a topic of its own.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Square,
    Circle,
    Triangle,
}

#[derive(Args, Debug)]
pub(crate) struct ShapesPublisher {
    /// Shape to publish
    #[arg(long, default_value = "square")]
    pub(crate) shape: Shape,
    /// Its colour, at most 128 octets
    #[arg(long, default_value = "BLUE", value_parser = colour)]
    pub(crate) color: String,
    /// Its size
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(i32).range(1..=200))]
    pub(crate) size: i32,
    /// Samples per second
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rate: u32,
    /// Stop after so many samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Wait for so many readers first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) readers: usize,
    /// What becomes of the shape after --count samples
    #[arg(long, default_value = "leave")]
    pub(crate) end: End,
    /// Print nothing for each sample
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) qos: ShapesQos,
}

#[derive(Args, Debug)]
pub(crate) struct ShapesSubscriber {
    /// Shape to subscribe to; all of them by default
    #[arg(long)]
    pub(crate) shape: Vec<Shape>,
    /// Print this colour only
    #[arg(long)]
    pub(crate) color: Option<String>,
    /// Stop after so many samples; fewer before the time is over are a failure
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Stop after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) qos: ShapesQos,
}

#[derive(Args, Debug)]
pub(crate) struct ShapesQos {
    /// Repeat lost samples (a writer's default)
    #[arg(long, conflicts_with = "best_effort")]
    pub(crate) reliable: bool,
    /// Do not repeat lost samples (a reader's default)
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Late joiners get what was published before
    #[arg(long)]
    pub(crate) transient_local: bool,
    /// Samples of each colour to keep
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,
    /// Keep all samples
    #[arg(long, conflicts_with = "depth")]
    pub(crate) keep_all: bool,
    /// Partition; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Vec<String>,
    /// Encoding: XCDR1 or XCDR2 [default: pub 1, sub both]
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) xcdr: Option<u8>,
}

/// What becomes of a shape that is published no more.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It loses its writer
    Leave,
    /// It is disposed
    Dispose,
    /// It is unregistered, not disposed
    Unregister,
}

#[derive(Args, Debug)]
pub(crate) struct DemoOptions {
    /// File to publish, line by line; by default a log that whimbrel wrote itself
    pub(crate) file: Option<PathBuf>,
    /// Lose 5 % of all datagrams on purpose
    #[arg(long)]
    pub(crate) bad_network: bool,
    /// How long to publish, at a steady rate and again as fast as possible
    #[arg(long, value_name = "N", default_value = "3", value_parser = demo_seconds)]
    pub(crate) seconds: Duration,
    /// Show it in about a second
    #[arg(long, conflicts_with = "seconds")]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) smaller: Smaller,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How the demo's lines are made fewer octets.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Smaller {
    /// Compress: zlib, bzip2, lz4, zstd, lzo, huffman or lz, or none
    #[arg(long, value_name = "CODEC", value_parser = codec)]
    pub(crate) compress: Option<CompressionIds>,
    /// Send lines together: off, automatic, or in messages of up to N octets, of 1400 where no N
    /// or `on` is said
    #[arg(long, value_name = "N", value_parser = bundle)]
    #[arg(num_args = 0..=1, default_missing_value = "on")]
    pub(crate) bundle: Option<Bundling>,
    /// Send lines in batches of N, as Connext does
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) batch: Option<u32>,
}

impl Smaller {
    /// Whether anything of it was asked for.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.compress.is_some_and(|it| !it.is_empty())
            || self.bundle.is_some()
            || self.batch.is_some()
    }
}

/// What the demo tells its two processes.
#[derive(Args, Debug)]
pub(crate) struct DemoChild {
    pub(crate) file: Option<PathBuf>,
    #[arg(long)]
    pub(crate) domain_tag: String,
    #[arg(long)]
    pub(crate) in_domain: Option<u32>,
    #[arg(long)]
    pub(crate) bad_network: bool,
    #[arg(long, value_parser = seconds, default_value = "3")]
    pub(crate) steady: Duration,
    #[arg(long, value_parser = seconds, default_value = "3")]
    pub(crate) fast: Duration,
    #[command(flatten)]
    pub(crate) smaller: Smaller,
}

fn codec(name: &str) -> Result<CompressionIds, String> {
    if ["none", "off"]
        .iter()
        .any(|it| it.eq_ignore_ascii_case(name))
    {
        return Ok(CompressionIds::NONE);
    }
    CompressionIds::from_name(name).ok_or_else(|| {
        let all = CompressionIds::ALL.to_string().to_lowercase();
        format!("no codec; there are {}, and none", all.replace(' ', ", "))
    })
}

fn bundle(text: &str) -> Result<Bundling, String> {
    let bundling = match text {
        "on" => Bundling::ON,
        "off" => Bundling::Off,
        "automatic" => Bundling::Automatic,
        number => {
            let wrong = |_| "neither on, off, automatic nor a number of octets".to_owned();
            Bundling::up_to(number.parse().map_err(wrong)?)
        }
    };
    if bundling.is_valid() {
        return Ok(bundling);
    }
    let (min, max) = (Bundling::MESSAGE_BYTES_MIN, Bundling::MESSAGE_BYTES_MAX);
    Err(format!("not between {min} and {max} octets"))
}

/// Reads a number of seconds, with or without fraction.
fn domain(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|it| *it <= 232);
    number.ok_or_else(|| "not a number from 0 to 232".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if !(0.0..=86_400.0).contains(&number) {
        return Err("not between 0 and 86400 seconds".into());
    }
    Ok(Duration::from_secs_f64(number))
}

fn demo_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if (Duration::from_millis(100)..=Duration::from_secs(60)).contains(&time) {
        Ok(time)
    } else {
        Err("not between 0.1 and 60 seconds".into())
    }
}

fn colour(text: &str) -> Result<String, String> {
    if text.len() > 128 || text.contains('\0') {
        return Err("colours have at most 128 octets, and no NUL".into());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn bundles_have_1400_octets_unless_a_number_says_otherwise() {
        let bundle = |words: &str| {
            let words = words.split_whitespace();
            let options = Options::try_parse_from(["whimbrel", "demo"].into_iter().chain(words));
            match options.map(|it| it.command) {
                Ok(Command::Demo(it)) => it.smaller.bundle,
                other => panic!("{other:?}"),
            }
        };
        for words in [
            "--bundle",
            "--bundle on",
            "--bundle --quick",
            "file --bundle",
            "--bundle -- file",
        ] {
            assert_eq!(bundle(words), Some(Bundling::up_to(1400)), "{words}");
        }
        assert_eq!(bundle("--bundle 9000 file"), Some(Bundling::up_to(9000)));
        assert_eq!(bundle("--bundle off"), Some(Bundling::Off));
        assert_eq!(bundle("file"), None);
        let file = ["whimbrel", "demo", "--bundle", "file"];
        let refused = Options::try_parse_from(file).unwrap_err().to_string();
        assert!(refused.contains("nor a number of octets"), "{refused}");
    }

    #[test]
    fn a_codec_may_be_none() {
        for name in ["none", "off", "NONE", "Off"] {
            assert_eq!(codec(name), Ok(CompressionIds::NONE), "{name}");
        }
        assert_eq!(codec("lz4"), Ok(CompressionIds::LZ4));
        assert!(codec("rar").unwrap_err().ends_with("huffman, lz, and none"));
    }

    #[test]
    fn odd_times_are_refused() {
        for refused in ["", "-1", "nan", "inf", "1e99", "x", "1 s"] {
            assert!(seconds(refused).is_err(), "{refused}");
        }
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        assert!(demo_seconds("0").is_err());
    }
}
