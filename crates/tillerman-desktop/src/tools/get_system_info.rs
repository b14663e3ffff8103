//! `get_system_info`: what machine this is and how it is doing.

use serde_json::{Value, json};
use tillerman_protocol::tool::{Access, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::desktop;
use crate::plan::{Plan, answered};
use crate::tools::off_thread::off_thread;

pub(crate) const PLAN: Plan = Plan {
    name: "get_system_info",
    description: "Tells the operating system, processor, memory, disk space and desktop of the \
                  user's machine.",
    access: Access::ReadOnly,
    fields: &[],
    run: |config, call| off_thread(config, call, look),
};

fn look(config: &DesktopConfig, _: &Value, _: &CancellationToken) -> ToolOutcome {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let line = |path: &str| read(path).map(|text| text.trim().to_owned());
    let memory = read("/proc/meminfo").unwrap_or_default();
    let uptime = line("/proc/uptime").and_then(|text| text.split('.').next()?.parse::<u64>().ok());
    let load = line("/proc/loadavg");
    let load: Option<Vec<f64>> =
        load.map(|text| text.split(' ').take(3).filter_map(|it| it.parse().ok()).collect());
    let disk = rustix::fs::statvfs(config.root()).ok();
    answered(&json!({
        "platform": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "release": line("/proc/sys/kernel/osrelease"),
        "hostname": line("/proc/sys/kernel/hostname"),
        "cpus": std::thread::available_parallelism().ok().map(usize::from),
        "load_average": load,
        "uptime_seconds": uptime,
        "memory_total_bytes": meminfo(&memory, "MemTotal:"),
        "memory_available_bytes": meminfo(&memory, "MemAvailable:"),
        "disk_total_bytes": disk.as_ref().map(|disk| disk.f_blocks * disk.f_frsize),
        "disk_available_bytes": disk.as_ref().map(|disk| disk.f_bavail * disk.f_frsize),
        "desktop": desktop::describe(config),
        "workspace": config.root().to_string_lossy(),
    }))
}

fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
