//! The `stack` program, by what it prints and how it exits. Uses the schema registry, which starts nothing else.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Cache(PathBuf);

impl Cache {
    fn new(name: &str) -> Cache {
        let dir = std::env::temp_dir().join(format!("spate-stack-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Cache(dir)
    }

    fn stack(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stack"))
            .args(args)
            .env("SPATE_CACHE", &self.0)
            .env("SPATE_SKIP_LOG", self.0.join("skips"))
            .output()
            .unwrap()
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn detached_services_run_until_stack_down() {
    let cache = Cache::new("detach");
    let up = cache.stack(&["up", "--detach", "schema-registry"]);
    assert!(up.status.success(), "{}", text(&up.stderr));
    let out = text(&up.stdout);
    let address = out
        .trim()
        .strip_prefix("export SPATE_SCHEMA_REGISTRY_URL=http://")
        .unwrap()
        .to_owned();
    assert!(TcpStream::connect(&address).is_ok());
    let again = cache.stack(&["up", "--detach", "schema-registry"]);
    assert!(!again.status.success() && text(&again.stderr).contains("stack down"));
    let down = cache.stack(&["down"]);
    assert!(down.status.success(), "{}", text(&down.stderr));
    assert!(TcpStream::connect(&address).is_err());
    assert!(text(&cache.stack(&["down"]).stdout).contains("nothing is running"));
}

#[test]
fn down_leaves_another_process_with_the_same_pid_alone() {
    let cache = Cache::new("reuse");
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    // The state of a process that ended, and whose pid another one got.
    std::fs::write(cache.0.join("stack.state"), format!("{}\n1\n", other.id())).unwrap();
    let down = cache.stack(&["down"]);
    assert!(
        text(&down.stdout).contains("nothing is running"),
        "{}",
        text(&down.stdout)
    );
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn skips_are_counted_by_service() {
    let cache = Cache::new("skips");
    assert_eq!(text(&cache.stack(&["skips"]).stdout), "skipped: 0 tests\n");
    std::fs::write(
        cache.0.join("skips"),
        "clickhouse\ta\nclickhouse\tb\napache-kafka\tc\n",
    )
    .unwrap();
    assert_eq!(
        text(&cache.stack(&["skips", "--clear"]).stdout),
        "skipped: 3 tests (clickhouse 2, apache-kafka 1)\n"
    );
    assert_eq!(text(&cache.stack(&["skips"]).stdout), "skipped: 0 tests\n");
}

#[test]
fn doctor_lists_what_is_missing_with_the_command_that_installs_it() {
    let empty = Cache::new("doctor");
    let out = Command::new(env!("CARGO_BIN_EXE_stack"))
        .arg("doctor")
        .env("PATH", &empty.0)
        .output()
        .unwrap();
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1));
    for name in ["python3", "java >= 17", "mvn", "make", "C compiler"] {
        assert!(
            said.lines()
                .any(|l| l.starts_with("missing") && l.contains(name)),
            "{name} in {said}"
        );
    }
    assert!(said.contains("install: "), "{said}");
}

#[test]
fn a_service_whose_interpreter_is_missing_is_an_error_that_names_the_command() {
    let empty = Cache::new("nopython");
    let out = Command::new(env!("CARGO_BIN_EXE_stack"))
        .args(["up", "clickhouse"])
        .env("PATH", &empty.0)
        .env("SPATE_CACHE", &empty.0)
        .output()
        .unwrap();
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        said.contains("python3 >= 3.9 is needed and missing") && said.contains("install it with `"),
        "{said}"
    );
    assert!(
        !Path::new(&empty.0).join("python.lock").exists(),
        "nothing is begun that cannot be ended"
    );
}
