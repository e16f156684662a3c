//! What is run: who, where, which sizes, how long.

use super::course::Course;
use super::flow::{FLOWS, Flow};
use crate::arguments::Arguments;

const SIZES: [usize; 7] = [16, 32, 256, 1024, 8192, 63_000, 1 << 20];
const SIZES_QUICK: [usize; 4] = [32, 1024, 63_000, 1 << 20];

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) flows: Vec<Flow>,
    pub(super) courses: Vec<Course>,
    pub(super) sizes: Vec<usize>,
    /// How often everybody sends a burst as fast as it can.
    pub(super) rounds: usize,
    /// How often all are started for them: processes differ for as long as they live.
    pub(super) starts: usize,
    pub(super) burst_ms: u64,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments) -> Result<Self, String> {
        let wanted = |it: &&Flow| arguments.wants(&it.name());
        let flows: Vec<Flow> = FLOWS.iter().filter(wanted).copied().collect();
        if flows.is_empty() {
            let names: Vec<String> = FLOWS.iter().map(|it| it.name()).collect();
            return Err(format!(
                "nobody of this name; there are: {}",
                names.join(", ")
            ));
        }
        let usual = if arguments.quick {
            &SIZES_QUICK[..]
        } else {
            &SIZES[..]
        };
        Ok(Self {
            flows,
            courses: Course::wanted(arguments)?,
            sizes: match arguments.sizes.as_slice() {
                [] => usual.to_vec(),
                sizes => sizes.to_vec(),
            },
            rounds: if arguments.quick { 2 } else { 12 },
            starts: if arguments.quick { 1 } else { 4 },
            burst_ms: if arguments.quick { 200 } else { 400 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_narrow_the_plan() {
        let plan = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            Plan::new(&Arguments::parse(&words).unwrap())
        };
        assert_eq!(plan("throughput").unwrap().sizes, SIZES);
        assert_eq!(plan("throughput --quick").unwrap().sizes, SIZES_QUICK);
        let narrow = plan("throughput --contestant batched --sizes 32").unwrap();
        assert_eq!((narrow.flows.len(), narrow.sizes), (3, vec![32]));
        assert!(plan("throughput --contestant nobody").is_err());
        let hosts = plan("throughput --placement two-hosts").unwrap();
        assert_eq!(hosts.courses, [Course::OTHER_HOST]);
        assert!(plan("throughput --placement free").is_err());
    }
}
