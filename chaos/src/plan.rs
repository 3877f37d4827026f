//! The schedule: which fault comes when, drawn from a seed. It knows nothing of servers or clocks.

use std::fmt;
use std::time::Duration;

/// The processes that are there all the time. Faults call them 0, 1 and 2; the one that joins and leaves is 3.
pub(crate) const MEMBERS: usize = 3;

/// After so many faults everything heals, and there is calm for a while.
const CALM_AFTER: u32 = 4;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Kill,
    Term,
    Pause,
    Join,
    BrokerTerm,
    BrokerKill,
    ClickHouseKill,
    ClickHouseError,
    ClickHouseStored,
    ClickHouseCut,
    ClickHouseHidden,
    ClickHouseSlow,
    ClickHouseHang,
    ClickHouseFreeze,
}

use Kind::{
    BrokerKill, BrokerTerm, ClickHouseCut, ClickHouseError, ClickHouseFreeze, ClickHouseHang,
    ClickHouseHidden, ClickHouseKill, ClickHouseSlow, ClickHouseStored, Join, Kill, Pause, Term,
};

const TABLE: [(Kind, &str, &str); 14] = [
    (
        Kill,
        "kill",
        "a process is killed (-9) and started again after 1 to 4 s",
    ),
    (
        Term,
        "term",
        "a process leaves in an orderly way (TERM) and comes again after 1 to 4 s",
    ),
    (
        Pause,
        "pause",
        "a process is frozen (STOP) for 12 to 16 s, longer than its session, and goes on as a zombie",
    ),
    (Join, "join", "a fourth process joins for 8 to 16 s"),
    (
        BrokerTerm,
        "broker-term",
        "the broker ends in an orderly way and starts again on the same data",
    ),
    (
        BrokerKill,
        "broker-kill",
        "the broker is killed (-9) and starts again on the same data",
    ),
    (
        ClickHouseKill,
        "clickhouse-kill",
        "ClickHouse is killed (-9) and starts again on the same data",
    ),
    (
        ClickHouseError,
        "clickhouse-error",
        "inserts are refused with an error",
    ),
    (
        ClickHouseStored,
        "clickhouse-stored",
        "inserts are answered with an error although they are stored",
    ),
    (
        ClickHouseCut,
        "clickhouse-cut",
        "inserts are stored and the connection is closed instead of an answer",
    ),
    (
        ClickHouseHidden,
        "clickhouse-hidden",
        "inserts are refused with status 200 and the error in header and text",
    ),
    (
        ClickHouseSlow,
        "clickhouse-slow",
        "inserts take 1 to 4 s longer",
    ),
    (
        ClickHouseHang,
        "clickhouse-hang",
        "inserts are given up by their sender, and stored later all the same",
    ),
    (
        ClickHouseFreeze,
        "clickhouse-freeze",
        "ClickHouse is frozen (STOP) for 6 to 14 s",
    ),
];

/// What a fault keeps busy: of these, one fault at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A process of the group.
    Member(usize),
    /// The broker.
    Broker,
    /// ClickHouse.
    ClickHouse,
}

impl Kind {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        TABLE[self as usize].1
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kinds that a run draws from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kinds {
    /// These; none is no fault at all.
    Some(Vec<Kind>),
    /// None: list them.
    Help,
}

impl Kinds {
    /// Reads `all`, `none`, `help`, or names with commas between them.
    pub(crate) fn parse(text: &str) -> Result<Kinds, String> {
        let all = || TABLE.iter().map(|(kind, ..)| *kind);
        match text {
            "help" => return Ok(Kinds::Help),
            "none" => return Ok(Kinds::Some(Vec::new())),
            "all" => return Ok(Kinds::Some(all().collect())),
            _ => {}
        }
        let mut kinds = Vec::new();
        for name in text.split(',').map(str::trim) {
            if matches!(name, "all" | "none" | "help") {
                return Err("`none` and `all` stand alone".to_owned());
            }
            let kind = all()
                .find(|kind| kind.name() == name)
                .ok_or_else(|| format!("there is no fault `{name}`; --faults help lists them"))?;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Ok(Kinds::Some(kinds))
    }

    /// What `--faults help` prints.
    pub(crate) fn help() -> String {
        TABLE
            .iter()
            .map(|(_, name, about)| format!("{name:18} {about}\n"))
            .collect()
    }
}

/// A fault to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) target: Target,
    /// How long after the one before it began.
    pub(crate) after: Duration,
    /// Before it everything heals, the group gets on with its work, and there is calm for so long.
    pub(crate) calm: Option<Duration>,
    /// How long it lasts.
    pub(crate) hold: Duration,
    /// How many inserts it hits.
    pub(crate) inserts: u32,
    /// The error that inserts get, or by how many milliseconds they are late.
    pub(crate) code: u32,
}

/// Errors of a server that is busy or ill; all of them pass.
const CODES: [u32; 6] = [209, 241, 242, 252, 202, 999];

/// Draws the faults of a run, without an end.
pub(crate) struct Plan {
    kinds: Vec<Kind>,
    random: fastrand::Rng,
    deck: Vec<Kind>,
    drawn: u32,
}

impl Plan {
    pub(crate) fn new(seed: u64, kinds: Vec<Kind>) -> Plan {
        Plan {
            kinds,
            random: fastrand::Rng::with_seed(seed),
            deck: Vec::new(),
            drawn: 0,
        }
    }

    fn millis(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.random.u64(range))
    }
}

impl Iterator for Plan {
    type Item = Fault;

    /// Every kind comes once before any comes again. None when there are no kinds.
    fn next(&mut self) -> Option<Fault> {
        if self.deck.is_empty() {
            self.deck.clone_from(&self.kinds);
            self.random.shuffle(&mut self.deck);
        }
        let kind = self.deck.pop()?;
        let member = self.random.usize(..MEMBERS);
        let target = match kind {
            Kill | Term | Pause => Target::Member(member),
            Join => Target::Member(MEMBERS),
            BrokerTerm | BrokerKill => Target::Broker,
            _ => Target::ClickHouse,
        };
        let hold = match kind {
            Pause => self.millis(12_000..16_000),
            Join => self.millis(8_000..16_000),
            ClickHouseFreeze => self.millis(6_000..14_000),
            Kill | Term | BrokerTerm | BrokerKill | ClickHouseKill => self.millis(1_000..4_000),
            // Time for the inserts to run into it.
            _ => self.millis(4_000..8_000),
        };
        let code = match kind {
            ClickHouseSlow => self.random.u32(1_000..4_000),
            ClickHouseHang => self.random.u32(12_000..20_000),
            _ => CODES[self.random.usize(..CODES.len())],
        };
        let calm = (self.drawn > 0 && self.drawn.is_multiple_of(CALM_AFTER))
            .then(|| self.millis(1_000..5_000));
        self.drawn += 1;
        Some(Fault {
            kind,
            target,
            after: self.millis(1_000..4_000),
            calm,
            hold,
            inserts: self.random.u32(2..7),
            code,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Kind> {
        match Kinds::parse("all") {
            Ok(Kinds::Some(kinds)) => kinds,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_table_has_every_kind_at_its_place() {
        for (at, (kind, ..)) in TABLE.iter().enumerate() {
            assert_eq!(*kind as usize, at);
        }
    }

    #[test]
    fn a_seed_gives_one_schedule_and_another_seed_another() {
        let plan = |seed| Plan::new(seed, all()).take(50).collect::<Vec<_>>();
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
    }

    #[test]
    fn every_kind_comes_once_before_any_comes_again() {
        let mut kinds: Vec<Kind> = Plan::new(7, all()).take(14).map(|f| f.kind).collect();
        kinds.sort_by_key(|kind| *kind as usize);
        assert_eq!(kinds, all());
        assert_eq!(
            Plan::new(7, vec![Pause])
                .take(9)
                .filter(|f| f.kind == Pause)
                .count(),
            9
        );
        assert_eq!(Plan::new(7, Vec::new()).next(), None);
    }
}
