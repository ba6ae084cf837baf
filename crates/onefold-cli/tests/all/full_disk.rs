//! Disks that are full, files that may not grow: exit 5, and no trace.

use crate::machine::{shell, with_mounts};
use crate::place::{Place, large, row, set, text};

#[test]
fn a_full_disk_is_exit_5_and_leaves_nothing() {
    let place = large();
    let script = "mount -t tmpfs -o size=64k tmpfs mount; code=0; $ONEFOLD scan a.jsonl --out mount/out || code=$?; ls -A mount; exit $code";
    let Some(program) = with_mounts(place.path(), script) else { return };
    let ran = program.run().exits(5).says(&["mount/out/", "No space left on device", "nothing was published"]);
    assert_eq!(ran.stdout, "", "left behind");
}

#[test]
fn a_disk_that_is_full_from_the_start_keeps_no_trace() {
    let place = large();
    let script = "mount -t tmpfs -o size=64k tmpfs mount; dd if=/dev/zero of=mount/fill bs=4k 2>/dev/null || true; code=0; $ONEFOLD scan a.jsonl --out mount/out || code=$?; ls -A mount; exit $code";
    let Some(program) = with_mounts(place.path(), script) else { return };
    assert_eq!(program.run().exits(5).stdout, "fill\n", "left behind");
}

#[test]
fn a_disk_without_inodes_keeps_no_trace() {
    let place = large();
    for inodes in 2..9 {
        let script = format!(
            "mount -t tmpfs -o nr_inodes={inodes} tmpfs mount; code=0; $ONEFOLD scan a.jsonl --out mount/out || code=$?; ls -A mount; exit $code"
        );
        let Some(program) = with_mounts(place.path(), &script) else { return };
        assert_eq!(program.run().exits(5).stdout, "", "left behind with {inodes} inodes");
    }
}

#[test]
fn a_full_disk_costs_no_former_result() {
    let place = large();
    place.write("small.jsonl", row("a", &text("a", 40)));
    let script = "mount -t tmpfs -o size=64k tmpfs mount; $ONEFOLD scan small.jsonl --out mount/out --quiet; cp -r mount/out before; \
                  code=0; $ONEFOLD scan a.jsonl --out mount/out --overwrite || code=$?; diff -r before mount/out; exit $code";
    let Some(program) = with_mounts(place.path(), script) else { return };
    assert_eq!(program.run().exits(5).stdout, "");
}

/// S8: the signal must not be what ends the run.
#[test]
fn s8_a_limit_on_file_size_is_exit_5() {
    let place = large();
    let ran = shell(place.path(), "ulimit -f 4; $ONEFOLD scan a.jsonl --out out; exit $?").run().exits(5);
    assert_eq!(place.listing(""), set(["a.jsonl", "mount"]), "left behind");
    ran.says(&["File too large"]);
}

#[test]
fn an_exclude_list_that_cannot_be_written_publishes_nothing() {
    let place = Place::with_documents();
    place.scan("in --exclude-list missing/list").exits(5).says(&["missing/", "No such file"]);
    assert!(!place.at("out").exists());
}
