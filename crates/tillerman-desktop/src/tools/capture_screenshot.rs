//! `capture_screenshot`: what the user sees.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tillerman_ports::ToolCall;
use tillerman_protocol::tool::{Access, ToolOutcome};
use tillerman_tools::show_picture;

use crate::config::DesktopConfig;
use crate::contained::Root;
use crate::desktop::{Desktop, Way, choose};
use crate::plan::{Field, FieldKind, Need, Plan, failed, text};
use crate::program::{Job, Manner, find};
use crate::tools::analyze_image::shown;

const WHAT: &str = "A screenshot";
pub(crate) const SCREEN: &[Way] = &[
    (Desktop::Mac, "screencapture", &["-x"]),
    (Desktop::Wayland, "grim", &[]),
    (Desktop::Wayland, "gnome-screenshot", &["-f"]),
    (Desktop::Wayland, "spectacle", &["-b", "-n", "-f", "-o"]),
    (Desktop::X11, "scrot", &[]),
    (Desktop::X11, "maim", &[]),
    (Desktop::X11, "gnome-screenshot", &["-f"]),
    (Desktop::X11, "spectacle", &["-b", "-n", "-f", "-o"]),
];
const WINDOW: &[Way] = &[
    (Desktop::Mac, "screencapture", &["-x", "-w"]),
    (Desktop::Wayland, "gnome-screenshot", &["-w", "-f"]),
    (Desktop::Wayland, "spectacle", &["-b", "-n", "-a", "-o"]),
    (Desktop::X11, "scrot", &["-u"]),
    (Desktop::X11, "gnome-screenshot", &["-w", "-f"]),
    (Desktop::X11, "spectacle", &["-b", "-n", "-a", "-o"]),
];
const REGION: &[Way] = &[
    (Desktop::Mac, "screencapture", &["-x", "-s"]),
    (Desktop::Wayland, "grim", &["-g"]),
    (Desktop::Wayland, "gnome-screenshot", &["-a", "-f"]),
    (Desktop::Wayland, "spectacle", &["-b", "-n", "-r", "-o"]),
    (Desktop::X11, "scrot", &["-s"]),
    (Desktop::X11, "maim", &["-s"]),
    (Desktop::X11, "gnome-screenshot", &["-a", "-f"]),
    (Desktop::X11, "spectacle", &["-b", "-n", "-r", "-o"]),
];

static SHOTS: AtomicU64 = AtomicU64::new(0);

pub(crate) const PLAN: Plan = Plan {
    name: "capture_screenshot",
    description: "Takes a picture of the user's screen, of the active window, or of a region that \
                  the user points out, and shows it.",
    access: Access::Mutating,
    fields: &[
        Field {
            name: "mode",
            kind: FieldKind::Choice(&["fullscreen", "window", "region"]),
            need: Need::Optional,
            meaning: "what to take; fullscreen unless said otherwise",
        },
        Field {
            name: "path",
            kind: FieldKind::Text,
            need: Need::Optional,
            meaning: "where to keep the picture (PNG), relative to the workspace; nothing keeps none",
        },
    ],
    run: |config, call| Box::pin(capture(config, call)),
};

async fn capture(config: Arc<DesktopConfig>, call: ToolCall) -> ToolOutcome {
    let mode = text(&call.input, "mode").unwrap_or("fullscreen");
    let ways = match mode {
        "window" => WINDOW,
        "region" => REGION,
        _ => SCREEN,
    };
    let (program, way) = match choose(&config, WHAT, ways) {
        Ok(chosen) => chosen,
        Err(error) => return failed(error),
    };
    let draft = match Draft::new(&config) {
        Ok(draft) => draft,
        Err(error) => return failed(format!("No place for the picture could be made: {error}.")),
    };
    let mut arguments: Vec<OsString> = way.2.iter().map(Into::into).collect();
    if way.1 == "grim" && mode == "region" {
        match point(&config, &call).await {
            Ok(region) => arguments.push(region.into()),
            Err(problem) => return failed(problem),
        }
    }
    arguments.push(draft.picture().into_os_string());
    let time = if mode == "region" { config.limits().pointing } else { config.limits().time };
    let job = Job {
        program,
        arguments,
        directory: draft.folder.clone(),
        environment: config.display_environment(),
        input: Vec::new(),
        manner: Manner::Listen,
        time,
        bytes: config.limits().bytes,
    };
    match job.run(&call.cancel).await {
        Ok(ran) if ran.status.success() => {}
        Ok(ran) => return failed(format!("No screenshot was taken. {}", ran.complaints)),
        Err(error) => return failed(error),
    }
    let keeping = text(&call.input, "path").map(str::to_owned);
    let mode = mode.to_owned();
    let showing =
        tokio::task::spawn_blocking(move || show(&config, &draft, &mode, keeping.as_deref()));
    showing.await.unwrap_or_else(|error| {
        failed(format!("The tool stopped because of a defect in it ({error})."))
    })
}

/// Has the user point out a region, which grim leaves to another program.
async fn point(config: &DesktopConfig, call: &ToolCall) -> Result<String, String> {
    let Some(program) = find(config, "slurp") else {
        return Err("Pointing out a region needs the program slurp, which is not installed. Take \
                    the full screen instead."
            .to_owned());
    };
    let job = Job {
        program,
        arguments: Vec::new(),
        directory: config.root().to_path_buf(),
        environment: config.display_environment(),
        input: Vec::new(),
        manner: Manner::Listen,
        time: config.limits().pointing,
        bytes: 1024,
    };
    let ran = job.run(&call.cancel).await.map_err(|error| error.to_string())?;
    if !ran.status.success() {
        return Err("The user pointed out no region, so no screenshot was taken.".to_owned());
    }
    Ok(String::from_utf8_lossy(&ran.output).trim().to_owned())
}

fn show(config: &DesktopConfig, draft: &Draft, mode: &str, keeping: Option<&str>) -> ToolOutcome {
    let read = Root::new(&draft.folder).reach("shot.png");
    let bytes = match read.and_then(|reached| reached.read(config.limits().bytes)) {
        Ok(bytes) => bytes,
        Err(error) => return failed(format!("The screenshot could not be read: {error}")),
    };
    let picture = match show_picture(&bytes) {
        Ok(picture) => picture,
        Err(error) => return failed(format!("The screenshot cannot be shown: {error}.")),
    };
    if let Some(path) = keeping {
        let kept = Root::new(config.root()).reach(path).and_then(|place| place.write(&bytes));
        if let Err(error) = kept {
            return failed(error);
        }
    }
    Ok(shown(&picture, json!({"mode": mode, "path": keeping})))
}

/// A folder of our own for the picture, gone when the call is.
struct Draft {
    folder: PathBuf,
}

impl Draft {
    fn new(config: &DesktopConfig) -> io::Result<Self> {
        let temp = config.variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let number = SHOTS.fetch_add(1, Ordering::Relaxed);
        let name = format!("tillerman-screenshot-{}-{number}", std::process::id());
        let folder = temp.canonicalize()?.join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self { folder })
    }

    fn picture(&self) -> PathBuf {
        self.folder.join(Path::new("shot.png"))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // A folder that stays behind is in the way of nobody.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
