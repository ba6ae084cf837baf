//! I11, S2, S7, S10: a run that was killed goes on, and ends with the bytes of one that was not.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::machine::{shared, tool, with_mounts};
use crate::place::{Place, row, text};
use crate::program::Running;

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Real documents in several files of several kinds, or nothing where there are none.
fn with_collection() -> Option<Place> {
    let place = Place::new();
    for (name, to) in [("debdocs_slice", "in/a.jsonl"), ("webis_s3_terabyte", "in/b.jsonl")] {
        let rows = fs::read(shared(&format!("{name}/docs.jsonl"))?).unwrap();
        place.write(to, rows);
    }
    tool(&["gzip", "in/b.jsonl"], place.path());
    for n in 0..200 {
        place.write(&format!("in/texts/{n}.txt"), text(&format!("t{}x", n / 2), 60));
    }
    Some(place)
}

const SCAN: [&str; 6] = ["scan", "in", "--no-report", "--quiet", "--threads", "2"];

#[test]
fn s10_killed_at_fifty_moments_and_resumed_each_time() {
    killed_and_resumed(&[], 50);
}

/// Words are counted again by every run, and kept with what was read.
#[test]
fn words_that_were_counted_and_kept_do_not_stand_in_the_way() {
    killed_and_resumed(&["--min-idf", "2", "--verify", "edit"], 12);
}

fn killed_and_resumed(settings: &[&str], most_kills: u32) {
    let Some(place) = with_collection() else { return };
    let scan = [&SCAN[..], settings].concat();
    place.onefold(&scan).args(["--out", "whole"]).run().exits(0);
    let expected = place.found("whole");
    let began = Instant::now();
    place.onefold(&scan).args(["--out", "timed", "--resume", "--memory", "96MiB"]).run().exits(0);
    assert!(place.found("timed") == expected, "on disk");
    let longest = began.elapsed().as_millis() as u64;
    let (mut random, mut kills, mut ends, mut left_work) = (Random(11), 0, 0, 0);
    while kills < most_kills {
        let out = format!("out-{ends}");
        let mut running = place.onefold(&scan).args(["--out", &out, "--resume", "--memory", "96MiB"]).open();
        thread::sleep(Duration::from_millis(random.below(longest)));
        running.signal_if_running("KILL");
        let ran = running.wait();
        if ran.code == 137 {
            kills += 1;
            left_work += u32::from(place.at(format!("{out}/.work/journal.json")).exists());
            continue;
        }
        // The one before may have died when all was done but the cleaning.
        assert!(ran.code == 0 || ran.stderr.contains("already holds a result"), "{}", ran.stderr);
        assert!(place.found(&out) == expected, "after {kills} kills");
        assert_eq!(place.listing(&out).len(), 5, "left behind: {:?}", place.listing(&out));
        ends += 1;
    }
    assert!(left_work > most_kills / 5, "only {left_work} kills left work");
}

/// Killed while it put its parts in place: all are there but the manifest.
#[test]
fn what_was_half_published_is_made_again() {
    let place = Place::with_documents();
    let scan = ["scan", "in", "--out", "out", "--quiet"];
    place.onefold(scan).run().exits(0);
    let expected = place.found("out");
    let unpublish = || {
        fs::create_dir(place.at("out/.run-999999")).unwrap();
        fs::rename(place.at("out/run.json"), place.at("out/.run-999999/run.json")).unwrap();
    };
    unpublish();
    place.onefold(scan).args(["--resume"]).run().exits(0);
    assert!(place.found("out") == expected);
    unpublish();
    place.write("out/notes.txt", "mine");
    place.onefold(scan).run().exits(2).says(&["is not a result folder"]);
    assert!(place.at("out/notes.txt").exists() && place.at("out/documents.parquet").exists(), "nothing is touched");
}

/// Stops a run by Ctrl-C when it has read everything but a pipe that never ends.
fn interrupted(place: &Place, more: &[&str]) {
    tool(&["mkfifo", "pipe"], place.path());
    let writer = fs::File::options().read(true).write(true).open(place.at("pipe")).unwrap();
    let mut running: Running = place.onefold(SCAN).args(["pipe", "--out", "out"]).args(more).open();
    let began = Instant::now();
    // Long enough for everything else; at worst less of it is kept.
    while began.elapsed() < Duration::from_secs(3) && running.is_running() {
        thread::sleep(Duration::from_millis(20));
    }
    running.signal("INT");
    running.wait().exits(130).says(&["interrupted", "nothing was published", "--resume"]);
    drop(writer);
    // The same command, with a pipe that ends.
    fs::remove_file(place.at("pipe")).unwrap();
    place.write("rows", row("last", &text("last", 40)));
}

/// The same command again, with something in the pipe.
fn again(place: &Place, more: &str) -> crate::program::Ran {
    if !place.at("pipe").exists() {
        tool(&["mkfifo", "pipe"], place.path());
    }
    let script = format!("cat rows > pipe & {} {} pipe --out out {more}", crate::program::ONEFOLD, SCAN.join(" "));
    crate::machine::shell(place.path(), &format!("{script}; code=$?; kill %1 2>/dev/null; exit $code")).run()
}

#[test]
fn an_interrupted_run_leaves_its_work_and_nobody_loses_it() {
    let Some(place) = with_collection() else { return };
    place.write("rows", row("last", &text("last", 40)));
    interrupted(&place, &[]);
    again(&place, "").exits(2).says(&["E0209", "out/.work", "--resume", "--overwrite"]);
    again(&place, "--resume --threshold 0.9").exits(2).says(&["E0210", "settings"]);
    again(&place, "--resume missing").exits(2).says(&["E0202", "missing"]);
    again(&place, "--resume --max-pairs 1").exits(2).says(&["E0210", "settings"]);
    let texts = place.at("in/texts/0.txt");
    let before = fs::metadata(&texts).unwrap().modified().unwrap();
    place.write("in/texts/0.txt", text("changed", 60));
    again(&place, "--resume").exits(2).says(&["E0210", "inputs"]);
    place.write("in/texts/0.txt", text("t0x", 60));
    fs::File::options().write(true).open(&texts).unwrap().set_modified(before).unwrap();
    again(&place, "--resume").exits(0);
    let resumed = place.found("out");
    fs::remove_dir_all(place.at("out")).unwrap();
    again(&place, "").exits(0);
    assert!(place.found("out") == resumed);
}

#[test]
fn s7_damaged_work_is_done_again_and_nothing_else() {
    let Some(place) = with_collection() else { return };
    interrupted(&place, &["--resume"]);
    let batches = place.at("out/.work/batches");
    let (sound, journal) = (fs::read(&batches).unwrap(), fs::read(place.at("out/.work/journal.json")).unwrap());
    assert!(sound.len() > 8 << 20, "{} bytes", sound.len());
    let mut expected: Option<BTreeMap<String, Vec<u8>>> = None;
    let mut random = Random(3);
    type Damage<'a> = &'a mut dyn FnMut(&mut Vec<u8>);
    let damages: [Damage<'_>; 6] = [
        &mut |_| (),
        &mut |bytes| (0..8).for_each(|_| bytes[random.below(sound.len() as u64) as usize] ^= 0x10),
        &mut |bytes| bytes.iter_mut().step_by(512 << 10).for_each(|byte| *byte ^= 1),
        &mut |bytes| bytes.truncate(sound.len() / 3),
        &mut |bytes| bytes[..1 << 20].fill(0),
        &mut |bytes| bytes.clear(),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let _ = fs::remove_dir_all(place.at("out"));
        let mut bytes = sound.clone();
        damage(&mut bytes);
        place.write("out/.work/journal.json", &journal);
        place.write("out/.work/batches", bytes);
        again(&place, "--resume").exits(0);
        let found = place.found("out");
        assert!(*expected.get_or_insert_with(|| found.clone()) == found, "damage {number}");
    }
    let _ = fs::remove_dir_all(place.at("out"));
    let older = String::from_utf8(journal).unwrap().replace("\"spill_version\":1", "\"spill_version\":0");
    place.write("out/.work/journal.json", older);
    again(&place, "--resume").exits(2).says(&["E0210", "version"]);
}

#[test]
fn s2_a_result_that_found_no_room_is_written_later() {
    let Some(place) = with_collection() else { return };
    place.onefold(SCAN).args(["--out", "whole"]).run().exits(0);
    fs::create_dir(place.at("mount")).unwrap();
    fs::create_dir(place.at("temp")).unwrap();
    let scan = format!("$ONEFOLD {} --out mount/out --temp-dir temp --memory 96MiB --resume", SCAN.join(" "));
    let script = format!(
        "mount -t tmpfs -o size=64k tmpfs mount; code=0; {scan} || code=$?; test $code = 5; ls mount/out | wc -l; ls temp; \
         mount -o remount,size=64m mount; {scan}; ls -A temp mount/out; cp -r mount/out copy"
    );
    let Some(program) = with_mounts(place.path(), &script) else { return };
    let ran = program.run().exits(0);
    assert!(ran.stderr.contains("--resume") && ran.stderr.contains("No space left"), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("0\nonefold-"), "{}", ran.stdout);
    assert!(!ran.stdout.contains(".work") && ran.stdout.matches("onefold-").count() == 1, "{}", ran.stdout);
    assert!(place.found("copy") == place.found("whole"));
}

#[test]
fn a_folder_for_the_work_must_be_there() {
    let place = Place::with_documents();
    place.scan("in --temp-dir missing").exits(2).says(&["--temp-dir", "missing"]);
    let _: PathBuf = place.write("file", "");
    place.scan("in --temp-dir file").exits(2).says(&["--temp-dir"]);
}
