//! What the page may load and do.

/// The `content-security-policy` the page works under: nothing from elsewhere, nothing inline,
/// and no text that becomes markup or a script.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
