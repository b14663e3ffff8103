//! The text form that Prometheus reads: families with help and type, samples with labels.

use std::fmt::Display;

use crate::metrics::histogram::Histogram;

const PREFIX: &str = "tillerman";

/// Text that is being put together. Every family is written once, with its samples behind it.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
}

impl Exposition {
    /// Begins a family.
    pub(crate) fn family(&mut self, name: &str, help: &str, kind: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let lines = format!("# HELP {PREFIX}_{name} {help}\n# TYPE {PREFIX}_{name} {kind}\n");
        self.text.push_str(&lines);
    }

    /// Adds a sample to the family that was begun last.
    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.text.push_str(&format!("{PREFIX}_{name}{labels} {value}\n"));
    }

    pub(crate) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "counter");
        self.sample(name, &[], value);
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "gauge");
        self.sample(name, &[], value);
    }

    pub(crate) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, help, "histogram");
        let snapshot = histogram.read();
        let bucket = format!("{name}_bucket");
        for (bound, count) in snapshot.buckets {
            self.sample(&bucket, &[("le", &bound.to_string())], count);
        }
        self.sample(&bucket, &[("le", "+Inf")], snapshot.count);
        self.sample(&format!("{name}_sum"), &[], snapshot.sum);
        self.sample(&format!("{name}_count"), &[], snapshot.count);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
