//! How much memory a run may take: it decides between memory and disk, never the answer.

use std::fs;

use crate::error::{Error, Result};

const MIB: u64 = 1 << 20;
/// No run works with less: buffers, tables of counters and the writers of results need this much.
const LEAST: u64 = 96 * MIB;

/// The memory that a run may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    limit: Option<u64>,
    tight: bool,
}

impl Memory {
    /// As much as there is.
    pub const UNLIMITED: Memory = Memory { limit: None, tight: false };

    /// As if nothing were left, so that everything goes to disk, in small pieces: to show that this changes nothing.
    pub const TIGHT: Memory = Memory { limit: None, tight: true };

    /// What no run works without.
    pub(crate) const LEAST: u64 = LEAST;

    /// At most so many bytes.
    pub fn of_bytes(bytes: u64) -> Result<Memory> {
        if bytes < LEAST {
            let allowed = format!("at least {} MiB (a run needs ≥ {0} MiB)", LEAST / MIB);
            return Err(Error::setting("memory", allowed, format!("{:.1} MiB", bytes as f64 / MIB as f64)));
        }
        Ok(Memory { limit: Some(bytes), tight: false })
    }

    /// From a number with a unit, such as `512MiB`, `2GB` or `1500000000`.
    pub fn parse(typed: &str) -> Result<Memory> {
        let wrong = || Error::setting("memory", "a size such as 512MiB, 2GiB or 2GB", typed);
        Memory::of_bytes(parse_size(typed).ok_or_else(wrong)?)
    }

    /// Half of what this process could take: of the memory that is free, and of what its limits allow.
    pub fn half_of_free() -> Memory {
        match free() {
            // With less than that nothing would work; so it is tried.
            Some(free) => Memory { limit: Some((free / 2).max(LEAST)), tight: false },
            None => Memory::UNLIMITED,
        }
    }

    /// The limit in bytes, where there is one.
    pub fn limit(self) -> Option<u64> {
        self.limit
    }

    /// A part of what is left, to be taken at a time: not less than is sensible.
    pub(crate) fn part(self, divisor: u64, least: u64) -> u64 {
        (self.left() / divisor).max(if self.tight { least >> 12 } else { least })
    }

    /// Whether nothing is to be held.
    pub(crate) fn is_tight(self) -> bool {
        self.tight
    }

    /// Gives back what was freed, if half of what may be taken is in use.
    pub(crate) fn make_room(self) {
        if self.limit.is_some_and(|limit| self.left() < limit / 2) {
            give_back();
        }
    }

    /// Has what is large come from the system and go back to it as soon as it is freed: an allocator keeps it otherwise, in holes into which the
    /// next does not fit. What is large and how much each thread may keep depends on the limit; it holds for all of the process from then on.
    pub(crate) fn avoid_holes(self, threads: usize) {
        if let Some(limit) = self.limit {
            map_from((limit / 256).clamp(256 << 10, 32 * MIB), limit / 16 / threads.max(1) as u64);
        }
    }

    /// What may still be taken.
    pub fn left(self) -> u64 {
        match self.limit {
            None if self.tight => 0,
            None => u64::MAX,
            // Where the system does not tell, half is taken for used.
            Some(limit) => limit.saturating_sub(resident().unwrap_or(limit / 2)),
        }
    }
}

/// Gives what was freed back to the system: allocators like to keep it, and then it counts as taken.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "a function of the C library")]
        // SAFETY: it has no conditions, and touches nothing that is in use.
        unsafe {
            libc::malloc_trim(0)
        };
    }
}

/// Whatever has `large` bytes is mapped by itself, and of the rest so many bytes are kept when they are free.
fn map_from(large: u64, kept: u64) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let bytes = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
        #[expect(unsafe_code, reason = "a function of the C library")]
        // SAFETY: it may be called at any time, and touches nothing that is in use.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, bytes(large));
            // Where one of them is set, the other no longer follows what is freed.
            libc::mallopt(libc::M_TRIM_THRESHOLD, bytes(kept));
        };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (large, kept);
}

/// Bytes of a number with a unit.
pub fn parse_size(typed: &str) -> Option<u64> {
    let typed = typed.trim();
    let end = typed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(typed.len());
    let number: f64 = typed[..end].parse().ok()?;
    let factor = match typed[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1u64 << 40,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    };
    Some((number * factor as f64) as u64)
}

/// Bytes of this process that are in memory.
fn resident() -> Option<u64> {
    kilobytes("/proc/self/status", "VmRSS:")
}

/// The number in a line such as `MemAvailable:   23456 kB`.
fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

fn free() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = groups.into_iter().filter_map(number).chain(limits());
    kilobytes("/proc/meminfo", "MemAvailable:").into_iter().chain(limits).min()
}

/// What `ulimit -v` and `ulimit -d` allow.
fn limits() -> Vec<u64> {
    let text = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let soft = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok();
    ["Max address space", "Max data size"].into_iter().filter_map(soft).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_size("512MiB"), Some(512 << 20));
        assert_eq!(parse_size("1.5 GiB"), Some(3 << 29));
        assert_eq!(parse_size("2GB"), Some(2_000_000_000));
        assert_eq!(parse_size("300m"), Some(300 << 20));
        assert_eq!(parse_size("1000"), Some(1000));
        for wrong in ["", "MiB", "-1GiB", "1XB", "1.2.3", "١GiB"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
        assert!(Memory::parse("95MiB").is_err_and(|error| error.to_string().contains("≥ 96 MiB")));
        assert!(Memory::parse("96MiB").is_ok());
    }

    #[test]
    fn what_is_taken_is_not_left() {
        let memory = Memory::parse("4GiB").unwrap();
        let before = memory.left();
        let taken = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(before - memory.left() > 48 << 20, "{} bytes", taken.len());
        assert_eq!(Memory::UNLIMITED.left(), u64::MAX);
    }
}
