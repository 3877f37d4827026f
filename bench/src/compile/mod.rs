//! What pipelines cost to compile.
//!
//! For each case two crates are generated that do the same work: one with `pipeline!`, one with loops written by hand over the same
//! derived types. Both are checked and built by cargo, the dependencies beforehand, and the CPU time of cargo's children is compared:
//! as ratios within one run, each the least of several rounds that take turns.

mod generate;
mod project;

use std::path::PathBuf;

use generate::{Case, Style};
use project::{Action, Project};

/// Options of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often each crate is compiled; the least time counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// Where the generated crates go [default: target/bench/compile]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{path}: {error}")]
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("cargo could not be started: {0}")]
    Cargo(std::io::Error),
    #[error("a generated crate does not compile ({dir}):\n{output}")]
    Broken { dir: PathBuf, output: String },
    #[error("the CPU time of children cannot be read from /proc/self/stat")]
    Clock,
}

/// At most this much more than the loop by hand.
const CHECK_LIMIT: f64 = 3.0;

/// Four times the stages cost less than so much more.
const LINEAR_LIMIT: f64 = 5.0;

const PIPELINES: [Case; 3] = [
    Case {
        pipelines: 40,
        stages: 10,
        fields: 8,
    },
    Case {
        pipelines: 8,
        stages: 50,
        fields: 8,
    },
    Case {
        pipelines: 8,
        stages: 200,
        fields: 8,
    },
];

const WIDE: Case = Case {
    pipelines: 2,
    stages: 4,
    fields: 200,
};

/// Measures, prints the table, and tells whether all limits hold.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let dir = options
        .dir
        .clone()
        .unwrap_or_else(|| root.join("target/bench/compile"));
    let project = Project::new(&root, &dir)?;
    println!("compile: building the dependencies in {}", dir.display());
    let cases: Vec<Case> = PIPELINES.into_iter().chain([WIDE]).collect();
    let empty = project.write("empty", &generate::empty())?;
    for action in Action::BOTH {
        project.time(&empty, action)?;
    }
    let mut rows = Vec::new();
    for case in &cases {
        let macros = project.write(
            &case.name(Style::Macro),
            &generate::files(case, Style::Macro),
        )?;
        let by_hand =
            project.write(&case.name(Style::Hand), &generate::files(case, Style::Hand))?;
        let mut row = Row {
            case: *case,
            check: [f64::MAX; 2],
            build: [f64::MAX; 2],
        };
        for _ in 0..options.rounds {
            for (n, made) in [&macros, &by_hand].into_iter().enumerate() {
                row.check[n] = row.check[n].min(project.time(made, Action::Check)?);
                row.build[n] = row.build[n].min(project.time(made, Action::Build)?);
            }
        }
        row.print();
        rows.push(row);
    }
    let linear = rows[2].check[0] / rows[1].check[0];
    let worst = rows
        .iter()
        .map(|row| row.check[0] / row.check[1])
        .fold(0.0, f64::max);
    println!(
        "compile: check_vs_hand={worst:.2} (at most {CHECK_LIMIT}) t200_vs_t50={linear:.2} (below {LINEAR_LIMIT})"
    );
    Ok(worst <= CHECK_LIMIT && linear < LINEAR_LIMIT)
}

struct Row {
    case: Case,
    /// Seconds with the macro and by hand.
    check: [f64; 2],
    build: [f64; 2],
}

impl Row {
    fn print(&self) {
        let Case {
            pipelines,
            stages,
            fields,
        } = self.case;
        let [[check, check_hand], [build, build_hand]] = [self.check, self.build];
        println!(
            "{pipelines:>3} pipelines of {stages:>3} stages, {fields:>3} fields: check {check:6.2} s, by hand {check_hand:6.2} s, {:4.2}x; \
             build {build:6.2} s, by hand {build_hand:6.2} s, {:4.2}x",
            check / check_hand,
            build / build_hand
        );
    }
}
