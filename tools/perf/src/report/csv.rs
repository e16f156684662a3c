//! One row for each latency figure and stream, for spreadsheets.

use super::model::Report;

/// The columns; a new one goes to the end.
pub(super) const HEADER: &str = "scenario,contestant,size_bytes,count,min_us,mean_us,p50_us,p90_us,\
    p99_us,p99_9_us,p99_99_us,max_us,floor_multiple,cpu_us,waits,resident_kib,wire_bytes,\
    samples_per_s,lost_percent,cpu_first_us,cpu_second_us,preempted,repairs";

/// All rows of `report`; what was not measured is empty.
pub(super) fn text(report: &Report) -> String {
    let mut text = format!("{HEADER}\n");
    let maybe = |it: Option<f64>| it.map_or_else(String::new, |it| format!("{it:.3}"));
    for section in &report.sections {
        for it in &section.latencies {
            text.push_str(&format!(
                "{},{},{},{},{:.3},{:.3},{:.3},{},{},{},{},{:.3},{},{:.3},{:.3},{},{},,,\
                 {:.3},{:.3},{:.3},{}\n",
                section.name,
                quoted(&it.contestant),
                it.size,
                it.count,
                it.min_us,
                it.mean_us,
                it.p50_us,
                maybe(it.p90_us),
                maybe(it.p99_us),
                maybe(it.p999_us),
                maybe(it.p9999_us),
                it.max_us,
                maybe(it.floor_multiple),
                it.cpu_us,
                it.waits,
                it.resident_kib,
                maybe(it.wire_bytes),
                it.cpu_sides_us[0],
                it.cpu_sides_us[1],
                it.preempted,
                it.repairs.map_or_else(String::new, |it| it.to_string()),
            ));
        }
        for it in &section.streams {
            text.push_str(&format!(
                "{},{},{},,,,,,,,,,,{:.3},,,{},{:.0},{:.3},{:.3},{:.3},,{}\n",
                section.name,
                quoted(&it.contestant),
                it.size,
                it.cpu_us,
                maybe(it.wire_bytes),
                it.samples_per_s,
                it.lost_percent,
                it.cpu_sides_us[0],
                it.cpu_sides_us[1],
                it.repairs.map_or_else(String::new, |it| it.to_string()),
            ));
        }
    }
    text
}

/// `text` as one field. RFC 4180 §2.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_with_a_comma_stays_one() {
        assert_eq!(quoted("Whimbrel off"), "Whimbrel off");
        assert_eq!(quoted("best effort, off"), "\"best effort, off\"");
        assert_eq!(quoted("5\" disk"), "\"5\"\" disk\"");
    }
}
