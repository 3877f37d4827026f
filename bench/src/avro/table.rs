//! The table, and the line of ratios that are judged.

use std::collections::BTreeMap;

use super::rounds::{Times, median};

/// Our instructions are at most so many times those by hand ..
const INSTRUCTIONS_LIMIT: f64 = 1.1;

/// .. and our time.
const TIME_LIMIT: f64 = 1.15;

/// Ours, and what it is judged by.
const JUDGED: [(&str, &str); 4] = [
    ("full", "instr_vs_hand"),
    ("projected", "instr_vs_hand_projected"),
    ("pushdown", "instr_vs_hand_pushdown"),
    ("logical", "instr_vs_hand_logical"),
];

/// Ours of another schema than the writer's: the worst of them is judged.
const RESOLVING: [&str; 4] = [
    "resolving",
    "resolving_new_field",
    "resolving_reordered",
    "resolving_lines",
];

/// Records of another schema take at most so many times the instructions of one of the compiled schema.
const RESOLVING_LIMIT: f64 = 2.5;

/// Libraries with what they are judged by, and how many times our instructions they take at least.
const OTHERS: [(&str, &str, f64); 2] = [
    ("spate_best", "spate_best_vs_us", 5.0),
    ("spate_default", "spate_default_vs_us", 20.0),
];

/// A variant or a library, measured.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Whom it is compared with.
    pub(crate) base: &'static str,
    pub(crate) instructions: f64,
    pub(crate) times: Times,
}

/// Prints all of it and tells whether the goals are met.
pub(crate) fn print(measured: &[Measured]) -> bool {
    let all: BTreeMap<&str, &Measured> = measured.iter().map(|one| (one.name, one)).collect();
    let ratio = |name: &str| all[name].instructions / all[all[name].base].instructions;
    println!("| | what | instructions | ns | compared with | instructions | time |");
    println!("|---|---|---|---|---|---|---|");
    for one in measured {
        let nanos = &one.times.nanos;
        let least = nanos.iter().copied().fold(f64::MAX, f64::min);
        let most = nanos.iter().copied().fold(0.0, f64::max);
        println!(
            "| `{}` | {} | {:.0} | {:.0} ({least:.0} - {most:.0}) | `{}` | {:.2} | {:.2} |",
            one.name,
            one.what,
            one.instructions,
            median(nanos),
            one.base,
            ratio(one.name),
            median(&one.times.ratios),
        );
    }
    let mut met = true;
    let mut line = "avro:".to_owned();
    let mut slowest = 0.0f64;
    for (name, title) in JUDGED {
        met &= ratio(name) <= INSTRUCTIONS_LIMIT;
        line += &format!(" {title}={:.2}", ratio(name));
        slowest = slowest.max(median(&all[name].times.ratios));
    }
    met &= slowest <= TIME_LIMIT;
    line += &format!(" time_vs_hand={slowest:.2}");
    for (name, title, least) in OTHERS {
        if all.contains_key(name) {
            met &= ratio(name) >= least;
            line += &format!(" {title}={:.2}", ratio(name));
        }
    }
    let resolving = RESOLVING.iter().copied().map(ratio).fold(0.0, f64::max);
    met &= resolving <= RESOLVING_LIMIT;
    line += &format!(" resolving_vs_straight={resolving:.2}");
    println!("{line}");
    met
}
