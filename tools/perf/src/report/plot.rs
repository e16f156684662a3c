//! Plots as SVG: lines over two logarithmic axes, with units and a legend.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 56.0;
/// Colours that the colour-blind tell apart, for lines without one of their own.
const COLOURS: &[&str] = &[
    "#5a6472", "#0b5fa5", "#e07a1f", "#6a4c93", "#008b8b", "#a23b72", "#b8860b", "#1c2430",
];
/// Whoever is in several plots has the same colour in all.
const OWN_COLOURS: &[(&str, &str)] = &[
    ("raw socket", "#8a94a6"),
    ("plain", "#8a94a6"),
    ("Whimbrel without polling", "#6db3e8"),
    ("Whimbrel", "#0b5fa5"),
    ("Cyclone DDS", "#d1495b"),
    ("Fast DDS", "#2a9d5c"),
    ("RustDDS", "#e07a1f"),
    ("Dust DDS", "#6a4c93"),
];
/// Least distance of numbers on the lower axis.
const TICK_GAP: f64 = 34.0;
/// How wide a letter of a number is at most.
const LETTER: f64 = 7.5;

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// What a plot shows.
#[derive(Clone, Debug)]
pub(crate) struct Plot<'a> {
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
    pub(crate) series: Vec<Series>,
}

/// An axis from `low` to `high`, logarithmic.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    begin: f64,
    end: f64,
}

impl Axis {
    /// The axis of `values`, rounded outward.
    fn of(values: impl Iterator<Item = f64>, begin: f64, end: f64) -> Option<Self> {
        let (low, high) = values
            .filter(|it| *it > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), it| {
                (low.min(it), high.max(it))
            });
        if !low.is_finite() {
            return None;
        }
        let (low, high) = (low / 1.15, high * 1.15);
        Some(Self {
            low: low.ln(),
            high: high.ln(),
            begin,
            end,
        })
    }

    fn place(self, value: f64) -> f64 {
        let share = (value.max(1e-12).ln() - self.low) / (self.high - self.low);
        self.begin + share * (self.end - self.begin)
    }

    /// 1, 2 and 5 of each power of ten within; fewer where they would be many, more where few.
    fn ticks(self) -> Vec<f64> {
        let decades = (self.high - self.low) / std::f64::consts::LN_10;
        let steps: &[f64] = if decades > 3.0 {
            &[1.0]
        } else if decades < 1.0 {
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        (-3..13)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
            .filter(|it| (self.low..=self.high).contains(&it.ln()))
            .collect()
    }
}

impl Plot<'_> {
    /// The picture; empty where there is nothing to show.
    pub(crate) fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|it| &it.points);
        let x = Axis::of(all().map(|it| it.0), LEFT, WIDTH - RIGHT);
        let y = Axis::of(all().map(|it| it.1), HEIGHT - BOTTOM, TOP);
        let (Some(x), Some(y)) = (x, y) else {
            return String::new();
        };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} over {}\">\n",
            escape(self.y_label),
            escape(self.x_label)
        );
        self.axes(&mut svg, x, y);
        for (series, colour) in self.coloured() {
            let mut path = String::new();
            for (at, (size, value)) in series.points.iter().enumerate() {
                let verb = if at == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{verb}{:.1} {:.1} ", x.place(*size), y.place(*value));
            }
            let path = path.trim_end();
            let _ = writeln!(
                svg,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
            );
            for (size, value) in &series.points {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{}: {} at \
                     {}</title></circle>",
                    x.place(*size),
                    y.place(*value),
                    escape(&series.name),
                    short(*value),
                    short(*size)
                );
            }
        }
        self.legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    /// The lines, each with its colour.
    fn coloured(&self) -> impl Iterator<Item = (&Series, &'static str)> {
        let colour = |at: usize, name: &str| {
            let exact = OWN_COLOURS.iter().find(|it| name == it.0);
            let begins = |own: &&(&str, &str)| {
                let same = self.series.iter().filter(|it| it.name.starts_with(own.0));
                name.starts_with(own.0) && same.count() == 1
            };
            let own = exact.or_else(|| OWN_COLOURS.iter().find(begins));
            own.map_or(COLOURS[at % COLOURS.len()], |it| it.1)
        };
        let series = self.series.iter().enumerate();
        series.map(move |(at, it)| (it, colour(at, &it.name)))
    }

    /// What was measured, as far as there is room for its numbers.
    fn x_ticks(&self, x: Axis) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .series
            .iter()
            .flat_map(|it| &it.points)
            .map(|it| it.0)
            .collect();
        all.sort_by(f64::total_cmp);
        let width = |value: f64| short(value).len() as f64 * LETTER;
        let fits = |before: f64, value: f64| {
            let needed = (width(before) + width(value)) / 2.0 + LETTER;
            x.place(value) - x.place(before) >= needed.max(TICK_GAP)
        };
        let mut ticks: Vec<f64> = Vec::new();
        for value in all {
            if ticks.last().is_none_or(|it| fits(*it, value)) {
                ticks.push(value);
            }
        }
        ticks
    }

    fn axes(&self, svg: &mut String, x: Axis, y: Axis) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for tick in self.x_ticks(x) {
            let at = x.place(tick);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                short(tick)
            );
        }
        for tick in y.ticks() {
            let at = y.place(tick);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                short(tick)
            );
        }
        let (middle_x, middle_y) = ((LEFT + right) / 2.0, (TOP + bottom) / 2.0);
        let _ = writeln!(
            svg,
            "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>\
             <text x=\"{middle_x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(18 {middle_y}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            right - LEFT,
            bottom - TOP,
            HEIGHT - 12.0,
            escape(self.x_label),
            escape(self.y_label)
        );
    }

    fn legend(&self, svg: &mut String) {
        let left = WIDTH - RIGHT + 16.0;
        for (at, (series, colour)) in self.coloured().enumerate() {
            let top = TOP + 14.0 + 22.0 * at as f64;
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{top}\" x2=\"{}\" y2=\"{top}\" stroke=\"{colour}\" \
                 stroke-width=\"3\"/><text x=\"{}\" y=\"{}\">{}</text>",
                left + 22.0,
                left + 30.0,
                top + 4.0,
                escape(&series.name)
            );
        }
    }
}

/// The picture `svg` as a file of its own.
pub(crate) fn file(svg: &str) -> String {
    let style = "<style>svg{background:#fff;font:12px system-ui,sans-serif;fill:#1c2430}\
                 .grid{stroke:#e6eaf0}.frame{fill:none;stroke:#8a94a6}</style>";
    let begin = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
    let named = svg.replacen("<svg ", begin, 1);
    named.replacen(">\n", &format!(">\n{style}\n"), 1)
}

/// A number with k and M, from ten thousand.
pub(super) fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        it if it >= 1e6 => (it / 1e6, "M"),
        it if it >= 1e4 => (it / 1e3, "k"),
        it => (it, ""),
    };
    let text = format!("{scaled:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

/// `text` within HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.5, 12.0, 1024.0, 63_000.0, 1_048_576.0].map(short);
        assert_eq!(texts, ["0.5", "12", "1024", "63k", "1.05M"]);
    }

    #[test]
    fn lines_of_one_product_are_told_apart() {
        let names = [
            "Whimbrel none",
            "Whimbrel LZ4",
            "Whimbrel ZLIB",
            "Cyclone DDS",
        ];
        let series = |name: &&str| Series {
            name: (*name).to_owned(),
            points: vec![],
        };
        let plot = |names: &[&str]| -> Vec<&'static str> {
            let plot = Plot {
                x_label: "",
                y_label: "",
                series: names.iter().map(series).collect(),
            };
            plot.coloured().map(|it| it.1).collect()
        };
        let mut colours = plot(&names);
        assert_eq!(colours[3], "#d1495b");
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len(), 4);
        // Alone it has the colour that it has everywhere.
        assert_eq!(plot(&["Whimbrel"]), plot(&["Whimbrel LZ4"]));
    }

    #[test]
    fn a_plot_has_axes_units_and_a_legend() {
        let series = |name: &str, factor: f64| Series {
            name: name.to_owned(),
            points: vec![(16.0, factor), (1024.0, 2.0 * factor)],
        };
        let plot = Plot {
            x_label: "sample size (bytes)",
            y_label: "latency (µs)",
            series: vec![series("A & B", 10.0), series("C", 20.0)],
        };
        let svg = plot.svg();
        for part in [
            "sample size (bytes)",
            "latency (µs)",
            "A &amp; B",
            ">20</text>",
        ] {
            assert!(svg.contains(part), "{part}");
        }
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(!svg.contains("NaN"));
        let empty = Plot {
            series: vec![],
            ..plot
        };
        assert_eq!(empty.svg(), "");
    }

    #[test]
    fn numbers_below_a_plot_do_not_touch() {
        let sizes = [
            500_000.0,
            1_048_576.0,
            1_548_576.0,
            4_194_304.0,
            10_485_760.0,
        ];
        let plot = Plot {
            x_label: "x",
            y_label: "y",
            series: vec![Series {
                name: "one".into(),
                points: std::iter::once(32.0)
                    .chain(sizes)
                    .map(|it| (it, 1.0))
                    .collect(),
            }],
        };
        let svg = plot.svg();
        let places: Vec<(f64, usize)> = svg
            .lines()
            .filter(|it| it.contains("text-anchor=\"middle\"") && it.contains("class=\"grid\""))
            .filter_map(|it| {
                let (_, rest) = it.split_once("<text x=\"")?;
                let (at, rest) = rest.split_once('"')?;
                let text = rest.split_once('>')?.1.split_once('<')?.0;
                Some((at.parse().ok()?, text.len()))
            })
            .collect();
        assert!(places.len() >= 3, "{svg}");
        for pair in places.windows(2) {
            let needed = (pair[0].1 + pair[1].1) as f64 / 2.0 * 7.0;
            assert!(pair[1].0 - pair[0].0 > needed, "{places:?}");
        }
    }
}
