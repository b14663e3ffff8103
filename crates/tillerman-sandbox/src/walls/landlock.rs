//! The Landlock wall: which trees can be read and written, whatever is mounted.

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use crate::plan::LandlockPlan;

/// Builds the wall around this process and everything it starts.
pub(crate) fn build(plan: &LandlockPlan) -> Result<(), String> {
    // Everything that decides where bytes go is in the third version; what this kernel has of it is
    // required, not hoped for.
    let abi = match plan.abi {
        0 => return Err("the kernel has none".to_owned()),
        1 => ABI::V1,
        2 => ABI::V2,
        _ => ABI::V3,
    };
    let text = |error: landlock::RulesetError| error.to_string();
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(text)?;
    if plan.abi >= 6 {
        ruleset = ruleset.scope(Scope::from_all(ABI::V6)).map_err(text)?;
    }
    let mut created = ruleset.create().map_err(text)?;
    for (paths, access) in
        [(&plan.readable, AccessFs::from_read(abi)), (&plan.writable, AccessFs::from_all(abi))]
    {
        for path in paths {
            let shown = path.display();
            let opened = PathFd::new(path).map_err(|error| format!("{shown}: {error}"))?;
            // A file takes fewer rights than a directory.
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(abi) };
            created = created
                .add_rule(PathBeneath::new(opened, access))
                .map_err(|error| format!("{shown}: {error}"))?;
        }
    }
    let status = created.restrict_self().map_err(text)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        other => Err(format!("the kernel enforces it as {other:?}")),
    }
}
