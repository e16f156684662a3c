//! Figures of the founding documents, as they were published.

use crate::report::model::Published;

/// What is left of S4.
pub(super) const NO_CHARTS: &str = "MÄK's charts are lost; what its text says is judged as claims";

/// The table that belongs to `scenario`, where one was published.
pub(super) fn of(scenario: &str) -> Option<Published> {
    Some(match scenario {
        "comp-lat-gbit" | "comp-codec" => S0_LATENCY,
        "comp-bw-batch" => S0_BANDWIDTH,
        "cft" => S1_MEDIANS,
        _ => return None,
    })
}

const S0_LATENCY: Published = Published {
    caption: "RTI Connext 6.1 on two Xeon E-2186G and a switch of 1 Gbit/s, one-way latency in \
              µs, level 5. There is no row without compression, so the bare wire (arithmetic, \
              950 Mbit/s) stands in. The prose says threshold 8192, the scripts 0; the figures of \
              small samples show that 0 was used.",
    columns: &[
        "bytes",
        "LZ4 50 %",
        "LZ4 99 %",
        "ZLIB 50 %",
        "ZLIB 99 %",
        "bare wire",
    ],
    rows: &[
        &["32", "37", "50", "82", "91", "0"],
        &["1024", "56", "88", "126", "139", "9"],
        &["8192", "213", "268", "208", "261", "69"],
        &["63000", "303", "344", "832", "922", "531"],
        &["100000", "371", "450", "1220", "1345", "842"],
        &["500000", "1301", "1584", "4923", "5653", "4211"],
        &["1048576", "2384", "2934", "10210", "11347", "8830"],
        &["1548576", "3400", "4361", "14979", "16672", "13041"],
        &["4194304", "9620", "11049", "39245", "44221", "35320"],
        &["10485760", "25074", "27270", "99659", "110266", "88301"],
    ],
};

const S0_BANDWIDTH: Published = Published {
    caption: "RTI Connext 6.1, ZLIB level 10, a customer's log, Mbit received at the transport of \
              the subscriber. The plain column falls by 1.9 % only from no batches to ten samples, \
              though most headers should vanish: whether they were counted is not told, so both \
              accounts are given here.",
    columns: &["batch", "none Mb", "ZLIB Mb", "saved Mb", "saved %"],
    rows: &[
        &["off", "70.59", "53.74", "16.85", "23.87"],
        &["2", "69.40", "37.08", "32.32", "46.57"],
        &["5", "69.26", "22.08", "47.18", "68.12"],
        &["10", "69.25", "17.02", "52.23", "75.42"],
    ],
};

const S1_MEDIANS: Published = Published {
    caption: "RTI Connext 6.1.1 on 13 hosts with 10 Gbit/s, median one-way latency in µs. The \
              unicast and multicast tables are the same to the last digit, so one of them is a \
              copy: only filtered against unfiltered can be used.",
    columns: &[
        "subscribers",
        "filtered, best effort",
        "filtered, reliable",
        "unfiltered, best effort",
        "unfiltered, reliable",
    ],
    rows: &[
        &["1", "15", "17", "15", "17"],
        &["10", "22", "24", "18", "21"],
        &["20", "22", "25", "25", "28"],
        &["50", "23", "25", "37", "50"],
        &["100", "24", "26", "59", "75"],
        &["200", "23", "27", "101", "128"],
    ],
};
