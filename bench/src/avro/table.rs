//! The table, and the line of ratios that are judged.

use std::collections::BTreeMap;

use super::callgrind::Instructions;
use super::rounds::{Times, median};
use super::variants::VARIANTS;

/// Our instructions are at most so many times those by hand ..
const INSTRUCTIONS_LIMIT: f64 = 1.1;

/// .. and our time.
const TIME_LIMIT: f64 = 1.15;

/// Ours and what it is judged by.
const JUDGED: [(&str, &str); 3] = [
    ("full", "instr_vs_hand"),
    ("projected", "instr_vs_hand_projected"),
    ("pushdown", "instr_vs_hand_pushdown"),
];

/// Prints all of it and tells whether the goals are met.
pub(crate) fn print(instructions: &Instructions, times: &BTreeMap<&'static str, Times>) -> bool {
    println!(
        "| variant | what | instructions | ns: median (min - max) | compared with | instructions | time |"
    );
    println!("|---|---|---|---|---|---|---|");
    for variant in VARIANTS {
        let Some(times) = times.get(variant.name) else {
            continue;
        };
        let own = instructions[variant.name];
        let (least, most) = times
            .nanos
            .iter()
            .fold((f64::MAX, 0.0f64), |(least, most), nanos| {
                (least.min(*nanos), most.max(*nanos))
            });
        println!(
            "| `{}` | {} | {own:.0} | {:.0} ({least:.0} - {most:.0}) | `{}` | {:.2} | {:.2} |",
            variant.name,
            variant.what,
            median(&times.nanos),
            variant.base,
            own / instructions[variant.base],
            median(&times.ratios),
        );
    }
    let mut met = true;
    let mut line = "avro:".to_owned();
    let mut slowest = 0.0f64;
    for (name, title) in JUDGED {
        let ratio = instructions[name] / instructions[base(name)];
        met &= ratio <= INSTRUCTIONS_LIMIT;
        line += &format!(" {title}={ratio:.2}");
        slowest = slowest.max(median(&times[name].ratios));
    }
    met &= slowest <= TIME_LIMIT;
    println!("{line} time_vs_hand={slowest:.2}");
    met
}

fn base(name: &str) -> &'static str {
    super::variants::find(name).map_or("", |variant| variant.base)
}
