//! `whimbrel config`: the settings in force, where they come from, and what is wrong with them.

use serde::Serialize;
use whimbrel::domain::{EnvironmentProblem, Setting, SettingSource, environment_problems};

use crate::bus;
use crate::failure::Failure;
use crate::options::{BusOptions, ConfigTask};
use crate::output::{Output, Style, clean, count_of};

/// A setting, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row {
    setting: &'static str,
    value: String,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'static str>,
    allowed: &'static str,
}

/// Something that is not understood, as JSON shows it.
#[derive(Serialize, Debug)]
struct Problem {
    problem: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<String>,
}

pub(crate) fn run(
    options: &BusOptions,
    task: ConfigTask,
    output: &mut Output,
) -> Result<(), Failure> {
    match task {
        ConfigTask::Show => show(options, output),
        ConfigTask::Check => check(options, output),
    }
}

fn show(options: &BusOptions, output: &mut Output) -> Result<(), Failure> {
    // The name is the command's own, not a setting of whoever asks.
    let settings = bus::builder(options, "config")?.settings()?;
    let rows = settings.iter().filter(|it| it.name != "name").map(row);
    if output.json {
        return rows.into_iter().try_for_each(|row| output.object(&row));
    }
    let cells = |row: Row| {
        let source = match row.variable {
            Some(variable) if row.source == "environment" => format!("environment {variable}"),
            _ => row.source.into(),
        };
        vec![row.setting.into(), clean(&row.value), source]
    };
    let cells: Vec<Vec<String>> = rows.map(cells).collect();
    output.table(&["SETTING", "VALUE", "SOURCE"], &cells)
}

fn row(setting: &Setting) -> Row {
    Row {
        setting: setting.name,
        value: setting.value.clone(),
        source: match setting.source {
            SettingSource::Default => "default",
            SettingSource::Environment(_) => "environment",
            // What tools tell the builder are their options.
            _ => "option",
        },
        variable: setting.variable,
        allowed: setting.allowed,
    }
}

fn check(options: &BusOptions, output: &mut Output) -> Result<(), Failure> {
    let mut problems: Vec<Problem> = environment_problems()
        .into_iter()
        .map(of_variable)
        .collect();
    let mut warnings = Vec::new();
    if problems.is_empty() {
        let checked = bus::builder(options, "config").and_then(|it| Ok(it.check()?));
        match checked {
            Ok(found) => warnings = found,
            Err(failure) => problems.push(of_options(failure)),
        }
    }
    for warning in warnings {
        let text = clean(&warning.to_string());
        if output.json {
            output.object(&serde_json::json!({ "warning": text }))?;
        } else {
            output.line(&format!(
                "{}  {text}",
                output.paint(Style::Warning, "warning")
            ))?;
        }
    }
    for problem in &problems {
        if output.json {
            output.object(problem)?;
        } else {
            let mark = output.paint(Style::Bad, "wrong");
            output.line(&format!("{mark}  {}", clean(&problem.problem)))?;
        }
    }
    if problems.is_empty() {
        if !output.json {
            output.line(&output.paint(Style::Good, "every setting is understood"))?;
        }
        return Ok(());
    }
    let count = count_of(problems.len(), "problem");
    Err(Failure::Usage(format!("{count} in the settings")))
}

fn of_variable(problem: EnvironmentProblem) -> Problem {
    Problem {
        problem: problem.to_string(),
        variable: Some(problem.variable),
        value: Some(problem.value),
        position: problem.position,
        allowed: Some(problem.allowed),
    }
}

/// What keeps a participant with these options from being made, before it touches the network.
fn of_options(failure: Failure) -> Problem {
    Problem {
        problem: failure.text(),
        variable: None,
        value: None,
        position: None,
        allowed: None,
    }
}
