//! The programs that must be on the machine before anything can be installed: which, found how, installed how.

use super::error::ServiceError;
use std::process::Command;

/// One program that some service needs, as it was found.
#[derive(Debug, Clone)]
pub struct Prerequisite {
    /// Its name, with the lowest version that will do.
    pub name: &'static str,
    /// What needs it.
    pub needed_for: &'static str,
    /// The version found, or what was found instead.
    pub found: Result<String, String>,
    /// The command that installs it on Debian or Ubuntu (on macOS: with Homebrew).
    pub install: &'static str,
}

impl Prerequisite {
    /// The prerequisite as an error if it is missing.
    pub(crate) fn check(&self) -> Result<(), ServiceError> {
        match &self.found {
            Ok(_) => Ok(()),
            Err(detail) => Err(ServiceError::Missing {
                what: self.name.to_owned(),
                detail: detail.clone(),
                install: self.install.to_owned(),
            }),
        }
    }
}

/// Every prerequisite of every service, with the version found.
pub fn doctor() -> Vec<Prerequisite> {
    vec![python(), venv(), java(), maven(), make(), c_compiler()]
}

/// What [`super::ClickHouse`] needs.
pub(crate) fn for_python() -> Vec<Prerequisite> {
    vec![python(), venv()]
}

/// What [`super::ApacheKafka`] needs.
pub(crate) fn for_apache_kafka() -> Vec<Prerequisite> {
    vec![python(), java(), maven()]
}

pub(crate) fn python() -> Prerequisite {
    Prerequisite {
        name: "python3 >= 3.9",
        needed_for: "clickhouse, apache-kafka",
        found: version_at_least("python3", &["--version"], &[3, 9]),
        install: hint(
            "apt-get install -y python3 python3-venv",
            "brew install python3",
        ),
    }
}

fn venv() -> Prerequisite {
    // Debian splits the standard library: python3 alone has no ensurepip.
    let probe = first_line(
        "python3",
        &[
            "-c",
            "import venv, ensurepip; print('pip', ensurepip.version())",
        ],
    );
    Prerequisite {
        name: "python3's venv module (with pip)",
        needed_for: "clickhouse",
        found: probe,
        install: hint("apt-get install -y python3-venv", "brew install python3"),
    }
}

pub(crate) fn java() -> Prerequisite {
    Prerequisite {
        name: "java >= 17",
        needed_for: "apache-kafka",
        found: version_at_least("java", &["-version"], &[17]),
        install: hint(
            "apt-get install -y openjdk-17-jre-headless",
            "brew install openjdk",
        ),
    }
}

fn maven() -> Prerequisite {
    Prerequisite {
        name: "mvn >= 3.6",
        needed_for: "apache-kafka (once, to fetch it)",
        found: version_at_least("mvn", &["--version"], &[3, 6]),
        install: hint("apt-get install -y maven", "brew install maven"),
    }
}

fn make() -> Prerequisite {
    Prerequisite {
        name: "make",
        needed_for: "building librdkafka",
        found: first_line("make", &["--version"]),
        install: hint("apt-get install -y make", "xcode-select --install"),
    }
}

fn c_compiler() -> Prerequisite {
    Prerequisite {
        name: "a C compiler (cc)",
        needed_for: "building librdkafka",
        found: first_line("cc", &["--version"]),
        install: hint("apt-get install -y gcc libc6-dev", "xcode-select --install"),
    }
}

fn hint(linux: &'static str, mac: &'static str) -> &'static str {
    if cfg!(target_os = "macos") {
        mac
    } else {
        linux
    }
}

/// The first line that the program prints on either output, or what is wrong.
fn first_line(program: &str, args: &[&str]) -> Result<String, String> {
    let out = Command::new(program)
        .args(args)
        .output()
        .map_err(|e| format!("`{program}` does not run: {e}"))?;
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    if out.status.success() {
        Ok(strip_colors(lines.next().unwrap_or("no version told")))
    } else {
        let last = lines.next_back().unwrap_or("no output");
        Err(format!("`{program} {}` fails: {last}", args.join(" ")))
    }
}

fn strip_colors(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // An escape sequence ends with its first letter.
            let _ = rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(c);
        }
    }
    out
}

fn version_at_least(program: &str, args: &[&str], least: &[u32]) -> Result<String, String> {
    let line = first_line(program, args)?;
    match parse_version(&line) {
        Some(version) if version.as_slice() >= least => Ok(line),
        Some(_) => Err(format!("too old: {line}")),
        None => Err(format!("no version in `{line}`")),
    }
}

/// The first dotted number in the line: `openjdk version "17.0.15" 2025-04-15` is `[17, 0, 15]`.
fn parse_version(line: &str) -> Option<Vec<u32>> {
    let start = line.find(|c: char| c.is_ascii_digit())?;
    let text = &line[start..];
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    text[..end]
        .split('.')
        .filter(|p| !p.is_empty())
        .map(|p| p.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_programs_print_them() {
        assert_eq!(
            parse_version("openjdk version \"17.0.15\" 2025-04-15"),
            Some(vec![17, 0, 15])
        );
        assert_eq!(parse_version("Python 3.11.7"), Some(vec![3, 11, 7]));
        assert_eq!(
            parse_version(&strip_colors("\u{1b}[1mApache Maven 3.8.7\u{1b}[m")),
            Some(vec![3, 8, 7])
        );
        assert_eq!(parse_version("nothing"), None);
        assert!(vec![3, 11] > vec![3, 9] && vec![1, 8] < vec![17]);
    }

    #[test]
    fn a_missing_program_is_an_error_that_names_the_install_command() {
        let missing = Prerequisite {
            name: "frobnicate",
            needed_for: "tests",
            found: first_line("frobnicate-that-does-not-exist", &["--version"]),
            install: "apt-get install -y frobnicate",
        };
        let text = missing.check().unwrap_err().to_string();
        assert!(
            text.contains("install it with `apt-get install -y frobnicate`"),
            "{text}"
        );
    }
}
