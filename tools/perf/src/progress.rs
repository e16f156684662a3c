//! A bar with the time left, where somebody looks.

use indicatif::{ProgressBar, ProgressStyle};

/// The bar of a scenario; nothing where standard error is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `steps` steps.
    pub(crate) fn new(name: &str, steps: u64) -> Self {
        let bar = ProgressBar::new(steps);
        let template = "{prefix} [{bar:30}] {pos}/{len}, {eta} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(name.to_owned());
        Self { bar }
    }

    /// One step is done.
    pub(crate) fn step(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
