//! The report as one HTML file that needs nothing else.

use super::model::{Report, Section, State};
use super::plot::{Plot, Series, escape};
use super::tables;

const STYLE: &str = "
body{font:15px/1.5 system-ui,sans-serif;color:#1c2430;background:#fff;
max-width:1240px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;margin-bottom:.2rem}
h2{margin-top:2.4rem;border-top:1px solid #d9dee6;padding-top:1rem}
code{background:#f2f4f7;padding:.1em .3em;border-radius:3px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:.2rem .55rem;text-align:right;border-bottom:1px solid #e6eaf0;white-space:nowrap}
th{background:#f2f4f7;font-weight:600;white-space:normal;vertical-align:bottom}
.wide{overflow-x:auto;margin:.6rem 0}
table.words td,table.words th,.words td,.words th{text-align:left;white-space:normal}
svg{width:100%;height:auto;font:12px system-ui,sans-serif;fill:#1c2430}
.grid{stroke:#e6eaf0}.frame{fill:none;stroke:#8a94a6}
.good{color:#1a7f4b;font-weight:600}.bad{color:#b3261e;font-weight:600}.none{color:#6b7686}
.good,.bad,.none{white-space:nowrap}
.state{padding:.5rem .8rem;background:#fff6e0;border-left:4px solid #d99a00}.shows{font-weight:600}
summary{cursor:pointer;margin:.5rem 0;color:#0b5fa5}li{margin:.15rem 0}";

/// The whole page.
pub(super) fn text(report: &Report) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>whimbrel-perf</title><style>{STYLE}</style></head><body>\n\
         <h1>whimbrel-perf</h1><p><code>{}</code></p>\n",
        escape(&report.command)
    );
    html.push_str(INTRODUCTION);
    html.push_str(&contents(report));
    if !report.claims.is_empty() {
        html.push_str(
            "<h2 id=\"claims\">What the founding documents claim</h2><div class=\"words\">",
        );
        html.push_str(&tables::claims(&report.claims));
        html.push_str("</div>");
    }
    for section in &report.sections {
        html.push_str(&section_text(section));
    }
    html.push_str(HOW);
    html.push_str(
        "<h2 id=\"passport\">The machine and everything on it</h2><div class=\"words\"><table>",
    );
    for (name, value) in &report.passport {
        let (name, value) = (escape(name), escape(value));
        html.push_str(&format!("<tr><th>{name}</th><td>{value}</td></tr>\n"));
    }
    html.push_str("</table></div></body></html>\n");
    html
}

const INTRODUCTION: &str = "<p>Measurements that others published, made again with Whimbrel and \
its peers on one machine. S0 is RTI's benchmark of compression, S1 RTI's of content filters, S2 a \
study of flexible serialization (OMG workshop, 2008), S3 eProsima's comparison of latencies of \
2019, S4 MÄK's notes on bundles and compression. Each section says in one sentence what its plot \
shows; the long tables are folded.</p>";

const HOW: &str = "<h2 id=\"how\">How to read this</h2><ul>
<li>Latency is one way: half the time from writing a sample to having its answer, by one clock. \
All contestants run at the same time and take turns, round by round. Each waits as it does \
without settings: the raw socket and the peers sleep, Whimbrel polls for up to 50 µs before it \
sleeps, so there is a row of it “without polling” that sleeps at once.</li>
<li>A percentile is shown only where at least ten samples lie beyond it; otherwise it says \
n/a.</li>
<li>“× raw socket” is the median over that of the plain UDP socket at the same size in the same \
rounds.</li>
<li>“faster” and “slower” mean that 95 of 100 redraws of the rounds agree; otherwise nobody can \
tell.</li>
<li>CPU, waits and RSS are those of both processes together; waits are how often a thread gave \
up its core. CPU, waits and wire octets are for one message in one direction.</li>
<li>Two processes and the kernel share the cores of one machine: orderings and ratios carry over \
to other machines, microseconds do not.</li></ul>
";

fn contents(report: &Report) -> String {
    let items: String = report
        .sections
        .iter()
        .map(|it| {
            let state = match &it.state {
                State::Ran => "",
                State::Waiting(_) => " <span class=\"none\">waiting</span>",
                State::Skipped(_) => " <span class=\"none\">skipped</span>",
                State::Broke(_) => " <span class=\"bad\">broke off</span>",
            };
            let (name, title) = (escape(&it.name), escape(&it.title));
            format!("<li><a href=\"#{name}\">{name}</a>: {title}{state}</li>\n")
        })
        .collect();
    format!(
        "<ul>{items}<li><a href=\"#how\">how to read this</a>, \
         <a href=\"#passport\">passport</a></li></ul>\n"
    )
}

fn section_text(section: &Section) -> String {
    let (name, title) = (escape(&section.name), escape(&section.title));
    let mut html = format!(
        "<h2 id=\"{name}\">{name}: {title} <small>({})</small></h2>\n",
        section.seed
    );
    match &section.state {
        State::Ran => {}
        State::Waiting(why) => html.push_str(&state("Waiting", why)),
        State::Skipped(why) => html.push_str(&state("Not run here", why)),
        State::Broke(why) => {
            html.push_str(&state("Broke off; the figures are those until then", why))
        }
    }
    if section.has_figures() {
        html.push_str(&format!(
            "<p class=\"shows\">{}</p>\n",
            escape(&section.shows)
        ));
    }
    html.push_str(&plots(section).concat());
    if let Some(floor) = section.floor {
        html.push_str(&format!(
            "<p>Noise floor: a datagram of the raw socket took {:.2} µs one way before and {:.2} \
             µs \
             after everything else ({:.0} % drift{}).</p>\n",
            floor.first_us,
            floor.last_us,
            floor.drift_percent(),
            if floor.drift_percent() > 25.0 {
                ": the machine changed meanwhile, compare with care"
            } else {
                ""
            }
        ));
    }
    if !section.notes.is_empty() {
        let items: String = section
            .notes
            .iter()
            .map(|it| format!("<li>{}</li>", escape(it)))
            .collect();
        html.push_str(&format!("<ul>{items}</ul>\n"));
    }
    if !section.crossovers.is_empty() {
        html.push_str(&tables::crossovers(section));
    }
    if !section.savings.is_empty() {
        html.push_str(&tables::savings(section));
    }
    html.push_str(&folded(section));
    if let Some(table) = &section.published {
        html.push_str(&tables::published(table));
    }
    html
}

/// The long tables, each behind its name.
fn folded(section: &Section) -> String {
    let mut html = String::new();
    for (has, title, text) in [
        (
            !section.latencies.is_empty(),
            "All latencies",
            tables::latencies(section),
        ),
        (
            !section.verdicts.is_empty(),
            "Who is faster, with how much certainty",
            tables::verdicts(section),
        ),
        (
            !section.budgets.is_empty(),
            "Where the median goes",
            tables::budgets(section),
        ),
        (
            !section.ledgers.is_empty(),
            "Where the octets go",
            tables::ledgers(section),
        ),
        (
            !section.vendors.is_empty(),
            "A maker's own tool, its own clock and rules",
            tables::vendors(section),
        ),
        (
            !section.streams.is_empty(),
            "All rates",
            tables::streams(section),
        ),
        (
            !section.schedules.is_empty(),
            "All schedules",
            tables::schedules(section),
        ),
        (
            !section.codecs.is_empty(),
            "All codecs",
            tables::codecs(section),
        ),
    ] {
        if has {
            let body = format!("<details><summary>{title}</summary>{text}</details>\n");
            html.push_str(&body);
        }
    }
    html
}

fn state(what: &str, why: &str) -> String {
    format!("<p class=\"state\"><b>{what}.</b> {}</p>\n", escape(why))
}

/// The plots of `section`, those without anything to show left out.
pub(super) fn plots(section: &Section) -> Vec<String> {
    let size = "sample size (bytes)";
    let latency = section
        .latencies
        .iter()
        .map(|it| (it.contestant.as_str(), it.size, it.p50_us));
    let rate = section
        .streams
        .iter()
        .map(|it| (it.contestant.as_str(), it.size, it.samples_per_s));
    let codec = section
        .codecs
        .iter()
        .map(|it| (it.codec.as_str(), it.size, it.total_us));
    let mut all = vec![
        plot(size, "median one-way latency (µs)", latency),
        plot(size, "samples received per second", rate),
        plot(size, "codec and 1 Gbit/s wire, together (µs)", codec),
        savings(section),
    ];
    let points = |pick: fn(&super::model::OpenFigure) -> f64| {
        section
            .schedules
            .iter()
            .map(move |it| (it.rate as f64, pick(it)))
            .collect()
    };
    all.push(Plot {
        x_label: "rate of the schedule (samples per second)",
        y_label: "median one-way latency (µs)",
        series: vec![
            Series {
                name: "from the schedule".into(),
                points: points(|it| it.intended_p50_us),
            },
            Series {
                name: "from sending".into(),
                points: points(|it| it.actual_p50_us),
            },
        ],
    });
    let svgs = all.iter().map(Plot::svg);
    svgs.filter(|it| !it.is_empty()).collect()
}

fn savings(section: &Section) -> Plot<'static> {
    let points = |pick: fn(&super::model::SavingFigure) -> f64| {
        let all = section.savings.iter();
        all.map(|it| (it.batch as f64, pick(it))).collect()
    };
    let line = |name: &str, points| Series {
        name: name.to_owned(),
        points,
    };
    Plot {
        x_label: "samples in a batch",
        y_label: "octets saved (percent)",
        series: vec![
            line("our log, payload", points(|it| it.saved_percent)),
            line("our log, on the wire", points(|it| it.wire_saved_percent)),
            line("as published", points(|it| it.published_percent)),
        ],
    }
}

fn plot<'a>(
    x_label: &'a str,
    y_label: &'a str,
    figures: impl Iterator<Item = (&'a str, usize, f64)>,
) -> Plot<'a> {
    let mut series: Vec<Series> = Vec::new();
    for (name, size, value) in figures {
        let point = (size as f64, value);
        match series.iter_mut().find(|it| it.name == name) {
            Some(found) => found.points.push(point),
            None => series.push(Series {
                name: name.to_owned(),
                points: vec![point],
            }),
        }
    }
    Plot {
        x_label,
        y_label,
        series,
    }
}

impl Section {
    fn has_figures(&self) -> bool {
        !(self.latencies.is_empty()
            && self.streams.is_empty()
            && self.schedules.is_empty()
            && self.codecs.is_empty()
            && self.savings.is_empty())
    }
}
