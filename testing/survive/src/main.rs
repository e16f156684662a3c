//! `whimbrel-survive NAME [--seconds S] [--full]`: runs one proof; its last line is the figure.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Duration;

use whimbrel_survive::PROOFS;
use whimbrel_survive::proof::{Proof, Share};

const SECONDS: f64 = 8.0;
const USAGE: &str = "usage: whimbrel-survive NAME [--seconds S] [--full]\n       \
                     whimbrel-survive child NAME WORD...   (a proof calls itself so)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("{why}\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<ExitCode, String> {
    let (name, rest) = words.split_first().ok_or("which proof?")?;
    if name == "child" {
        let (name, rest) = rest.split_first().ok_or("whose child?")?;
        let child = find(name)?
            .child
            .ok_or(format!("{name} has no processes of its own"))?;
        return Ok(child(rest));
    }
    let proof = find(name)?;
    let figure = (proof.run)(&share(rest)?);
    println!("{}", figure.text);
    Ok(if figure.held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn find(name: &str) -> Result<&'static Proof, String> {
    PROOFS
        .iter()
        .find(|proof| proof.name == name)
        .ok_or(format!("there is no proof {name}"))
}

fn share(words: &[String]) -> Result<Share, String> {
    let mut share = Share {
        time: Duration::from_secs_f64(SECONDS),
        full: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--full" => share.full = true,
            "--seconds" => {
                let text = words.next().ok_or("--seconds needs a number")?;
                share.time = text
                    .parse()
                    .ok()
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                    .ok_or(format!("{text} is not a number of seconds"))?;
            }
            _ => return Err(format!("what is {word}?")),
        }
    }
    Ok(share)
}

fn usage() -> String {
    let rows = PROOFS
        .iter()
        .map(|proof| format!("\n  {:<8} {}", proof.name, proof.claim));
    format!("{USAGE}{}", rows.collect::<String>())
}
