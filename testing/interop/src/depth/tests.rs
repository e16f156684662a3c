use super::*;
use crate::matrix::cases::limit;
use std::collections::BTreeSet;

fn request(text: &str) -> Result<Request, String> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    Request::parse(&words)
}

#[test]
fn every_class_has_a_case_that_is_always_played() {
    for full in [false, true] {
        let jobs = plan::jobs(full, full);
        let classes: BTreeSet<&str> = jobs.iter().map(|job| job.class).collect();
        for class in &classes {
            assert!(
                jobs.iter().any(|job| job.class == *class && job.first),
                "{class}"
            );
        }
        let names: BTreeSet<String> = jobs.iter().map(Job::name).collect();
        assert_eq!(names.len(), jobs.len());
        for peer in [Peer::Cyclone, Peer::CyclonePy, Peer::FastDds] {
            for class in classes.iter().filter(|class| **class != "previous release") {
                let mut of_class = jobs.iter().filter(|job| job.class == *class);
                assert!(of_class.any(|job| job.has(peer)), "{class} {peer:?}");
            }
        }
    }
}

#[test]
fn nothing_is_played_that_a_peer_cannot() {
    for job in plan::jobs(true, true) {
        if let plan::Course::OfMatrix(of) = &job.course {
            assert_eq!(limit(of.case.name, of.pair), None, "{}", job.name());
        }
    }
}

#[test]
fn what_must_be_played_is_played_and_the_rest_as_time_allows() {
    let jobs = plan::jobs(false, false);
    let over = Instant::now();
    let mut picked = BTreeSet::new();
    let next = Mutex::new(0);
    let request = request("--seconds 1").unwrap();
    while let Some((number, _)) = pick(&jobs, &next, &request, over) {
        assert!(picked.insert(number));
    }
    let first: BTreeSet<usize> = (0..jobs.len()).filter(|it| jobs[*it].first).collect();
    assert_eq!(picked, first);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for text in [
        "--seconds 0",
        "--seconds",
        "--jobs 17",
        "--peer nobody",
        "--what 1",
    ] {
        assert!(request(text).is_err(), "{text}");
    }
}
