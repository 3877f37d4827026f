//! What can go wrong, and the dice that decide when it does.
//!
//! Each seed draws its own subset of the faults and how often each comes: a run with few kinds gets deep into their
//! combinations, which a run with all of them would cut short.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $name:ident $theme:ident $per:literal,)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $($(#[doc = $doc])* $name,)* }

        impl Fault {
            /// All kinds.
            pub const ALL: &[Fault] = &[$(Fault::$name,)*];

            /// How often it comes at the middle intensity: so many times in 10,000 opportunities.
            fn base(self) -> u32 {
                match self { $(Fault::$name => $per,)* }
            }

            fn theme(self) -> Theme {
                match self { $(Fault::$name => Theme::$theme,)* }
            }
        }
    };
}

/// What a fault is about; some seeds have one theme alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    Source,
    Store,
    Group,
    Rest,
}

faults! {
    /// A fetch finds nothing although there is something.
    FetchNothing Source 1500,
    /// A fetch finds less than there is.
    FetchShort Source 2000,
    /// A fetch fails and may be repeated.
    FetchFails Source 300,
    /// A fetch fails for good.
    FetchFatal Source 6,
    /// A commit is answered with an error that may pass.
    CommitRefused Source 2000,
    /// A commit is answered late.
    CommitLate Source 2500,
    /// A commit is taken, but answered as refused.
    CommitTakenButRefused Source 1000,
    /// A commit is answered twice.
    CommitTwice Source 1000,
    /// The call that begins a commit fails.
    CommitNotBegun Source 1000,
    /// A commit is never answered.
    CommitLost Source 200,
    /// A commit is refused for good.
    CommitFatal Source 60,
    /// Polling the source fails and may be repeated.
    PollFails Source 100,
    /// Polling the source fails for good.
    PollFatal Source 2,
    /// Pausing or resuming lanes fails and may be repeated.
    PauseFails Source 1500,
    /// Giving lanes back fails.
    ReleaseFails Source 1000,
    /// A write takes long.
    WriteSlow Store 2000,
    /// A write fails and may be repeated.
    WriteFails Store 1500,
    /// A write fails for good.
    WriteFatal Store 15,
    /// A write is stored, but its answer is lost.
    WriteAnswerLost Store 1000,
    /// A write is stored in part and fails.
    WritePartly Store 800,
    /// A write neither ends nor fails.
    WriteHangs Store 60,
    /// The writer panics when a write begins.
    WritePanicsInCall Store 15,
    /// A write panics while it runs.
    WritePanicsInPoll Store 15,
    /// A write panics when it is dropped.
    WritePanicsOnDrop Store 30,
    /// A sink refuses everything for a while.
    SinkOutage Store 1000,
    /// A stage fails at some records, a few times each.
    KernelFails Rest 60,
    /// A stage panics at some records, a few times each.
    KernelPanics Rest 60,
    /// A batch has to wait for a schema.
    GateHolds Rest 800,
    /// A schema is refused for good.
    GateStops Rest 4,
    /// The members' partitions are dealt anew.
    Rebalance Group 2500,
    /// A member loses partitions without being asked.
    Lose Group 1000,
    /// A process dies at once.
    Kill Group 800,
    /// A process is asked to end.
    Shutdown Group 800,
    /// Another process joins.
    Join Group 1200,
    /// A machine does nothing for a while.
    SlowMachine Rest 2000,
    /// The clock jumps.
    ClockJumps Rest 800,
    /// The source tells of trouble.
    Trouble Source 1000,
}

/// The kinds of one seed and how often they come, in 10,000.
#[derive(Clone)]
pub(super) struct Rates(Vec<u32>);

impl fmt::Debug for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen = Fault::ALL.iter().filter(|fault| self.has(**fault));
        f.debug_map()
            .entries(chosen.map(|fault| (fault, self.of(*fault))))
            .finish()
    }
}

impl Rates {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        // From single faults to nearly all of them; some seeds have none. A seed with a theme has nothing else.
        let share = [0.0, 0.1, 0.1, 0.25, 0.25, 0.5, 0.9][rng.usize(0..7)];
        let theme = [
            None,
            None,
            None,
            Some(Theme::Group),
            Some(Theme::Store),
            Some(Theme::Source),
        ];
        let theme = theme[rng.usize(0..theme.len())];
        let all = [0.3, 1.0, 1.0, 2.5][rng.usize(0..4)];
        let draw = |fault: &Fault| {
            let chosen = match theme {
                Some(theme) => fault.theme() == theme && rng.u32(0..4) > 0,
                None => rng.f64() < share,
            };
            let own = [0.3, 1.0, 3.0][rng.usize(0..3)];
            match chosen {
                true => ((f64::from(fault.base()) * all * own) as u32).clamp(1, 6000),
                false => 0,
            }
        };
        Rates(Fault::ALL.iter().map(draw).collect())
    }

    pub(super) fn of(&self, fault: Fault) -> u32 {
        self.0[fault as usize]
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.of(fault) > 0
    }
}

/// What all dice of a run share.
#[derive(Debug)]
pub(super) struct Weather {
    pub(super) rates: Rates,
    /// No faults any more: what is whole now has to come to its end.
    quiet: AtomicBool,
    injected: Vec<AtomicU64>,
}

impl Weather {
    pub(super) fn new(rates: Rates) -> Arc<Self> {
        Arc::new(Weather {
            rates,
            quiet: AtomicBool::new(false),
            injected: Fault::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
        })
    }

    pub(super) fn clear_up(&self) {
        self.quiet.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed)
    }

    /// How often each kind came.
    pub(super) fn injected(&self) -> impl Iterator<Item = (Fault, u64)> {
        let counts = self.injected.iter().map(|n| n.load(Ordering::Relaxed));
        Fault::ALL.iter().copied().zip(counts)
    }

    /// Whether nothing has gone wrong so far.
    pub(super) fn was_calm(&self) -> bool {
        self.injected().all(|(_, count)| count == 0)
    }

    pub(super) fn count(&self, fault: Fault) {
        self.injected[fault as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// One generator of a run: every double has its own, so that what one of them draws moves no other.
pub(super) struct Dice {
    pub(super) rng: Rng,
    weather: Arc<Weather>,
}

impl Dice {
    pub(super) fn new(rng: &mut Rng, weather: &Arc<Weather>) -> Self {
        Dice {
            rng: Rng::with_seed(rng.u64(..)),
            weather: Arc::clone(weather),
        }
    }

    /// Whether the fault comes now.
    pub(super) fn hits(&mut self, fault: Fault) -> bool {
        let rate = self.weather.rates.of(fault);
        if rate == 0 || self.weather.is_quiet() {
            return false;
        }
        let hit = self.rng.u32(0..10_000) < rate;
        if hit {
            self.weather.count(fault);
        }
        hit
    }

    /// A duration of so many milliseconds; short ones are likelier.
    pub(super) fn millis(&mut self, least: u64, most: u64) -> std::time::Duration {
        let span = (most.max(least + 1) - least) as f64;
        let part = self.rng.f64();
        std::time::Duration::from_millis(least + (span * part * part * part) as u64)
    }
}
