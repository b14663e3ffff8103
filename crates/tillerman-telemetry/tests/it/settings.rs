//! The variables that every OpenTelemetry program reads.

use tillerman_telemetry::{Parent, SettingsError, TelemetrySettings};

use crate::stage::read;

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");

fn refused(name: &'static str, value: &'static str) -> SettingsError {
    let variable = |asked: &str| {
        let all = [(name, value), ENDPOINT];
        all.iter().find(|(held, _)| *held == asked).map(|(_, value)| (*value).to_owned())
    };
    TelemetrySettings::read(variable, "1").unwrap_err()
}

#[test]
fn nothing_is_sent_unless_there_is_an_endpoint() {
    assert!(read(&[]).is_none());
    assert!(read(&[("OTEL_SERVICE_NAME", "x")]).is_none());
    assert!(read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")]).is_none());
    assert!(read(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]).is_none());
    assert!(read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "false")]).is_some());
    let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    assert!(read(&[ENDPOINT, ("TRACEPARENT", unsampled)]).is_none());
}

#[test]
fn a_base_address_gets_the_path_and_a_whole_one_stays() {
    let shown = |variables: &[(&str, &str)]| read(variables).unwrap().shown_endpoint();
    assert_eq!(shown(&[ENDPOINT]), "http://collector:4318/v1/traces");
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:pass@x.example/otlp/?key=k");
    assert_eq!(shown(&[base]), "https://x.example/otlp/v1/traces");
    let whole = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other:1/in");
    assert_eq!(shown(&[ENDPOINT, whole]), "http://other:1/in");
}

#[test]
fn settings_that_make_no_sense_are_told() {
    let whole = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    assert_eq!(refused(whole, "collector:4317"), SettingsError::BadEndpoint(whole));
    let protocol = SettingsError::BadProtocol("grpc".to_owned());
    assert_eq!(refused("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), protocol);
    let headers = "OTEL_EXPORTER_OTLP_HEADERS";
    assert_eq!(refused(headers, "a b=c"), SettingsError::BadHeaders(headers));
}

#[test]
fn credentials_are_not_shown() {
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20very-secret, x-team=a");
    let settings = read(&[ENDPOINT, headers]).unwrap();
    assert_eq!(settings.secrets(), ["Bearer very-secret", "a"]);
    assert!(!format!("{settings:?}").contains("very-secret"));
}

#[test]
fn trace_contexts_are_read_as_they_are_written() {
    let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert!(Parent::parse(good).is_some());
    assert!(Parent::parse(&format!("cc{}-more", &good[2..])).is_some(), "a later version");
    for bad in [
        "",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319é-b7ad6b7169203331-01",
    ] {
        assert!(Parent::parse(bad).is_none(), "{bad}");
    }
}
