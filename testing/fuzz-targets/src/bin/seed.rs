//! Writes the seeds into the corpora: `seed`. Files found by fuzzing are left alone, and so is the
//! recorded exchange of two participants, unless it is asked for: `seed record`.

use std::fs;
use std::io;

use whimbrel_fuzz_targets::{corpus, record, seeds};

fn main() -> io::Result<()> {
    let all = seeds::all();
    for seed in &all {
        let folder = corpus::folder().join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.file_name()), &seed.bytes)?;
    }
    if std::env::args().any(|argument| argument == "record") {
        let path = corpus::folder().join("participant/recorded-exchange");
        fs::write(path, record::exchange())?;
    }
    println!("{} seeds", all.len());
    Ok(())
}
