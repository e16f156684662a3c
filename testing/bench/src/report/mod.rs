//! What a bench found, as text, CSV and JSON.

mod csv;
mod json;
mod record;
mod table;

use std::fs;
use std::path::Path;

use crate::goal::Goal;
use crate::machine::Facts;

pub use record::{Record, Value};
pub use table::Table;

/// Everything that a run found.
#[derive(Debug)]
pub struct Report {
    /// Which bench.
    pub name: &'static str,
    /// The machine, versions and settings.
    pub facts: Facts,
    /// For people.
    pub tables: Vec<Table>,
    /// For programs.
    pub records: Vec<Record>,
    /// What was judged.
    pub goals: Vec<Goal>,
    /// Something that usually runs was left out or cut short.
    pub partial: bool,
}

impl Report {
    /// Whether every goal was met.
    pub fn met(&self) -> bool {
        self.goals.iter().all(Goal::met)
    }

    /// Facts, tables and goals.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.name);
        for (name, value) in &self.facts {
            text.push_str(&format!("{name}: {value}\n"));
        }
        for table in &self.tables {
            text.push_str(&format!("\n{table}"));
        }
        text.push('\n');
        for goal in &self.goals {
            text.push_str(&format!("{goal}\n"));
        }
        let missed = self.goals.iter().filter(|it| !it.met()).count();
        let met = self.goals.len() - missed;
        text.push_str(&format!("goals: {met} met, {missed} missed"));
        text.push_str(if self.partial {
            ", of a partial run\n"
        } else {
            "\n"
        });
        text
    }

    fn json(&self) -> String {
        json::text(
            self.name,
            self.partial,
            &self.facts,
            &self.records,
            &self.goals,
        )
    }

    /// Writes `NAME.txt`, `NAME.csv` and `NAME.json` into `folder`.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (ending, text) in [
            ("txt", self.text()),
            ("csv", csv::text(&self.facts, &self.records)),
            ("json", self.json()),
        ] {
            let path = folder.join(format!("{}.{ending}", self.name));
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
