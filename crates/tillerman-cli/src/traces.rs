//! Traces of what sessions do, for whoever has set an endpoint for them.

use std::time::Duration;

use tillerman_assembly::{Environment, SessionSetup};
use tillerman_host::FurtherCounters;
use tillerman_ports::ObservedAgent;
use tillerman_telemetry::{
    About, SettingsError, Telemetry, TelemetrySettings, start as start_telemetry,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::environment;

/// How long the last spans may take; nobody waits longer for the end of a program.
const GOODBYE: Duration = Duration::from_secs(2);

/// Spans that are sent in the background.
#[derive(Debug)]
pub(crate) struct Traces {
    telemetry: Telemetry,
    stop: CancellationToken,
    sending: JoinSet<()>,
}

/// What the traces of this process belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belonging {
    /// The program that started this one, if it says so.
    Caller,
    /// Nothing: a host works for many.
    Nothing,
}

/// What the environment says about traces; nothing when none are wanted.
pub(crate) fn settings(
    environment: &Environment,
    belonging: Belonging,
) -> Result<Option<TelemetrySettings>, SettingsError> {
    let is_seen = |name: &str| belonging == Belonging::Caller || name != "TRACEPARENT";
    let variable = |name: &str| is_seen(name).then(|| environment.get(name)).flatten();
    TelemetrySettings::read(variable, env!("CARGO_PKG_VERSION"))
}

/// Runs a host with its environment and the traces of its sessions, and sends what is left of them.
pub(crate) async fn traced<T>(host: impl AsyncFnOnce(Environment, Option<&Traces>) -> T) -> T {
    let environment = environment::capture();
    let traces = Traces::begin(&environment, Belonging::Nothing);
    let ended = host(environment, traces.as_ref()).await;
    if let Some(traces) = traces {
        traces.finish().await;
    }
    ended
}

impl Traces {
    /// Begins to send spans, where somebody wants them. Settings that make no sense are told, and
    /// sessions run all the same.
    pub(crate) fn begin(environment: &Environment, belonging: Belonging) -> Option<Self> {
        let settings = settings(environment, belonging).unwrap_or_else(|error| {
            tracing::warn!("no traces are sent: {error}");
            None
        });
        let (telemetry, exporter) = start_telemetry(settings?);
        let stop = CancellationToken::new();
        let mut sending = JoinSet::new();
        sending.spawn(exporter.run(stop.clone()));
        Some(Self { telemetry, stop, sending })
    }

    /// Where spans are put.
    pub(crate) fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// What became of spans, for whoever shows numbers.
    pub(crate) fn counters(&self) -> FurtherCounters {
        let telemetry = self.telemetry.clone();
        FurtherCounters::new(move || {
            let counts = telemetry.counts();
            vec![
                ("spans_sent_total", "Spans that a collector took.", counts.sent),
                ("spans_dropped_total", "Spans that found no room.", counts.dropped),
                ("spans_failed_total", "Spans that no collector took.", counts.failed),
            ]
        })
    }

    /// Sends what waits, but not for long.
    pub(crate) async fn finish(mut self) {
        self.stop.cancel();
        let sending = async { while self.sending.join_next().await.is_some() {} };
        let is_late = tokio::time::timeout(GOODBYE, sending).await.is_err();
        let counts = self.telemetry.counts();
        if is_late || counts.dropped > 0 {
            let dropped = counts.dropped;
            tracing::warn!(dropped, "some spans were not sent");
        }
    }
}

/// Has a session watched.
pub(crate) fn watch(telemetry: &Telemetry, setup: &mut SessionSetup) {
    let session = setup.engine.session_id.clone();
    let main = setup.agents.as_ref().and_then(|agents| agents.main.as_ref());
    let agent = main.map(|main| ObservedAgent { id: session.to_string(), kind: main.name.clone() });
    setup.observer = Some(telemetry.observer(About { session, agent }));
}
