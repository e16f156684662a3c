//! QoS as names and values for people.

use whimbrel::qos::{DataReaderQos, DataWriterQos, Partition};

use crate::output::{clean, hex};

/// A policy's name and its value.
pub(crate) type NamedValue = (&'static str, String);

/// Lists RELIABILITY and every named policy of `$qos` that differs from `$default`.
macro_rules! listed {
    (
        $qos:ident, $default:ident, $partition:ident,
        $($name:literal $policy:ident $($field:ident)?,)+
    ) => {{
        let mut list: Vec<NamedValue> = vec![("RELIABILITY", $qos.reliability.to_string())];
        if !$partition.names.is_empty() {
            list.push(("PARTITION", clean(&$partition.to_string())));
        }
        $(if $qos.$policy != $default.$policy {
            list.push(($name, $qos.$policy$(.$field)?.to_string()));
        })+
        if !$qos.user_data.value.is_empty() {
            list.push(("USER_DATA", hex(&$qos.user_data.value)));
        }
        list
    }};
}

/// RELIABILITY, and every policy of a writer that differs from the default.
pub(crate) fn of_writer(qos: &DataWriterQos, partition: &Partition) -> Vec<NamedValue> {
    let default = DataWriterQos::default();
    listed!(qos, default, partition,
        "DURABILITY" durability,
        "HISTORY" history,
        "DEADLINE" deadline,
        "LATENCY_BUDGET" latency_budget,
        "LIVELINESS" liveliness,
        "OWNERSHIP" ownership,
        "OWNERSHIP_STRENGTH" ownership_strength value,
        "DESTINATION_ORDER" destination_order,
        "LIFESPAN" lifespan duration,
        "TRANSPORT_PRIORITY" transport_priority value,
        "DATA_REPRESENTATION" data_representation,
    )
}

/// RELIABILITY, and every policy of a reader that differs from the default.
pub(crate) fn of_reader(qos: &DataReaderQos, partition: &Partition) -> Vec<NamedValue> {
    let default = DataReaderQos::default();
    listed!(qos, default, partition,
        "DURABILITY" durability,
        "HISTORY" history,
        "DEADLINE" deadline,
        "LATENCY_BUDGET" latency_budget,
        "LIVELINESS" liveliness,
        "OWNERSHIP" ownership,
        "TIME_BASED_FILTER" time_based_filter minimum_separation,
        "DESTINATION_ORDER" destination_order,
        "DATA_REPRESENTATION" data_representation,
    )
}

/// Policies on one line.
pub(crate) fn line(policies: &[NamedValue]) -> String {
    let texts: Vec<_> = policies
        .iter()
        .map(|(name, value)| match *name {
            "RELIABILITY" | "DURABILITY" | "HISTORY" | "OWNERSHIP" => value.clone(),
            _ => format!("{name}={value}"),
        })
        .collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel::Duration;

    #[test]
    fn only_what_differs_is_listed() {
        let none = Partition::default();
        assert_eq!(
            line(&of_writer(&DataWriterQos::default(), &none)),
            "RELIABLE"
        );
        assert_eq!(
            line(&of_reader(&DataReaderQos::default(), &none)),
            "BEST_EFFORT"
        );
        let qos = DataWriterQos::default()
            .transient_local()
            .keep_all()
            .lifespan(Duration::from_secs(2));
        assert_eq!(
            line(&of_writer(&qos, &none)),
            "RELIABLE TRANSIENT_LOCAL KEEP_ALL LIFESPAN=2s"
        );
    }
}
