//! Runs the cases of `ui`. See the documentation of the crate for what it compares and how to write the files anew.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use trybuild_tests::{Answer, Case, Mode, Outcome, Package, Project, judge, ui};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ui: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("ui: test");
        return Ok(true);
    }
    let cases = chosen(trybuild_tests::all(ui())?, &arguments);
    if cases.is_empty() {
        println!("ui: no case chosen");
        return Ok(true);
    }
    // A project of its own: cargo would turn its features on for all, and what is linked is in rustc's words.
    let (values, others): (Vec<Case>, Vec<Case>) = cases
        .iter()
        .cloned()
        .partition(|case| case.package == Package::Values);
    let mut toolchain = String::new();
    let mut answers = BTreeMap::new();
    for (name, cases) in [("project", others), ("values", values)] {
        if cases.is_empty() {
            continue;
        }
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let project = Project::write(ui(), scratch, name, &cases)?;
        toolchain = project.toolchain()?;
        answers.extend(project.check()?);
    }
    let answer = |case: &Case| answers.get(&case.target());

    let wish = env::var("SPATE_UI").unwrap_or_default();
    if wish == "write" {
        return write(&cases, &toolchain, answer);
    }
    let made_on = fs::read_to_string(ui().join("TOOLCHAIN"))?;
    let mode = match (wish.as_str(), made_on == toolchain) {
        ("", true) => Mode::Wording,
        ("", false) | ("codes", _) => Mode::Codes,
        (other, _) => return Err(format!("SPATE_UI is `write` or `codes`, not `{other}`").into()),
    };
    let mut wrong = 0;
    for case in &cases {
        let expected = expected(case)?;
        // What is right word for word is also right on another toolchain, or that comparison is broken.
        let modes = [mode, Mode::Codes];
        let problem = modes
            .into_iter()
            .find_map(|mode| judge(case, mode, &expected, answer(case)));
        if let Some(problem) = problem {
            println!("ui: {} is wrong\n{problem}", case.path);
            wrong += 1;
        }
    }
    let passing = cases
        .iter()
        .filter(|case| case.outcome == Outcome::Pass)
        .count();
    println!(
        "ui: {} cases that fail, {passing} that pass, {wrong} wrong ({})",
        cases.len() - passing,
        match mode {
            Mode::Wording => "every word compared",
            Mode::Codes => "only our own lines compared",
        }
    );
    if mode == Mode::Codes {
        println!(
            "ui: the wording of rustc's errors was not compared: this is {}, the files are of {}",
            toolchain.trim(),
            made_on.trim()
        );
    }
    if wrong > 0 {
        println!("ui: if the new messages are better, SPATE_UI=write writes them");
    }
    Ok(wrong == 0)
}

/// The cases whose path contains a word of the command line; all if there is none. Options of the usual test harness are
/// passed over.
fn chosen(cases: Vec<Case>, arguments: &[String]) -> Vec<Case> {
    const WITH_VALUE: [&str; 4] = ["--test-threads", "--skip", "--format", "--color"];
    let mut words = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            arguments.next();
        } else if !argument.starts_with('-') {
            words.push(argument.as_str());
        }
    }
    let is_chosen = |case: &Case| {
        words.is_empty()
            || words.contains(&"ui")
            || words.iter().any(|word| case.path.contains(word))
    };
    cases.into_iter().filter(is_chosen).collect()
}

fn expected(case: &Case) -> Result<String, Failure> {
    if case.outcome == Outcome::Pass {
        return Ok(String::new());
    }
    let file = case.stderr(ui());
    let text = fs::read_to_string(&file)
        .map_err(|error| format!("{}: {error}; SPATE_UI=write writes it", file.display()))?;
    Ok(text.replace("\r\n", "\n"))
}

fn write<'a>(
    cases: &[Case],
    toolchain: &str,
    answer: impl Fn(&Case) -> Option<&'a Answer>,
) -> Result<bool, Failure> {
    let mut wrong = 0;
    for case in cases {
        let said = answer(case).map_or("", |answer| &answer.said);
        if let Some(problem) = judge(case, Mode::Wording, said, answer(case)) {
            println!("ui: {} is wrong\n{problem}", case.path);
            wrong += 1;
        } else if case.outcome != Outcome::Pass {
            fs::write(case.stderr(ui()), said)?;
        }
    }
    fs::write(ui().join("TOOLCHAIN"), toolchain)?;
    println!("ui: {} cases written, {wrong} wrong", cases.len() - wrong);
    Ok(wrong == 0)
}
