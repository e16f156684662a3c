//! The three forms of output, equal to those of the original.
//!
//! What it does wrong is not copied: JSON always has its outer brackets, and tests in which nothing
//! arrived have rows of zeros or none, never a division by zero.

mod csv;
mod form;
mod json;
mod legacy;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::Failure;
use form::Layout;
pub(crate) use form::{
    Form, Format, Latencies, LatencySummary, ThroughputInterval, ThroughputSummary,
};

/// Prints to standard output or a file.
pub(crate) struct Printer {
    layout: Box<dyn Layout>,
    sink: Box<dyn Write + Send>,
    intervals: bool,
    ended: bool,
    error: Option<io::Error>,
}

impl Printer {
    /// Appends to `file`, or writes to standard output.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub(crate) fn new(form: Form, file: Option<&Path>) -> Result<Self, Failure> {
        let sink: Box<dyn Write + Send> = match file {
            None => Box::new(io::stdout()),
            Some(path) => {
                let opened = OpenOptions::new().append(true).create(true).open(path);
                let name = path.display().to_string();
                Box::new(opened.map_err(Failure::run(&format!("-outputFile {name}")))?)
            }
        };
        Ok(Self::to(form, sink))
    }

    fn to(form: Form, sink: Box<dyn Write + Send>) -> Self {
        let layout: Box<dyn Layout> = match form.format {
            Format::Csv => Box::new(csv::Csv::new(form)),
            Format::Json => Box::new(json::Json::new(form)),
            Format::Legacy => Box::new(legacy::Legacy::new(form)),
        };
        Self {
            layout,
            sink,
            intervals: form.intervals,
            ended: false,
            error: None,
        }
    }

    pub(crate) fn begin(&mut self) {
        let text = self.layout.begin();
        self.put(&text);
    }

    pub(crate) fn latency_header(&mut self, length: usize) {
        let text = self.layout.latency_header(length);
        self.put(&text);
    }

    /// One latency, and all so far.
    pub(crate) fn latency_interval(
        &mut self,
        length: usize,
        latest: u64,
        all: Latencies,
        cpu: f64,
    ) {
        if self.intervals {
            let text = self.layout.latency_interval(length, latest, all, cpu);
            self.put(&text);
        }
    }

    pub(crate) fn latency_summary(&mut self, summary: &LatencySummary) {
        let text = self.layout.latency_summary(summary);
        self.put(&text);
    }

    pub(crate) fn throughput_header(&mut self, length: usize) {
        let text = self.layout.throughput_header(length);
        self.put(&text);
    }

    pub(crate) fn throughput_interval(&mut self, interval: &ThroughputInterval) {
        if self.intervals {
            let text = self.layout.throughput_interval(interval);
            self.put(&text);
        }
    }

    pub(crate) fn throughput_summary(&mut self, summary: &ThroughputSummary) {
        let text = self.layout.throughput_summary(summary);
        self.put(&text);
    }

    /// Ends the output, once.
    ///
    /// # Errors
    /// Anything that could not be written, now or before.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.ended, true) {
            let text = self.layout.end();
            self.put(&text);
        }
        let error = self.error.take();
        error.map_or(Ok(()), |error| Err(Failure::run("writing results")(error)))
    }

    fn put(&mut self, text: &str) {
        let written = self.sink.write_all(text.as_bytes());
        if let Err(error) = written.and_then(|()| self.sink.flush()) {
            // The test goes on: its end tells, and a summary may still find room.
            self.error.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests;
