//! `--detach` and `down`: a process left behind, and the file that says which it is.
//!
//! The file has the pid and the time at which that process started, so that `down` never ends another process that got
//! the same pid since.

use crate::UpArgs;
use spate_test::services::cache_dir;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Starts this program again in the background, prints its `export` lines and returns.
pub(crate) fn start(args: &UpArgs) -> Result<(), String> {
    let state = state_path()?;
    if let Some(pid) = running(&state)? {
        return Err(format!(
            "process {pid} runs already; end it with `stack down`"
        ));
    }
    let exe = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let log_path = state.with_extension("log");
    let log = fs::File::create(&log_path)
        .map_err(|e| format!("cannot write {}: {e}", log_path.display()))?;
    let mut command = Command::new(exe);
    command
        .arg("up")
        .args(args.services.iter().map(|s| s.name()));
    command.arg("--state").arg(&state);
    if let Some(dir) = &args.data {
        command.arg("--data").arg(dir);
    }
    for (service, port) in &args.ports {
        command
            .arg("--port")
            .arg(format!("{}={port}", service.name()));
    }
    for (name, partitions) in &args.topics {
        command.arg("--topic").arg(format!("{name}:{partitions}"));
    }
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    let mut child = command
        .spawn()
        .map_err(|e| format!("cannot start the background process: {e}"))?;
    let wanted = args.services.len();
    let output = child
        .stdout
        .take()
        .ok_or("the background process has no output")?;
    let lines: Vec<String> = BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .take(wanted)
        .collect();
    if lines.len() < wanted {
        let _ = child.wait();
        let log = fs::read_to_string(&log_path).unwrap_or_default();
        return Err(format!("the background process ended:\n{log}"));
    }
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Ends the background process, first by TERM, after 40 s by KILL.
pub(crate) fn stop() -> Result<(), String> {
    let state = state_path()?;
    let Some(pid) = running(&state)? else {
        println!("nothing is running");
        return Ok(());
    };
    signal("TERM", pid)?;
    let killed = !ended_within(&state, Duration::from_secs(40))?;
    if killed {
        // Its servers see their pipe close and end too.
        signal("KILL", pid)?;
        if !ended_within(&state, Duration::from_secs(10))? {
            return Err(format!("process {pid} does not end"));
        }
    }
    let _ = fs::remove_file(&state);
    println!("ended {pid}{}", if killed { " (killed)" } else { "" });
    Ok(())
}

/// Notes this process as the one that runs.
pub(crate) fn write_state(path: &Path) -> Result<(), String> {
    let pid = std::process::id();
    let start = start_time(pid).ok_or("cannot tell when this process started")?;
    fs::write(path, format!("{pid}\n{start}\n"))
        .map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// The pid in the file, if that very process still runs.
fn running(state: &Path) -> Result<Option<u32>, String> {
    let text = match fs::read_to_string(state) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(format!("cannot read {}: {e}", state.display())),
    };
    let mut lines = text.lines();
    let pid = lines.next().and_then(|l| l.parse().ok());
    let (Some(pid), Some(start)) = (pid, lines.next()) else {
        return Err(format!(
            "{} is not a state file; remove it",
            state.display()
        ));
    };
    Ok(start_time(pid)
        .is_some_and(|now| now == start)
        .then_some(pid))
}

fn ended_within(state: &Path, time: Duration) -> Result<bool, String> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if running(state)?.is_none() {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(false)
}

fn state_path() -> Result<PathBuf, String> {
    let dir = cache_dir().map_err(|e| e.to_string())?;
    fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
    Ok(dir.join("stack.state"))
}

/// When the process started, in whatever form the system tells; none when it does not run (or is a zombie).
fn start_time(pid: u32) -> Option<String> {
    if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The name in parentheses may hold blanks; after it come the state (field 3) and, as field 22, the start.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let alive = fields.next()? != "Z";
        return alive.then(|| fields.nth(18).map(str::to_owned)).flatten();
    }
    if Path::new("/proc/self").exists() {
        return None;
    }
    let out = Command::new("ps")
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn signal(name: &str, pid: u32) -> Result<(), String> {
    // The shell's own kill: there need not be a program of that name.
    let status = Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid}")])
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("cannot send {name} to process {pid}: {other:?}")),
    }
}
