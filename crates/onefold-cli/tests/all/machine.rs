//! What this machine allows: other users, private mounts, tools. What is missing is said aloud, and is a failure in CI.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{ONEFOLD, Program};

/// Says that a test was skipped; in CI it must not be.
pub fn skip(missing: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "CI needs {missing}");
    eprintln!("SKIPPED: no {missing}");
}

fn succeeds(words: &[&str]) -> bool {
    Command::new(words[0])
        .args(&words[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// `onefold` as a user whom file modes bind, or nothing where we cannot become one.
pub fn as_nobody(folder: &Path) -> Option<Program> {
    let probe: Vec<&str> = NOBODY.into_iter().chain([ONEFOLD, "--version"]).collect();
    if !succeeds(&probe) {
        skip("setpriv, or no way for user 65534 to the binary");
        return None;
    }
    Some(Program::new(NOBODY).args([ONEFOLD]).within(folder))
}

/// A shell script in a mount namespace of its own, so that no mount outlives the test; `$ONEFOLD` is the binary.
pub fn with_mounts(folder: &Path, script: &str) -> Option<Program> {
    if !succeeds(&["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]) {
        skip("right to mount");
        return None;
    }
    Some(Program::new(["unshare", "-m", "sh", "-c", &format!("set -e; ONEFOLD='{ONEFOLD}'; {script}")]).within(folder))
}

/// A shell script; `$ONEFOLD` is the binary.
pub fn shell(folder: &Path, script: &str) -> Program {
    Program::new(["bash", "-c", &format!("ONEFOLD='{ONEFOLD}'; {script}")]).within(folder)
}

/// Runs a tool that must be there.
pub fn tool(words: &[&str], folder: &Path) {
    let status = Command::new(words[0]).args(&words[1..]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{words:?}");
}

/// A file of the shared collections.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root =
        std::env::var("ONEFOLD_SHARED_DATA").unwrap_or_else(|_| format!("{}/../../../shared/data", env!("CARGO_MANIFEST_DIR")));
    let path = Path::new(&root).join(name);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("collection {}", path.display()));
    None
}
