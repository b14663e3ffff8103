//! Every model costs something, aliases lead to known models, and newer ids find their family.

use tillerman_models::catalog::{DEFAULT_MODEL, catalog};
use tillerman_protocol::stream::Usage;

#[test]
fn families_have_their_prices_and_limits() {
    let catalog = catalog();
    for (model, input, output, max_output) in [
        ("claude-opus-4-6", 5.0, 25.0, 64_000),
        ("claude-opus-4-5-20251101", 5.0, 25.0, 64_000),
        ("claude-opus-4-1-20250805", 15.0, 75.0, 32_000),
        ("claude-opus-4-20250514", 15.0, 75.0, 32_000),
        ("claude-opus-4-0", 15.0, 75.0, 32_000),
        ("claude-opus-4-9", 5.0, 25.0, 64_000),
        ("claude-opus-7", 5.0, 25.0, 64_000),
        ("claude-sonnet-4-20250514", 3.0, 15.0, 64_000),
        ("claude-sonnet-4-5", 3.0, 15.0, 64_000),
        ("claude-sonnet-9", 3.0, 15.0, 64_000),
        ("claude-haiku-4-5", 1.0, 5.0, 64_000),
        ("claude-3-5-haiku-latest", 0.8, 4.0, 8_192),
        ("claude-3-haiku-20240307", 0.25, 1.25, 4_096),
        ("claude-next", 3.0, 15.0, 32_000),
        ("rehearsal", 0.0, 0.0, 8_192),
    ] {
        let profile = catalog.profile(model).unwrap();
        let found = (profile.price.input, profile.price.output, profile.max_output_tokens);
        assert_eq!(found, (input, output, max_output), "{model}");
        assert_eq!(profile.context_window, 200_000, "{model}");
    }
    assert_eq!(catalog.profile("gpt"), None);
    assert_eq!(catalog.window(catalog.resolve("sonnet")), Some(200_000));
    assert_eq!(catalog.window(catalog.resolve("sonnet[1m]")), Some(1_000_000));
    assert_eq!(catalog.window("gpt"), None);
}

#[test]
fn cached_tokens_are_cheaper_to_read_and_dearer_to_write() {
    let million = 1_000_000;
    let usage = Usage {
        cache_read_input_tokens: million,
        cache_creation_input_tokens: million,
        ..Usage::default()
    };
    let cost = catalog().cost("claude-sonnet-4-5", &usage);
    assert!((cost - (0.3 + 3.75)).abs() < 1e-9, "{cost}");
}

#[test]
fn aliases_lead_to_listed_models() {
    let catalog = catalog();
    for alias in ["default", "best", "opus", "sonnet", "haiku"] {
        let id = catalog.resolve(alias);
        assert!(catalog.models.iter().any(|profile| profile.id == id), "{alias} → {id}");
    }
    assert_eq!(catalog.resolve("default"), DEFAULT_MODEL);
    assert_eq!(catalog.resolve("claude-x"), "claude-x");
}
