//! Writes the seeds into the corpora: `seed`. Files found by fuzzing are left alone.

use std::fs;
use std::io;

use whimbrel_fuzz_targets::{corpus, seeds};

fn main() -> io::Result<()> {
    let all = seeds::all();
    for seed in &all {
        let folder = corpus::folder().join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.file_name()), &seed.bytes)?;
    }
    println!("{} seeds", all.len());
    Ok(())
}
