//! What happened in simulated trees, counted.

/// What trees amounted to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    pub(super) agents: u64,
    pub(super) promoted: u64,
    pub(super) interrupted: u64,
    pub(super) restarts: u64,
    pub(super) refused: u64,
    pub(super) waited: u64,
    pub(super) reported: u64,
    pub(super) compacted: u64,
    pub(super) timed_out: u64,
    pub(super) out_of_turns: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.agents += other.agents;
        self.promoted += other.promoted;
        self.interrupted += other.interrupted;
        self.restarts += other.restarts;
        self.refused += other.refused;
        self.waited += other.waited;
        self.reported += other.reported;
        self.compacted += other.compacted;
        self.timed_out += other.timed_out;
        self.out_of_turns += other.out_of_turns;
    }

    pub(super) const fn counts(&self) -> [(&'static str, u64); 10] {
        [
            ("an agent", self.agents),
            ("a promotion", self.promoted),
            ("an interrupt", self.interrupted),
            ("a restart", self.restarts),
            ("a refused request", self.refused),
            ("a request that waited", self.waited),
            ("a report", self.reported),
            ("a compaction", self.compacted),
            ("a deadline", self.timed_out),
            ("a turn too many", self.out_of_turns),
        ]
    }
}
