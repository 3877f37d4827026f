//! The command line.

use clap::{Parser, ValueEnum};

use crate::plan::Kinds;

const ABOUT: &str = "\
Runs a group of pipeline processes from Apache Kafka into ClickHouse while one
after the other is killed, frozen, cut off or made to fail, and audits from
outside that nothing is lost and that no offset is committed whose rows are not
in the table.

Everything runs on this machine (Java 17, Maven, python3), on free ports of
127.0.0.1, and ends with this program.";

const AFTER: &str = "\
The last line tells the outcome:
  chaos: seed=S faults=N produced=P distinct=D missing=0 duplicates=X commits_past_durable=0

Exit codes:
  0    everything is there, and was before it was committed
  1    a promise is broken: rows are missing or wrong, a commit ran ahead, a
       process ended that nobody had ended, or the group did not recover
  2    the command line is wrong, or the servers did not work
  130  interrupted

The seed gives the schedule; the moments differ from run to run, as processes do.";

/// What the user asked for.
#[derive(Debug, Clone, Parser)]
#[command(name = "chaos", about = ABOUT, long_about = None, after_help = AFTER, next_line_help = true)]
pub(crate) struct Options {
    /// How long faults happen, at most: the run ends earlier when all records are in the table
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(5..=86_400))]
    pub(crate) seconds: u64,

    /// How many records are produced, spread over the time, as far as the group keeps up
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u32).range(1_000..=100_000_000))]
    pub(crate) records: u32,

    /// Repeats the schedule of an earlier run [default: a random one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// The kinds of faults: `all`, `none`, or some of those that `--faults help` lists
    #[arg(long, value_name = "KIND,..", default_value = "all", value_parser = Kinds::parse)]
    pub(crate) faults: Kinds,

    /// How partitions are assigned [default: drawn by the seed]
    #[arg(long, value_name = "HOW")]
    pub(crate) group: Option<Assignment>,

    /// Keep the folder with the logs of all processes; it is kept anyway when the exit code is not 0
    #[arg(long)]
    pub(crate) keep: bool,

    /// Break a promise on purpose, to see that it is noticed
    #[arg(long, value_name = "WHAT", hide = true)]
    pub(crate) plant: Option<Plant>,
}

/// How the partitions of the group are assigned to its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Assignment {
    /// All partitions are taken back and given anew.
    Eager,
    /// Single partitions move.
    Cooperative,
    /// Single partitions move, and every process has a name of its own in the group.
    Static,
    /// By the broker.
    Consumer,
}

impl Assignment {
    /// The one that belongs to a seed.
    pub(crate) fn drawn(seed: u64) -> Assignment {
        let all = Assignment::value_variants();
        // Not the numbers that draw the schedule.
        all[fastrand::Rng::with_seed(!seed).usize(..all.len())]
    }
}

/// A promise broken on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plant {
    /// Commit offsets whose rows are not in the table.
    EarlyCommit,
    /// Delete a row.
    MissingRow,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
        let options = Options::try_parse_from(["chaos"]).unwrap();
        assert_eq!((options.seconds, options.records), (600, 2_000_000));
        assert!(options.plant.is_none() && !options.keep);
    }

    #[test]
    fn seeds_draw_every_way_of_assigning() {
        let drawn: Vec<_> = (0..50).map(Assignment::drawn).collect();
        for assignment in Assignment::value_variants() {
            assert!(drawn.contains(assignment), "{assignment:?}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_can() {
        for (arguments, says) in [
            (&["--seconds", "1"][..], "1 is not in 5..=86400"),
            (&["--records", "many"], "invalid digit"),
            (
                &["--faults", "kil"],
                "there is no fault `kil`; --faults help lists them",
            ),
            (&["--faults", "none,kill"], "`none` and `all` stand alone"),
            (&["--sede", "1"], "'--seed'"),
        ] {
            let all = std::iter::once("chaos").chain(arguments.iter().copied());
            let text = Options::try_parse_from(all).unwrap_err().to_string();
            assert!(text.contains(says), "{arguments:?}: {text}");
        }
    }
}
