//! The tables of the HTML report.

use super::model::{Claim, Outcome, Published, Section};
use super::plot::{escape, short};
use crate::measure::Verdict;

/// A table with the class `class`; cells are HTML.
fn table(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let head: String = columns.iter().map(|it| format!("<th>{it}</th>")).collect();
    let body: String = rows
        .map(|row| {
            let cells: String = row.iter().map(|it| format!("<td>{it}</td>")).collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<div class=\"wide\"><table><thead><tr>{head}</tr></thead>\n\
         <tbody>{body}</tbody></table></div>\n"
    )
}

fn us(value: f64) -> String {
    match value {
        it if it >= 1000.0 => format!("{it:.0}"),
        it if it >= 100.0 => format!("{it:.1}"),
        it => format!("{it:.2}"),
    }
}

fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "<span class=\"none\">n/a</span>".into(), us)
}

fn sides([a, b]: [f64; 2]) -> String {
    format!("{} + {}", us(a), us(b))
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(
        || "<span class=\"none\">n/a</span>".into(),
        |it| it.to_string(),
    )
}

pub(super) fn latencies(section: &Section) -> String {
    let columns = [
        "size B",
        "who",
        "messages",
        "min µs",
        "mean µs",
        "50 % µs",
        "90 % µs",
        "99 % µs",
        "99.9 % µs",
        "max µs",
        "× raw socket",
        "CPU µs",
        "asking + answering",
        "waits",
        "preempted",
        "sent again",
        "RSS MiB",
        "wire B",
    ];
    let rows = section.latencies.iter().map(|it| {
        vec![
            it.size.to_string(),
            escape(&it.contestant),
            it.count.to_string(),
            us(it.min_us),
            us(it.mean_us),
            format!("<b>{}</b>", us(it.p50_us)),
            maybe(it.p90_us),
            maybe(it.p99_us),
            maybe(it.p999_us),
            us(it.max_us),
            maybe(it.floor_multiple),
            us(it.cpu_us),
            sides(it.cpu_sides_us),
            us(it.waits),
            us(it.preempted),
            count(it.repairs),
            format!("{:.1}", it.resident_kib as f64 / 1024.0),
            it.wire_bytes
                .map_or_else(|| "–".into(), |it| format!("{it:.0}")),
        ]
    });
    table(&columns, rows)
}

pub(super) fn streams(section: &Section) -> String {
    let columns = [
        "size B",
        "who",
        "samples/s",
        "MB/s",
        "lost %",
        "CPU µs a sample",
        "writing + reading",
        "sent again",
        "wire B a sample",
    ];
    let rows = section.streams.iter().map(|it| {
        vec![
            it.size.to_string(),
            escape(&it.contestant),
            format!("<b>{}</b>", short(it.samples_per_s)),
            us(it.mbytes_per_s),
            us(it.lost_percent),
            us(it.cpu_us),
            sides(it.cpu_sides_us),
            count(it.repairs),
            it.wire_bytes
                .map_or_else(|| "–".into(), |it| format!("{it:.0}")),
        ]
    });
    table(&columns, rows)
}

pub(super) fn schedules(section: &Section) -> String {
    let columns = [
        "size B",
        "rate 1/s",
        "sent",
        "lost",
        "50 % from schedule µs",
        "99 % from schedule µs",
        "50 % from sending µs",
        "99 % from sending µs",
    ];
    let rows = section.schedules.iter().map(|it| {
        vec![
            it.size.to_string(),
            it.rate.to_string(),
            it.sent.to_string(),
            it.lost.to_string(),
            us(it.intended_p50_us),
            maybe(it.intended_p99_us),
            us(it.actual_p50_us),
            maybe(it.actual_p99_us),
        ]
    });
    table(&columns, rows)
}

pub(super) fn codecs(section: &Section) -> String {
    let columns = [
        "size B",
        "codec",
        "entropy bit/B",
        "ratio",
        "compress µs",
        "decompress µs",
        "plain on 1 Gbit/s µs",
        "compressed, all together µs",
    ];
    let rows = section.codecs.iter().map(|it| {
        vec![
            it.size.to_string(),
            it.codec.clone(),
            us(it.entropy_bits),
            us(it.ratio),
            us(it.compress_us),
            us(it.decompress_us),
            us(it.wire_us),
            format!("<b>{}</b>", us(it.total_us)),
        ]
    });
    table(&columns, rows)
}

pub(super) fn savings(section: &Section) -> String {
    let columns = [
        "payload",
        "samples in a batch",
        "plain B",
        "compressed B",
        "saved %",
        "published saved %",
        "plain on the wire B",
        "compressed on the wire B",
        "saved on the wire %",
    ];
    let rows = section.savings.iter().map(|it| {
        vec![
            escape(&it.payload),
            it.batch.to_string(),
            it.plain_bytes.to_string(),
            it.packed_bytes.to_string(),
            format!("<b>{:.1}</b>", it.saved_percent),
            format!("{:.2}", it.published_percent),
            it.wire_bytes[0].to_string(),
            it.wire_bytes[1].to_string(),
            format!("{:.1}", it.wire_saved_percent),
        ]
    });
    table(&columns, rows)
}

pub(super) fn verdicts(section: &Section) -> String {
    let columns = [
        "size B",
        "A",
        "is … than B",
        "B",
        "latency of A / B",
        "95 % within",
    ];
    let rows = section.verdicts.iter().map(|it| {
        let class = match it.verdict {
            Verdict::Faster => "good",
            Verdict::Slower => "bad",
            Verdict::CannotTell => "none",
        };
        let [low, middle, high] = it.ratio;
        vec![
            it.size.to_string(),
            escape(&it.a),
            format!("<span class=\"{class}\">{}</span>", it.verdict.text()),
            escape(&it.b),
            format!("{middle:.3}"),
            if high.is_finite() {
                format!("{low:.3} … {high:.3}")
            } else {
                "too few rounds".into()
            },
        ]
    });
    table(&columns, rows)
}

pub(super) fn crossovers(section: &Section) -> String {
    let columns = ["A", "B", "B is faster than A"];
    let rows = section.crossovers.iter().map(|it| {
        let from = match it.between {
            [Some(low), Some(high)] => format!(
                "from {} B to {} B on",
                short(low as f64),
                short(high as f64)
            ),
            [None, Some(first)] => format!("at every size, from {} B", short(first as f64)),
            [_, None] => "from no size on".into(),
        };
        vec![escape(&it.a), escape(&it.b), from]
    });
    format!(
        "<p>Where it pays, found by halving the span of sizes:</p>{}",
        table(&columns, rows)
    )
}

/// Rows of parts that are together a whole, each row with its own names of parts.
fn parts<'a>(
    whole: &str,
    unit: fn(f64) -> String,
    rows: impl Iterator<Item = (&'a str, usize, f64, &'a [(&'static str, f64)])> + Clone,
) -> String {
    let first = rows.clone().next();
    let names: Vec<&str> = first
        .into_iter()
        .flat_map(|it| it.3)
        .map(|it| it.0)
        .collect();
    let columns = [&["size B", "who", whole], &names[..]].concat();
    let rows = rows.map(|(who, size, total, parts)| {
        let mut row = vec![
            size.to_string(),
            escape(who),
            format!("<b>{}</b>", unit(total)),
        ];
        row.extend(parts.iter().map(|it| unit(it.1)));
        row
    });
    table(&columns, rows)
}

pub(super) fn budgets(section: &Section) -> String {
    let rows = section
        .budgets
        .iter()
        .map(|it| (it.contestant.as_str(), it.size, it.total_us, &it.stages[..]));
    format!(
        "<p>Where the median goes, in µs one way, by turns of their own in which both processes \
         note the time at each stage (means of the middle half of the samples). “Serialize” and \
         “deserialize” are measured alone, the rest on the way: “enqueue” is history and headers, \
         up to the first send call (where that is less than serializing alone, because nothing is \
         copied, all of it is “serialize”); “send call” ends when the calls are over or the other \
         side has the sample, whichever is first; what is left until its receive call is over, the \
         kernel, the cable and waking up, cannot be taken apart from here. “Receive” is the bus up \
         to the callback, which takes the sample. There is no filter yet. “50 % less these”: by \
         how much the median of the race differs from these turns.</p>{}",
        parts("50 % µs", us, rows)
    )
}

pub(super) fn ledgers(section: &Section) -> String {
    let rows = section.ledgers.iter().map(|it| {
        (
            it.contestant.as_str(),
            it.size,
            it.wire_bytes,
            &it.entries[..],
        )
    });
    let octets = |it: f64| {
        let text = format!("{it:.1}");
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    format!(
        "<p>Where the octets of a message on the cable go, one way, by a capture of turns of their \
         own. “Number, length” are the bench's own fields of a sample; “submessages” are the \
         headers of DATA, DATA_FRAG, INFO_TS and INFO_DST; whole packets of discovery are in \
         “discovery”, those of all else in “UDP, IP, Ethernet”. “Counter less these”: by how much \
         the counter of the interface in the race (“wire B”) differs.</p>{}",
        parts("wire B", octets, rows)
    )
}

pub(super) fn vendors(section: &Section) -> String {
    let columns = [
        "size B", "tool", "messages", "min µs", "mean µs", "50 % µs", "90 % µs", "99 % µs",
        "max µs",
    ];
    let rows = section.vendors.iter().map(|it| {
        vec![
            it.size.to_string(),
            it.tool.to_owned(),
            it.count.to_string(),
            us(it.min_us),
            us(it.mean_us),
            format!("<b>{}</b>", us(it.p50_us)),
            us(it.p90_us),
            us(it.p99_us),
            us(it.max_us),
        ]
    });
    format!(
        "<p>ddsperf comes with Cyclone DDS: one way, by its own clock, echo and percentiles, of a \
         second of its own in which nobody else is measured, and of the version that the notes \
         tell. Read it beside the rows of Cyclone DDS, not beside those of others. \
         LatencyTest of Fast DDS is in no package.</p>{}",
        table(&columns, rows)
    )
}

pub(super) fn published(it: &Published) -> String {
    let rows = it
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| escape(cell)).collect());
    let body = table(it.columns, rows);
    format!(
        "<details><summary>As published: {}</summary>{body}</details>",
        escape(it.caption)
    )
}

pub(super) fn claims(claims: &[Claim]) -> String {
    let rows = claims.iter().map(|it| {
        let class = match it.outcome {
            Outcome::Reproduced | Outcome::Better => "good",
            Outcome::NotReproduced => "bad",
            Outcome::Waiting | Outcome::Unknown => "none",
        };
        vec![
            it.seed.clone(),
            escape(&it.claim),
            format!("<span class=\"{class}\">{}</span>", it.outcome.text()),
            escape(&it.figure),
        ]
    });
    table(
        &["seed", "what it says, and what we ask", "here", "figure"],
        rows,
    )
}
