//! Long texts of handlers: the whole goes to a file, its beginning to the model.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tillerman_protocol::hook::HookOutput;

use crate::config::HookConfig;
use crate::tree::new_mark;

/// Characters a text may have.
const MOST: usize = 10_000;
/// Characters that are kept of a longer one.
const PREVIEW: usize = 2_000;

/// Shortens every long text of an answer; says so if there was one.
pub(crate) fn shorten(config: &HookConfig, output: &mut HookOutput) -> Option<String> {
    let specific = output.hook_specific_output.as_mut();
    let (context, why) = specific.map_or((None, None), |it| {
        (it.additional_context.as_mut(), it.permission_decision_reason.as_mut())
    });
    let own = [&mut output.reason, &mut output.stop_reason, &mut output.system_message];
    let texts = own.into_iter().filter_map(Option::as_mut).chain(context).chain(why);
    let mut remark = None;
    for text in texts {
        let length = text.chars().count();
        if length <= MOST {
            continue;
        }
        let mut preview: String = text.chars().take(PREVIEW).collect();
        let told = match save(&config.scratch_directory, text) {
            Ok(path) => format!("the whole is in {}", path.display()),
            Err(error) => format!("the rest is lost, because it could not be stored: {error}"),
        };
        preview.push_str(&format!("\n[… {length} characters; {told}]"));
        *text = preview;
        remark = Some(format!("one of its texts has {length} characters and was cut; {told}"));
    }
    remark
}

fn save(directory: &Path, text: &str) -> std::io::Result<PathBuf> {
    make_private(directory)?;
    let path = directory.join(format!("hook-{}.txt", new_mark()));
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

/// Makes a directory that only its owner can look into.
pub(crate) fn make_private(directory: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}
