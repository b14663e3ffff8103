//! One simulated session from its first prompt to its end, through crashes and resumes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tillerman_engine::{Activity, Beginning, Effect, Input, Restored, Session};

use super::fault::{Checked, Fault, ensure};
use super::setup::Stage;
use super::watch::Watch;
use super::world::{Move, World};

/// Steps within which a session whose input is closed must end once everybody answers.
const MOST_CLOSING_STEPS: u32 = 600;

/// What a simulated session amounted to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    pub(super) restarts: u64,
    /// How often rounds ended in which way.
    pub(super) endings: BTreeMap<String, u64>,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.restarts += other.restarts;
        for (reason, count) in &other.endings {
            *self.endings.entry(reason.clone()).or_default() += count;
        }
    }
}

/// How one process of a session ended.
enum Outcome {
    Ended,
    Crashed,
}

/// Runs sessions; with a trace it tells what happens.
pub(super) struct Runner {
    stage: Stage,
    traced: bool,
}

struct Run {
    world: World,
    watch: Watch,
    tally: Tally,
    traced: bool,
}

impl Runner {
    pub(super) fn new(traced: bool) -> Self {
        Self { stage: Stage::new(), traced }
    }

    /// Runs the session that a seed determines.
    pub(super) fn run(&self, seed: u64) -> Result<Tally, Fault> {
        let (world, watch) = (World::new(seed), Watch::new(seed));
        let mut run = Run { world, watch, tally: Tally::default(), traced: self.traced };
        run.all(&self.stage).map_err(|Fault { check, detail }| {
            let step = run.tally.steps;
            Fault { check, detail: format!("seed {seed}, step {step}: [{check}] {detail}") }
        })?;
        run.tally.endings = run.watch.endings();
        Ok(run.tally)
    }
}

impl Run {
    fn all(&mut self, stage: &Stage) -> Checked {
        let mut restored = Restored::default();
        for process in 0..4 {
            let config = stage.config(&mut self.world.dice);
            self.tell(|| format!("process {process}: {:?} {:?}", config.limits, config.hooked));
            let mut session = Session::new(config, restored);
            let outcome = self.process(&mut session, process < 3)?;
            let again = matches!(outcome, Outcome::Crashed) || self.world.dice.chance(20);
            if !again {
                return Ok(());
            }
            self.tally.restarts += 1;
            self.world.crash();
            restored = self.watch.restart()?;
        }
        Ok(())
    }

    /// Runs one process: a while of anything, then an orderly end; or a crash somewhere.
    fn process(&mut self, session: &mut Session, may_crash: bool) -> Result<Outcome, Fault> {
        let begun = Input::Begun(Beginning::default());
        self.step(session, Move::Fresh(begun), false)?;
        let wild = 10 + self.world.dice.below(90);
        let crash_at =
            (may_crash && self.world.dice.chance(60)).then(|| self.world.dice.below(wild + 20));
        for step in 0..wild {
            let Some(next) = self.world.next() else { break };
            if self.step(session, next, crash_at.is_some_and(|at| step >= at))? {
                return Ok(Outcome::Crashed);
            }
            if session.activity() == Activity::Ended {
                return self.after_end(session);
            }
        }
        self.world.kind = true;
        self.step(session, Move::Fresh(Input::InputClosed), false)?;
        for _ in 0..MOST_CLOSING_STEPS {
            if session.activity() == Activity::Ended {
                return self.after_end(session);
            }
            let Some(next) = self.world.next() else {
                let detail = "the session waits for something that nobody was asked for".to_owned();
                return Err(Fault { check: "closing-leads-to-the-end", detail });
            };
            let crash = may_crash && self.world.dice.chance(1);
            if self.step(session, next, crash)? {
                return Ok(Outcome::Crashed);
            }
        }
        let detail = format!("no end after {MOST_CLOSING_STEPS} steps");
        Err(Fault { check: "closing-leads-to-the-end", detail })
    }

    /// Takes one step; true when the process died in it.
    fn step(&mut self, session: &mut Session, next: Move, crash: bool) -> Result<bool, Fault> {
        self.tally.steps += 1;
        let input = match next {
            Move::Fresh(input) => input,
            Move::Stale(input) => return self.ignore(session, input).map(|()| false),
        };
        self.tell(|| format!("> {input:?}"));
        self.watch.hear(&input, session);
        let mut effects = session.step(self.world.tick(), input);
        if crash {
            effects.truncate(self.world.dice.index(effects.len() + 1));
        }
        for effect in &effects {
            self.tell(|| format!("  < {}", brief(effect)));
            self.watch.see(effect, session)?;
            self.world.carry_out(effect)?;
        }
        if crash {
            self.tell(|| "  crash".to_owned());
            return Ok(true);
        }
        self.watch.check(session, &self.world.flight)?;
        Ok(false)
    }

    /// Delivers a report that the session must not care about.
    fn ignore(&mut self, session: &mut Session, input: Input) -> Checked {
        self.tell(|| format!("> (stale) {input:?}"));
        let now = self.world.tick();
        // The clock is part of the state, so it is moved before the comparison.
        let moved = session.step(now, Input::PromptWithdrawn("nobody's".into()));
        ensure(moved.is_empty(), "unknown-withdrawals-change-nothing", || format!("{moved:?}"))?;
        let look = |session: &Session, closely: bool| {
            let mut text = String::new();
            if closely {
                let _ = write!(text, "{session:?}");
            }
            (text, session.activity(), session.queued(), session.conversation().messages().to_vec())
        };
        let closely = self.world.dice.chance(12);
        let before = look(session, closely);
        let effects = session.step(now, input);
        ensure(effects.is_empty(), "stale-reports-change-nothing", || format!("{effects:?}"))?;
        let after = look(session, closely);
        ensure(before == after, "stale-reports-change-nothing", || format!("{before:?} {after:?}"))
    }

    /// Whatever comes after the end is met with silence.
    fn after_end(&mut self, session: &mut Session) -> Result<Outcome, Fault> {
        for _ in 0..4 {
            let input = match self.world.next() {
                Some(Move::Fresh(input) | Move::Stale(input)) => input,
                None => Input::Interrupted,
            };
            let effects = session.step(self.world.now(), input);
            ensure(effects.is_empty(), "nothing-follows-the-end", || format!("{effects:?}"))?;
        }
        Ok(Outcome::Ended)
    }

    fn tell(&self, text: impl FnOnce() -> String) {
        if self.traced {
            println!("{}", text());
        }
    }
}

fn brief(effect: &Effect) -> String {
    match effect {
        Effect::CallModel { response, request } => {
            format!("CallModel {response:?} with {:#?}", request.messages)
        }
        effect => format!("{effect:?}"),
    }
}
